/**
 * Holding a lease: the proof of possession that goes with each request (RFC 9449), over the exact body bytes as well
 * (`caseops_bdg`, CONTRACTS "Lease details").
 */
import { CaseOpsError } from '#contracts/error.ts';
import { heldLeaseClaims, type HeldLeaseClaims } from '#contracts/possession.ts';
import { parseStrictJson } from '#kernel/strict-json.ts';
import type { Clock } from '#ports/clock.ts';
import type { Authenticated } from '#ports/guard.ts';
import type { Ids } from '#ports/ids.ts';
import type { HeldLease } from '#ports/issuer.ts';
import type { Signer } from '#ports/signer.ts';
import { readCompactJws } from './compact-jws.ts';
import { proofTarget } from './proof-steps.ts';
import { sha256Base64Url } from './sha256.ts';

export interface Holder {
  readonly signer: Signer;
  readonly clock: Clock;
  readonly ids: Ids;
}

export interface ProofFacts {
  readonly method: string;
  /** Query and fragment are cut (RFC 9449 §4.2). */
  readonly target: string;
  readonly body: Uint8Array | string;
  /** base64url SHA-256 of the lease; undefined at the token endpoint. */
  readonly ath: string | undefined;
}

/**
 * A lease with the key that it is bound to. Throws CaseOpsError (ERR_LEASE) when the token is no lease or is bound to another key:
 * its proofs could never pass. Does not verify the issuer's signature; who receives the lease does.
 */
export function holdLease(token: string, holder: Holder): HeldLease {
  const claims = readHeld(token);
  if (claims.cnf.jkt !== holder.signer.thumbprint) {
    throw new CaseOpsError('ERR_LEASE', `Expected lease ${claims.jti} to be bound to this workload's key.`, {
      at: 'authority',
      detail: { code: 'proof_key' },
    });
  }
  const ath = sha256Base64Url(token);
  return {
    token,
    leaseId: claims.jti,
    audience: claims.aud,
    expiresAt: claims.exp,
    prove: (method, target, body) => makeProof(holder, { method, target, body, ath }),
  };
}

/**
 * A lease as its receiver has it: good for an exchange, not for a request, since it is bound to the sender's key. `prove` throws
 * CaseOpsError (ERR_LEASE).
 */
export function receivedLease(authenticated: Authenticated): HeldLease {
  const { token, lease } = authenticated;
  return {
    token,
    leaseId: lease.jti,
    audience: lease.aud,
    expiresAt: lease.exp,
    prove: () => {
      throw new CaseOpsError('ERR_LEASE', `Lease ${lease.jti} was received; only its sender can prove it.`, {
        at: 'authority',
        detail: { code: 'proof_key' },
      });
    },
  };
}

/** One proof for one request. A second request needs its own. */
export function makeProof(holder: Holder, facts: ProofFacts): string {
  return holder.signer.sign(
    { typ: 'dpop+jwt', jwk: holder.signer.publicJwk },
    {
      jti: holder.ids.next('call'),
      htm: facts.method,
      htu: proofTarget(facts.target),
      iat: Math.floor(holder.clock.nowMs() / 1_000),
      ...(facts.ath === undefined ? {} : { ath: facts.ath }),
      caseops_bdg: sha256Base64Url(facts.body),
    },
  );
}

function readHeld(token: string): HeldLeaseClaims {
  const jws = readCompactJws(token);
  const json = jws === undefined ? undefined : parseStrictJson(jws.payload);
  const parsed = heldLeaseClaims.safeParse(json?.ok === true ? json.value : undefined);
  if (parsed.success) return parsed.data;
  throw new CaseOpsError('ERR_LEASE', 'Expected a compact lease with jti, aud, exp and cnf.jkt.', {
    at: 'authority',
    detail: { code: 'lease_malformed' },
  });
}
