/** What went wrong, as data: one code union, one kind that says what the caller does next. Source: CONTRACTS "Error". */
import { z } from 'zod';

/** What the caller does next. */
export const errorKind = z.enum([
  'usage',
  'contract',
  'denied',
  'conflict',
  'limit',
  'unavailable',
  'unknown_effect',
  'cancelled',
  'invariant',
]);
export type ErrorKind = z.infer<typeof errorKind>;

/** Every code the product may say, with its kind. Adding one is a minor version; removing one is major. */
export const ERROR_CODES = {
  // usage
  ERR_USAGE: 'usage',
  ERR_PRECONDITION_REQUIRED: 'usage',
  ERR_CONFIG: 'usage',
  ERR_NOT_FOUND: 'usage',
  ERR_GOAL_UNCLEAR: 'usage',
  /** A worker must be told something by a person; `detail.wants` names the input. */
  ERR_STEP_BLOCKED: 'usage',
  ERR_GOAL_TEXT: 'usage',
  ERR_GOAL_TOO_LARGE: 'limit',
  // contract
  ERR_JSON_SYNTAX: 'contract',
  ERR_JSON_DUPLICATE_NAME: 'contract',
  ERR_JSON_DEPTH: 'limit',
  ERR_JSON_NUMBER: 'contract',
  ERR_JSON_UNICODE: 'contract',
  ERR_JSON_SIZE: 'limit',
  ERR_SCHEMA: 'contract',
  ERR_GOAL_CONTRACT: 'contract',
  ERR_PLAN_REFUSED: 'contract',
  ERR_PROHIBITION_LOST: 'contract',
  ERR_INPUT_UNMAPPED: 'contract',
  ERR_TOOL_OUTPUT_SCHEMA: 'contract',
  ERR_TOOL_OUTPUT_TENANT: 'denied',
  ERR_TOOL_OUTPUT_VERSION: 'contract',
  ERR_TOOL_OUTPUT_RESOURCE: 'contract',
  ERR_TOOL_CONTRACT_DRIFT: 'contract',
  ERR_TOOL_RESULT_TYPE: 'contract',
  ERR_TOOL_FAILED: 'unavailable',
  ERR_TOOL_THROTTLED: 'unavailable',
  ERR_TOOL_UNKNOWN_OUTCOME: 'unknown_effect',
  ERR_ARTIFACT_SCHEMA: 'contract',
  ERR_ARTIFACT_BINDING: 'contract',
  ERR_ARTIFACT_DIGEST: 'contract',
  ERR_ARTIFACT_PRODUCER: 'contract',
  ERR_ARTIFACT_MEDIA: 'contract',
  ERR_ARTIFACT_SIZE: 'limit',
  ERR_ARTIFACT_EVIDENCE: 'contract',
  ERR_ARTIFACT_MISSING: 'contract',
  /** The findings of several branches are not the exact set that was asked for, or not all passed. */
  ERR_FINDINGS: 'contract',
  ERR_RESULT_CONFLICT: 'conflict',
  ERR_RESULT_FIELD_NOT_OWNED: 'contract',
  ERR_CLAIM_NO_EVIDENCE: 'contract',
  ERR_CLAIM_UNKNOWN_EVIDENCE: 'contract',
  ERR_CLAIM_FOREIGN_TENANT: 'denied',
  ERR_CLAIM_FOREIGN_TASK: 'contract',
  ERR_CLAIM_POINTER: 'contract',
  ERR_CLAIM_FREE_FACT: 'contract',
  ERR_CLAIM_PROOF: 'contract',
  ERR_EFFECT_PARAMETERS: 'contract',
  ERR_EFFECT_POSTCONDITION: 'contract',
  // denied
  ERR_APPROVER: 'denied',
  ERR_APPROVAL_REJECTED: 'denied',
  ERR_APPROVAL_EXPIRED: 'denied',
  ERR_APPROVAL_WITHDRAWN: 'denied',
  ERR_EFFECT_REFUSED: 'denied',
  ERR_UNAUTHENTICATED: 'denied',
  ERR_DENIED: 'denied',
  ERR_LEASE: 'denied',
  ERR_LEASE_CONSUMED: 'conflict',
  ERR_POLICY: 'denied',
  // conflict
  ERR_IDEMPOTENCY_KEY_REUSED: 'conflict',
  ERR_SEQUENCE: 'conflict',
  ERR_FENCE: 'conflict',
  ERR_STATE: 'conflict',
  /** What a run was planned with is not offered any more; `detail.moved` names it. */
  ERR_CONTRACT_MOVED: 'conflict',
  ERR_APPROVAL_STATE: 'conflict',
  ERR_APPROVAL_DIGEST: 'conflict',
  ERR_APPROVAL_STALE: 'conflict',
  ERR_EFFECT_PRECONDITION: 'conflict',
  ERR_EFFECT_LOCKED: 'conflict',
  // limit
  ERR_BUDGET: 'limit',
  /** The tenant's quota of the day has less left; `detail` says how much. */
  ERR_QUOTA: 'limit',
  ERR_DEADLINE: 'limit',
  ERR_ATTEMPTS: 'limit',
  ERR_QUEUE_FULL: 'limit',
  ERR_RATE_LIMITED: 'limit',
  // unavailable
  ERR_TEAM_UNREACHABLE: 'unavailable',
  ERR_TEAM_FAILED: 'unavailable',
  ERR_ARTIFACT_INCOMPLETE: 'unavailable',
  ERR_ISSUER_UNREACHABLE: 'unavailable',
  ERR_STORE: 'unavailable',
  ERR_SERVER_UNREACHABLE: 'unavailable',
  ERR_MODEL: 'unavailable',
  ERR_EFFECT_TARGET: 'unavailable',
  // unknown_effect
  ERR_EFFECT_UNKNOWN: 'unknown_effect',
  // cancelled
  ERR_CANCELLED: 'cancelled',
  // invariant
  ERR_INVARIANT: 'invariant',
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERROR_CODES;
export const errorCode = z.enum(Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]]);

