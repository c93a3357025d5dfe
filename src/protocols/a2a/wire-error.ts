/**
 * How an error looks on the two bindings, in one table, and how a client reads it back. Every error carries our code as ErrorInfo
 * metadata; text of exceptions never goes out. Source: A2A 1.0.1 §5.4, §11.6; CONTRACTS "Error".
 */
import {
  A2AError,
  JsonRpcRequestMalformedError,
  JsonRpcUnsupportedOperationError,
  RestRequestMalformedError,
  RestUnsupportedOperationError,
  restStatusFor,
  toJsonRpcError,
  toRestErrorBody,
} from '@a2a-js/sdk/errors';
import { z } from 'zod';
import { CaseOpsError, ERROR_CODES, errorCode, type ErrorKind, type ErrorRecord } from '#contracts/error.ts';

export type Binding = 'HTTP+JSON' | 'JSONRPC';

/** A whole HTTP answer. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** HTTP status by what the caller does next. JSON-RPC says -32602 for the first two, -32603 for 500, and -32004 for the others. */
export const STATUS_OF_KIND = {
  usage: 400,
  contract: 400,
  denied: 403,
  conflict: 409,
  limit: 429,
  unavailable: 503,
  unknown_effect: 500,
  cancelled: 409,
  invariant: 500,
} as const satisfies Record<ErrorKind, number>;

/** Our own error in A2A's form for a binding. */
export function wireErrorOf(failed: ErrorRecord, binding: Binding): A2AError {
  const options = { message: failed.message, metadata: metadataOf(failed) };
  const status = STATUS_OF_KIND[failed.kind];
  if (status === 500) return new A2AError({ message: 'Internal error.', metadata: { code: failed.code } });
  if (status === 400)
    return binding === 'HTTP+JSON' ? new RestRequestMalformedError(options) : new JsonRpcRequestMalformedError(options);
  return binding === 'HTTP+JSON'
    ? new RestUnsupportedOperationError({ ...options, statusCode: status })
    : new JsonRpcUnsupportedOperationError(options);
}

/** What may leave the process: A2A errors as they are, ours by the table, all else without its text. */
export function maskError(error: unknown, binding: Binding): A2AError {
  if (error instanceof A2AError) return error;
  if (error instanceof CaseOpsError) {
    const { code, kind, message, at, retryable } = error;
    return wireErrorOf({ code, kind, message, at, retryable }, binding);
  }
  return new A2AError({ message: 'Internal error.' });
}

/** An answer outside the SDK. `rpcId` is the request's id, or null when it could not be read. */
export function answerOf(
  error: Error,
  binding: Binding,
  options: { readonly rpcId?: string | number | null; readonly status?: number } = {},
): HttpAnswer {
  if (binding === 'JSONRPC') {
    const body = JSON.stringify({ jsonrpc: '2.0', id: options.rpcId ?? null, error: toJsonRpcError(error) });
    return { status: options.status ?? 200, headers: { 'content-type': 'application/json' }, body };
  }
  const status = options.status ?? restStatusFor(error);
  return {
    status,
    headers: { 'content-type': 'application/a2a+json' },
    body: JSON.stringify(toRestErrorBody(error, status)),
  };
}

const errorInfo = z.looseObject({
  reason: z.string().max(128).optional(),
  metadata: z.record(z.string(), z.string()).optional(),
});
const details = z.array(errorInfo).max(16).catch([]);
/** REST: google.rpc.Status under `error`; JSON-RPC: the envelope's `error`; a guard's refusal: problem+json. */
const answer = z.looseObject({
  error: z
    .looseObject({ code: z.number().optional(), message: z.string().optional(), details, data: details })
    .optional()
    .catch(undefined),
  outcome: z.string().max(32).optional().catch(undefined),
  code: z.string().max(64).optional().catch(undefined),
  boundary: z.string().max(64).optional().catch(undefined),
});

/**
 * Reads an error answer into our record. A code of ours is taken from the metadata; a guard's refusal and any other 401 or 403 is
 * ERR_DENIED (retryable when the guard says `retry`); what cannot be told apart is a failure of the team, retryable only when the
 * status says so (429, 502, 503, 504).
 */
export function readWireError(status: number, body: unknown, at: string): ErrorRecord {
  const read = answer.safeParse(body);
  const found = read.success ? read.data : {};
  const info = [...(found.error?.details ?? []), ...(found.error?.data ?? [])].find(
    (item) => item.reason !== undefined,
  );
  const named = errorCode.safeParse(info?.metadata?.['code']);
  const said = {
    httpStatus: status,
    ...(info?.reason === undefined ? {} : { reason: info.reason }),
    ...(found.error?.code === undefined ? {} : { wireCode: found.error.code }),
  };
  if (named.success && found.outcome === undefined) {
    const retryable = info?.metadata?.['retryable'] === 'true';
    const message = `The team answered ${named.data}: ${(found.error?.message ?? 'without a reason').slice(0, 500)}`;
    return { ...recordOf(named.data, message, at), retryable, detail: said };
  }
  if (status === 401 || status === 403 || found.outcome !== undefined) {
    const code = found.code ?? 'denied';
    const boundary = found.boundary ?? 'a2a';
    const message = `The team refused the request at its boundary ${boundary}: ${code}.`;
    const retryable = found.outcome === 'retry';
    return { ...recordOf('ERR_DENIED', message, at), retryable, detail: { ...said, code, boundary } };
  }
  const code = info?.reason === 'TASK_NOT_FOUND' ? 'ERR_NOT_FOUND' : 'ERR_TEAM_FAILED';
  const message = `The team answered with status ${status} (${info?.reason ?? 'no reason'}).`;
  return { ...recordOf(code, message, at), retryable: [429, 502, 503, 504].includes(status), detail: said };
}

/** The error form of a record, with its own word on retrying. */
export function thrown(record: ErrorRecord): CaseOpsError {
  const { code, message, at, retryable, detail } = record;
  return new CaseOpsError(code, message, { at, retryable, ...(detail === undefined ? {} : { detail }) });
}

function recordOf(code: keyof typeof ERROR_CODES, message: string, at: string): ErrorRecord {
  const kind = ERROR_CODES[code];
  return { code, kind, message, at, retryable: kind === 'unavailable' };
}

function metadataOf(of: ErrorRecord): Record<string, string> {
  return { code: of.code, kind: of.kind, boundary: of.at, retryable: String(of.retryable) };
}
