/**
 * The client's own `fetch`: swaps the call handle for the lease and a proof over the exact body bytes, and judges an HTTP answer that
 * is not MCP's before the SDK blurs it. A request without a handle never leaves. Source: SEAMS §1 "Client headers".
 */
import { parseStrictJson } from '#kernel/strict-json.ts';
import type { FetchLike } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { readBounded } from './body.ts';
import { CALL_HEADER, type LeasedCall } from './link.ts';
import { CallFailure, httpOutcome, type ToolFailure } from './outcome-map.ts';

export interface LeasedFetchOptions {
  readonly calls: ReadonlyMap<string, LeasedCall>;
  /** The server's URL as configured: where requests go, and the target that proofs name. */
  readonly target: string;
  readonly fetch: FetchLike;
  readonly answerBytesMax: number;
}

/** Throws CallFailure, which reaches the caller of the SDK unchanged. Redirects are not followed: a lease is for one audience. */
export function createLeasedFetch(options: LeasedFetchOptions): FetchLike {
  const { calls, target } = options;
  return async (url, init) => {
    const headers = new Headers(init?.headers);
    const handle = headers.get(CALL_HEADER);
    headers.delete(CALL_HEADER);
    const call = handle === null ? undefined : calls.get(handle);
    const body = init?.body;
    if (!call || typeof body !== 'string' || String(url) !== target) throw new CallFailure(NOT_LEASED);
    const method = init?.method ?? 'POST';
    headers.set('authorization', `DPoP ${call.lease.token}`);
    headers.set('dpop', call.lease.prove(method, target, body));
    if (call.lease.traceparent !== undefined) headers.set('traceparent', call.lease.traceparent);
    call.sent = true;
    const response = await options.fetch(target, { ...init, method, headers, body, redirect: 'manual' });
    return response.ok
      ? checkedAnswer(response, { bytesMax: options.answerBytesMax, sent: body })
      : judged(response, options.answerBytesMax);
  };
}

const NOT_LEASED: ToolFailure = {
  outcome: 'refused',
  code: 'no_lease',
  boundary: 'mcp',
  message: 'No lease is bound to this request, so it was not sent.',
};

/** A JSON answer is read whole, within the bound, and strictly; a stream is handed on as it is. */
async function checkedAnswer(
  response: Response,
  { bytesMax, sent }: { readonly bytesMax: number; readonly sent: string },
): Promise<Response> {
  if (!isJson(response)) return response;
  const bytes = await readBounded(response.body, bytesMax);
  if (!bytes) throw broken(`The answer is larger than ${bytesMax} bytes.`);
  const parsed = parseStrictJson(bytes, { bytesMax });
  if (!parsed.ok) throw broken(parsed.error.message);
  const fault = envelopeFault(parsed.value, sent);
  if (fault !== undefined) throw broken(fault);
  return rebuilt(response, bytes);
}

const answered = z.object({ jsonrpc: z.literal('2.0'), id: z.union([z.string(), z.int()]) });
const envelope = z.union([
  z.strictObject({ ...answered.shape, result: z.looseObject({}) }),
  z.strictObject({ ...answered.shape, error: z.looseObject({ code: z.int(), message: z.string() }) }),
]);

/** An answer that is none to what was sent would be waited for until the deadline: it is said at once. */
function envelopeFault(answer: unknown, sent: string): string | undefined {
  const read = envelope.safeParse(answer);
  if (!read.success)
    return 'Expected one JSON-RPC 2.0 response with an id and a result or an error; the answer is none.';
  const asked = answered.shape.id.safeParse((JSON.parse(sent) as { readonly id?: unknown }).id);
  if (!asked.success || asked.data === read.data.id) return undefined;
  return `Expected the response to request ${asked.data} at /id, got ${String(read.data.id).slice(0, 80)}.`;
}

/** A JSON-RPC error with status 400 is MCP's own and goes on to the SDK; the rest is judged here. */
async function judged(response: Response, bytesMax: number): Promise<Response> {
  const bytes = await readBounded(response.body, bytesMax);
  if (response.status === 400 && isJson(response) && bytes) return rebuilt(response, bytes);
  throw new CallFailure(failureOfStatus(response, bytes ?? new Uint8Array()));
}

const problem = z.looseObject({
  outcome: z.string().max(32).optional(),
  code: z.string().max(128),
  boundary: z.string().max(64).optional(),
  detail: z.string().max(1_000).optional(),
});

function failureOfStatus(response: Response, bytes: Uint8Array): ToolFailure {
  const { status } = response;
  const parsed = parseStrictJson(bytes);
  const said = parsed.ok ? problem.safeParse(parsed.value).data : undefined;
  const message = said?.detail ?? `The server answered ${status} without saying why.`;
  const seconds = z.coerce
    .number()
    .int()
    .min(0)
    .max(86_400)
    .safeParse(response.headers.get('retry-after') ?? undefined);
  const mapped = httpOutcome(status, seconds.success);
  switch (mapped.outcome) {
    case 'throttled':
      return { ...mapped, retryAfterMs: (seconds.data ?? 1) * 1_000 };
    case 'refused':
      return { ...mapped, code: said?.code ?? `http_${status}`, boundary: said?.boundary ?? 'http', message };
    case 'cancelled':
      return mapped;
    case 'contract_violation':
    case 'tool_error':
    case 'unknown_outcome':
      return { ...mapped, message };
  }
}

function broken(message: string): CallFailure {
  return new CallFailure({ outcome: 'contract_violation', code: 'ERR_TOOL_OUTPUT_SCHEMA', message });
}

function isJson(response: Response): boolean {
  return response.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}

function rebuilt(response: Response, bytes: Uint8Array<ArrayBuffer>): Response {
  return new Response(bytes, { status: response.status, headers: response.headers });
}