/** A failure as it is recorded and sent. `message` is a sentence: what was expected, what came, which id; never a secret. */
export const errorRecord = z.strictObject({
  code: errorCode,
  kind: errorKind,
  message: z.string().max(2_000),
  /** The room or boundary that said so: `kernel`, `a2a`, `mcp`, `worker`, `issuer`. */
  at: z.string().max(64),
  retryable: z.boolean(),
  detail: z.record(z.string(), z.json()).optional(),
});
export type ErrorRecord = z.infer<typeof errorRecord>;

/** A thrown failure. Only `createError` and `toErrorRecord` build or read one. */
export class CaseOpsError extends Error {
  override readonly name = 'CaseOpsError';
  readonly code: ErrorCode;
  readonly kind: ErrorKind;
  readonly at: string;
  readonly retryable: boolean;
  readonly detail: Readonly<Record<string, z.core.util.JSONType>>;
  constructor(
    code: ErrorCode,
    message: string,
    options: {
      readonly at: string;
      readonly detail?: Readonly<Record<string, z.core.util.JSONType>>;
      readonly retryable?: boolean;
      readonly cause?: unknown;
    },
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.kind = ERROR_CODES[code];
    this.at = options.at;
    this.retryable = options.retryable ?? this.kind === 'unavailable';
    this.detail = options.detail ?? {};
  }
}

/** The record of a thrown failure; anything that is not a CaseOpsError becomes `fallback` without its text (no leaks). */
export function toErrorRecord(
  error: unknown,
  fallback: { readonly code: ErrorCode; readonly at: string },
): ErrorRecord {
  if (error instanceof CaseOpsError) {
    const { code, kind, message, at, retryable, detail } = error;
    return { code, kind, message, at, retryable, detail: { ...detail } };
  }
  const kind = ERROR_CODES[fallback.code];
  return {
    code: fallback.code,
    kind,
    message: `An unexpected failure at ${fallback.at}: ${error instanceof Error ? error.name : typeof error}.`,
    at: fallback.at,
    retryable: kind === 'unavailable',
  };
}
