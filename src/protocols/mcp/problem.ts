/** Answers given before the SDK sees a request: problem+json (RFC 9457) with code and boundary, or a JSON-RPC error. */
import type { ErrorCode } from '#contracts/error.ts';
import type { Refusal } from '#ports/guard.ts';

/** How a refusal of the guard is said over HTTP. Made by authority, which owns the status, the challenge and the words. */
export interface RefusalAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body: object;
}

export type AnswerRefusal = (refusal: Refusal) => RefusalAnswer;

export interface Problem {
  readonly status: number;
  readonly code: ErrorCode;
  /** A sentence: what was expected, what came. No payload. */
  readonly detail: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A fault of the request that is not the guard's to judge: size, method, media type, JSON. */
export function problemResponse(problem: Problem): Response {
  const { status, code, detail } = problem;
  return new Response(JSON.stringify({ type: 'about:blank', status, outcome: 'deny', code, boundary: 'mcp', detail }), {
    status,
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store', ...problem.headers },
  });
}

/** A JSON-RPC error with the status that MCP gives it. */
export function rpcErrorResponse(
  status: number,
  error: { readonly code: number; readonly message: string; readonly id: string | number | null },
): Response {
  const { code, message, id } = error;
  return Response.json({ jsonrpc: '2.0', id, error: { code, message } }, { status });
}

/** The guard's refusal as an HTTP response. */
export function refusalResponse(answer: RefusalAnswer): Response {
  return new Response(JSON.stringify(answer.body), { status: answer.status, headers: { ...answer.headers } });
}
