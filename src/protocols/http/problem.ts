/** RFC 9457 problem documents: the one map from an error to a status, and the one shape of a refusal. Pinned by a test. */
import {
  CaseOpsError,
  ERROR_CODES,
  toErrorRecord,
  type ErrorCode,
  type ErrorKind,
  type ErrorRecord,
} from '#contracts/error.ts';

const STATUS_BY_KIND: Readonly<Record<ErrorKind, number>> = {
  usage: 400,
  contract: 422,
  denied: 403,
  conflict: 409,
  limit: 429,
  unavailable: 503,
  unknown_effect: 502,
  cancelled: 409,
  invariant: 500,
};

const STATUS_BY_CODE: Partial<Record<ErrorCode, number>> = {
  ERR_NOT_FOUND: 404,
  ERR_APPROVAL_DIGEST: 412,
  ERR_PRECONDITION_REQUIRED: 428,
  ERR_UNAUTHENTICATED: 401,
  ERR_JSON_SIZE: 413,
  ERR_GOAL_TOO_LARGE: 413,
  ERR_JSON_SYNTAX: 400,
  ERR_JSON_DUPLICATE_NAME: 400,
  ERR_JSON_DEPTH: 400,
  ERR_JSON_NUMBER: 400,
  ERR_JSON_UNICODE: 400,
};

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: ErrorCode;
  readonly at: string;
  readonly errors: readonly { readonly pointer: string; readonly detail: string }[];
  readonly retryable: boolean;
}

export function statusOf(code: ErrorCode): number {
  return STATUS_BY_CODE[code] ?? STATUS_BY_KIND[ERROR_CODES[code]];
}

/** Any failure as a problem document; text of unexpected exceptions does not get out. */
export function problemOf(error: unknown, instance: string): Problem {
  const record = toErrorRecord(error, { code: 'ERR_INVARIANT', at: 'http' });
  return {
    type: `urn:caseops:problem:${record.code}`,
    title: record.code,
    status: statusOf(record.code),
    detail: record.message,
    instance,
    code: record.code,
    at: record.at,
    errors: issuesOf(record),
    retryable: record.retryable,
  };
}

export function problemResponse(error: unknown, instance: string): Response {
  const problem = problemOf(error, instance);
  const headers: Record<string, string> = { 'content-type': 'application/problem+json', 'cache-control': 'no-store' };
  if (problem.status === 401) headers['www-authenticate'] = 'Bearer realm="caseops"';
  if (problem.status === 503 || problem.status === 429) headers['retry-after'] = String(retryAfterS(error));
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
}

/** What the refusal itself says, in whole seconds, or soon. */
function retryAfterS(error: unknown): number {
  const ms = error instanceof CaseOpsError ? error.detail['retryAfterMs'] : undefined;
  return typeof ms === 'number' ? Math.max(1, Math.ceil(ms / 1_000)) : 1;
}

export function notFound(what: string): CaseOpsError {
  return new CaseOpsError('ERR_NOT_FOUND', `${what} does not exist, or you may not see it.`, { at: 'http' });
}

function issuesOf(record: ErrorRecord): Problem['errors'] {
  const issues = record.detail?.['issues'];
  if (!Array.isArray(issues)) return [];
  return issues.flatMap((issue) => {
    if (typeof issue !== 'object' || issue === null || Array.isArray(issue)) return [];
    const { pointer, message } = issue;
    return typeof pointer === 'string' && typeof message === 'string' ? [{ pointer, detail: message }] : [];
  });
}
