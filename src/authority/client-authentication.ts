/** private_key_jwt (RFC 7523 §2.2): a workload authenticates at the token endpoint with a short assertion of its own key. */
import { clientAssertionClaims, type ClientAssertionClaims } from '#contracts/possession.ts';
import { parseStrictJson } from '#kernel/strict-json.ts';
import type { Verifier } from '#ports/signer.ts';
import { readCompactJws } from './compact-jws.ts';
import type { WorkloadClient } from './issuer-options.ts';
import { thumbprint, verifier } from './es256.ts';
import type { Holder } from './possession.ts';
import type { ReplayWindow } from './replay-window.ts';
import { refuse, type TokenStep } from './token-request.ts';

const ASSERTION_LIFETIME_S_MAX = 300;
const ASSERTION_LIFETIME_S = 60;
const SKEW_S = 30;
/** As long as an assertion could be shown again. */
export const ASSERTION_KEEP_MS = (ASSERTION_LIFETIME_S_MAX + SKEW_S + 1) * 1_000;

export interface AssertionCheck {
  readonly clients: (clientId: string) => WorkloadClient | undefined;
  /** What `aud` may be: the issuer, or its token endpoint. */
  readonly audiences: readonly string[];
  readonly window: ReplayWindow;
  readonly nowMs: number;
  /** Default: ES256. */
  readonly verifier?: Verifier | undefined;
}

/** An assertion for one request. */
export function makeClientAssertion(clientId: string, audience: string, holder: Holder): string {
  const iat = Math.floor(holder.clock.nowMs() / 1_000);
  return holder.signer.sign(
    { typ: 'JWT', kid: holder.signer.thumbprint },
    { iss: clientId, sub: clientId, aud: audience, iat, exp: iat + ASSERTION_LIFETIME_S, jti: holder.ids.next('call') },
  );
}

/** The workload that made the assertion. An unknown client and a wrong signature look alike. */
export function authenticateClient(assertion: string, check: AssertionCheck): TokenStep<WorkloadClient> {
  const jws = readCompactJws(assertion);
  const json = jws === undefined ? undefined : parseStrictJson(jws.payload, { bytesMax: 8_192 });
  const claims = clientAssertionClaims.safeParse(json?.ok === true ? json.value : undefined).data;
  if (jws === undefined || claims === undefined) return no('client_assertion', 'Expected a client assertion.');
  const client = check.clients(claims.sub);
  const { header } = jws;
  const lawful = header['alg'] === 'ES256' && header['crit'] === undefined && claims.iss === claims.sub;
  const known = client !== undefined && header['kid'] === thumbprint(client.publicJwk);
  if (!lawful || !known || !(check.verifier ?? verifier).verify(client.publicJwk, jws.signingInput, jws.signature)) {
    return no('client_assertion', 'Expected an assertion by the registered key of a known client.');
  }
  return checkFreshness(claims, check) ?? { ok: true, value: client };
}

function checkFreshness(claims: ClientAssertionClaims, check: AssertionCheck): TokenStep<never> | undefined {
  const nowS = check.nowMs / 1_000;
  if (!check.audiences.includes(claims.aud)) return no('client_audience', 'Expected an assertion for this issuer.');
  const lifetimeS = claims.exp - claims.iat;
  const current = nowS < claims.exp && claims.iat <= nowS + SKEW_S;
  if (!current || lifetimeS <= 0 || lifetimeS > ASSERTION_LIFETIME_S_MAX) {
    return no('client_time', 'Expected an assertion that is valid now and short.');
  }
  const taken = check.window.take(`${claims.sub} ${claims.jti}`, check.nowMs);
  if (taken === 'fresh') return undefined;
  if (taken === 'seen') return no('client_replayed', 'This assertion has been shown before.');
  const message = 'Too many assertions within minutes; ask again later.';
  return refuse({ status: 503, error: 'temporarily_unavailable', code: 'client_window_full', message });
}

function no(code: string, message: string): TokenStep<never> {
  return refuse({ status: 401, error: 'invalid_client', code, message });
}
