/** A team's side of the exchange: asks the issuer for a narrower lease over HTTP. Source: LEASE "Minting"; RFC 8693. */
import { CaseOpsError } from '#contracts/error.ts';
import { LEASE_DETAIL_TYPE } from '#contracts/lease.ts';
import { exchangedToken, tokenError } from '#contracts/possession.ts';
import { parseStrictJson } from '#kernel/strict-json.ts';
import type { ExchangeRequest, HeldLease, LeaseExchange } from '#ports/issuer.ts';
import { makeClientAssertion } from './client-authentication.ts';
import { holdLease, makeProof, type Holder } from './possession.ts';
import { ASSERTION_TYPE_JWT, GRANT_TOKEN_EXCHANGE, TOKEN_TYPE_ACCESS } from './token-request.ts';

export interface LeaseExchangeOptions extends Holder {
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly clientId: string;
  /** Default: the platform's. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

const ANSWER_BYTES_MAX = 65_536;

/**
 * Throws CaseOpsError: ERR_LEASE (detail.code says which rule refused; retryable for a lease that was exchanged before),
 * ERR_ISSUER_UNREACHABLE (no answer, or "later"; retryable with a fresh lease, since an exchange whose answer was lost counts as
 * used), ERR_CANCELLED (the signal).
 */
export function createLeaseExchange(options: LeaseExchangeOptions): LeaseExchange {
  return {
    async exchange(request, signal) {
      const { status, text } = await post(
        options,
        { body: exchangeForm(options, request), traceparent: request.parent.traceparent },
        signal,
      );
      const parsed = parseStrictJson(text, { bytesMax: ANSWER_BYTES_MAX });
      const json = parsed.ok ? parsed.value : undefined;
      if (status !== 200) throw refused(status, json, request);
      const token = exchangedToken.safeParse(json);
      if (!token.success) throw unreachable(options, 'an answer that is no token response');
      return checkChild(holdLease(token.data.access_token, options), request);
    },
  };
}

function exchangeForm(options: LeaseExchangeOptions, request: ExchangeRequest): string {
  return new URLSearchParams({
    grant_type: GRANT_TOKEN_EXCHANGE,
    client_id: options.clientId,
    client_assertion_type: ASSERTION_TYPE_JWT,
    client_assertion: makeClientAssertion(options.clientId, options.issuer, options),
    subject_token: request.parent.token,
    subject_token_type: TOKEN_TYPE_ACCESS,
    resource: request.audience,
    authorization_details: JSON.stringify([{ type: LEASE_DETAIL_TYPE, ...request.detail }]),
    caseops_task: request.taskId,
    caseops_context: request.contextId,
    caseops_use: request.use,
  }).toString();
}

async function post(
  options: LeaseExchangeOptions,
  { body, traceparent }: { readonly body: string; readonly traceparent: string | undefined },
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly text: string }> {
  const { tokenEndpoint } = options;
  const dpop = makeProof(options, { method: 'POST', target: tokenEndpoint, body, ath: undefined });
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
    dpop,
    ...(traceparent === undefined ? {} : { traceparent }),
  };
  try {
    const send = options.fetch ?? globalThis.fetch;
    const response = await send(tokenEndpoint, { method: 'POST', headers, body, signal, redirect: 'error' });
    return { status: response.status, text: await response.text() };
  } catch (cause) {
    if (signal.aborted) {
      throw new CaseOpsError('ERR_CANCELLED', 'The exchange was given up by its caller.', { at: 'issuer', cause });
    }
    throw unreachable(options, 'no answer', cause);
  }
}

function refused(status: number, json: unknown, request: ExchangeRequest): CaseOpsError {
  const said = tokenError.safeParse(json).data;
  if (status >= 500 || said === undefined) {
    return new CaseOpsError('ERR_ISSUER_UNREACHABLE', `The issuer answered ${status}; ask again later.`, {
      at: 'issuer',
      detail: { status, code: said?.code ?? 'no_token_error' },
    });
  }
  const { error, code, error_description: why } = said;
  return new CaseOpsError(
    'ERR_LEASE',
    `The issuer refused to narrow lease ${request.parent.leaseId} for ${request.audience}: ${why ?? error}`,
    // Exchanged by a process that has died since: the same step tried again has a lease of its own.
    { at: 'issuer', detail: { error, code: code ?? error }, retryable: code === 'already_exchanged' },
  );
}

/** An issuer that answers with another audience's lease is refused: it would be sent to the wrong server. */
function checkChild(child: HeldLease, request: ExchangeRequest): HeldLease {
  if (child.audience === request.audience) return child;
  throw new CaseOpsError('ERR_LEASE', `Expected a lease for ${request.audience}; the issuer gave another.`, {
    at: 'issuer',
    detail: { code: 'audience' },
  });
}

function unreachable({ tokenEndpoint }: LeaseExchangeOptions, got: string, cause?: unknown): CaseOpsError {
  return new CaseOpsError('ERR_ISSUER_UNREACHABLE', `Expected a token from ${tokenEndpoint}; there was ${got}.`, {
    at: 'issuer',
    ...(cause === undefined ? {} : { cause }),
  });
}
