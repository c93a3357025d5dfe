/**
 * The one table from what the SDK, JSON-RPC or HTTP says about a failed call to our outcomes; pinned by a test. The rule behind it:
 * `unknown_outcome` whenever the server may have acted and did not say so. Source: PROTOCOLS "Keep six outcomes apart", SEAMS §1.
 */
import type { ErrorCode } from '#contracts/error.ts';
import type { ToolFacts, ToolOutcome } from '#ports/tool-host.ts';
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { RPC_ERRORS } from './wire.ts';

type WithoutFacts<T> = T extends { readonly outcome: 'ok' } ? never : Omit<T, keyof ToolFacts>;
/** Every outcome but `ok`, without the facts of the call. */
export type ToolFailure = WithoutFacts<ToolOutcome>;

/** A failure that this room has already judged, thrown through the SDK, which hands an SdkError on unchanged. */
export class CallFailure extends SdkError {
  readonly failure: ToolFailure;
  constructor(failure: ToolFailure) {
    super(SdkErrorCode.SendFailed, failure.outcome);
    this.failure = failure;
  }
}

/** A result that breaks the pinned output schema, thrown by the SDK's own validation, which hands a ProtocolError on unchanged. */
export class OutputMismatch extends ProtocolError {
  constructor(message: string) {
    super(-32_602, message);
  }
}

export type MappedFailure =
  | {
      readonly outcome: 'contract_violation';
      readonly code: Extract<ToolFailure, { outcome: 'contract_violation' }>['code'];
    }
  | { readonly outcome: 'tool_error'; readonly code: ErrorCode }
  | { readonly outcome: 'cancelled'; readonly reason: 'deadline' }
  | { readonly outcome: 'refused' }
  | { readonly outcome: 'throttled' }
  | { readonly outcome: 'unknown_outcome' };

const SCHEMA = { outcome: 'contract_violation', code: 'ERR_TOOL_OUTPUT_SCHEMA' } as const;
const DRIFT = { outcome: 'contract_violation', code: 'ERR_TOOL_CONTRACT_DRIFT' } as const;
const RESULT_TYPE = { outcome: 'contract_violation', code: 'ERR_TOOL_RESULT_TYPE' } as const;
const NOT_SENT = { outcome: 'tool_error', code: 'ERR_SERVER_UNREACHABLE' } as const;
const FAILED = { outcome: 'tool_error', code: 'ERR_TOOL_FAILED' } as const;
const REFUSED = { outcome: 'refused' } as const;
const THROTTLED = { outcome: 'throttled' } as const;
const UNKNOWN = { outcome: 'unknown_outcome' } as const;

/** By SDK error code. Every code of the pinned SDK is here: a new one does not compile. */
export const SDK_OUTCOMES: Readonly<Record<`${SdkErrorCode}`, MappedFailure>> = {
  NOT_CONNECTED: NOT_SENT,
  ALREADY_CONNECTED: NOT_SENT,
  NOT_INITIALIZED: NOT_SENT,
  CAPABILITY_NOT_SUPPORTED: DRIFT,
  METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION: DRIFT,
  ERA_NEGOTIATION_FAILED: DRIFT,
  REQUEST_TIMEOUT: { outcome: 'cancelled', reason: 'deadline' },
  CONNECTION_CLOSED: UNKNOWN,
  SEND_FAILED: UNKNOWN,
  INVALID_RESULT: SCHEMA,
  UNSUPPORTED_RESULT_TYPE: RESULT_TYPE,
  INPUT_REQUIRED_ROUNDS_EXCEEDED: RESULT_TYPE,
  LIST_PAGINATION_EXCEEDED: DRIFT,
  CLIENT_HTTP_NOT_IMPLEMENTED: UNKNOWN,
  CLIENT_HTTP_AUTHENTICATION: REFUSED,
  CLIENT_HTTP_FORBIDDEN: REFUSED,
  CLIENT_HTTP_UNEXPECTED_CONTENT: SCHEMA,
  CLIENT_HTTP_FAILED_TO_OPEN_STREAM: UNKNOWN,
  CLIENT_HTTP_FAILED_TO_TERMINATE_SESSION: UNKNOWN,
};

/** By JSON-RPC error code: the server understood that it did not perform the call. Any other code: the tool failed. */
export const RPC_OUTCOMES: Readonly<Record<string, MappedFailure>> = {
  /** Also said locally when a result has no structured content. */
  '-32600': SCHEMA,
  '-32601': DRIFT,
  '-32602': DRIFT,
  '-32001': REFUSED,
  '-32020': DRIFT,
  '-32021': DRIFT,
  '-32022': DRIFT,
};
const otherRpc: MappedFailure = FAILED;

/** By HTTP status when the body is no JSON-RPC answer. A status not listed: 3xx and 4xx refused, the rest unknown. */
export const HTTP_OUTCOMES: Readonly<Record<string, MappedFailure>> = {
  '408': UNKNOWN,
  '425': THROTTLED,
  '429': THROTTLED,
};

/** The outcome of an HTTP status. A 5xx may have acted: unknown, unless it says when to come back (503 with Retry-After). */
export function httpOutcome(status: number, retryAfter: boolean): MappedFailure {
  if (status === 503 && retryAfter) return THROTTLED;
  return HTTP_OUTCOMES[status] ?? (status >= 300 && status < 500 ? REFUSED : UNKNOWN);
}

/** Judges what a call was rejected with. A raw TypeError is a transport death: nobody can tell whether the request arrived. */
export function failureOf(thrown: unknown): ToolFailure {
  if (thrown instanceof CallFailure) return thrown.failure;
  if (thrown instanceof OutputMismatch) return filled(SCHEMA, thrown.message);
  if (thrown instanceof SdkHttpError) return filled(httpOutcome(thrown.status, false), `HTTP ${thrown.status}.`);
  if (thrown instanceof SdkError)
    return filled(Object.hasOwn(SDK_OUTCOMES, thrown.code) ? SDK_OUTCOMES[thrown.code] : UNKNOWN, thrown.message);
  if (thrown instanceof ProtocolError)
    return refusedByMessage(thrown) ?? filled(RPC_OUTCOMES[thrown.code] ?? otherRpc, thrown.message);
  return filled(UNKNOWN, 'The connection failed, and the server may or may not have acted.');
}

const refusalData = z.looseObject({
  code: z.string().max(128),
  boundary: z.string().max(64),
  detail: z.string().max(1_000),
});

/** The guard's refusal on a transport that has no HTTP status. */
function refusedByMessage({ code, data }: ProtocolError): ToolFailure | undefined {
  const said = code === RPC_ERRORS.refused ? refusalData.safeParse(data).data : undefined;
  return said && { outcome: 'refused', code: said.code, boundary: said.boundary, message: said.detail };
}

const RETRY_AFTER_MS_DEFAULT = 1_000;

function filled(mapped: MappedFailure, text: string): ToolFailure {
  const message = text.slice(0, 500);
  switch (mapped.outcome) {
    case 'cancelled':
      return mapped;
    case 'throttled':
      return { ...mapped, retryAfterMs: RETRY_AFTER_MS_DEFAULT };
    case 'refused':
      return { ...mapped, code: 'refused', boundary: 'mcp', message };
    case 'contract_violation':
    case 'tool_error':
    case 'unknown_outcome':
      return { ...mapped, message };
  }
}
