/** A refusal on the wire: status, challenge (RFC 6750 §3, RFC 9449 §7.1) and problem+json (RFC 9457) with outcome, code, boundary. */
import type { GuardBoundary, Refusal } from '#ports/guard.ts';
import { REFUSAL_CODES } from './refusal-code.ts';

interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly outcome: Refusal['outcome'];
  readonly code: string;
  readonly boundary: GuardBoundary;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ProblemBody;
}

const TITLES: Readonly<Record<number, string>> = {
  401: 'A valid lease and proof are required',
  403: 'The lease does not cover this request',
  409: 'The lease has been used',
  422: 'The content is quarantined',
  503: 'The request cannot be decided now',
};
const RETRY_AFTER_S = '1';

/**
 * The same shape for every refusal. The guard step's name stays inside: who is refused learns the code, not the mechanism. `retry` is
 * always 503 with Retry-After; `quarantine` 422; a missing lease gets a bare challenge (RFC 6750 §3.1).
 */
export function httpAnswer(refusal: Refusal): HttpAnswer {
  const { outcome, code, boundary, message: detail } = refusal;
  const known = Object.entries(REFUSAL_CODES).find(([name]) => name === code)?.[1];
  const status = statusOf(outcome, known?.status);
  const headers: Record<string, string> = {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    ...(status === 401 || status === 403 ? { 'www-authenticate': challenge(known?.error) } : {}),
    ...(status === 503 ? { 'retry-after': RETRY_AFTER_S } : {}),
  };
  const title = TITLES[status] ?? 'The request is refused';
  const problem: ProblemBody = {
    type: `urn:caseops:problem:${code}`,
    title,
    status,
    detail,
    outcome,
    code,
    boundary,
  };
  return { status, headers, body: problem };
}

/** The same with its body as JSON text, for a server that writes bytes. */
export function httpAnswerText(refusal: Refusal): Pick<HttpAnswer, 'status' | 'headers'> & { readonly body: string } {
  const { status, headers, body } = httpAnswer(refusal);
  return { status, headers, body: JSON.stringify(body) };
}

function statusOf(outcome: Refusal['outcome'], known: number | undefined): number {
  switch (outcome) {
    case 'retry':
      return 503;
    case 'quarantine':
      return 422;
    case 'request_input':
      return 401;
    case 'deny':
    case 'unknown':
      return known ?? 403;
  }
}

function challenge(error: string | undefined): string {
  return error === undefined ? 'DPoP algs="ES256"' : `DPoP error="${error}", algs="ES256"`;
}
