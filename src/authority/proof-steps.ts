/**
 * Checking a proof of possession (RFC 9449) that also covers the body: sig, typ, jkt, htm/htu, ath, iat, body digest, jti unseen, in
 * this order. Source: LEASE "Checking", CONTRACTS "Lease details".
 */
import { proofClaims, proofJwk, type ProofClaims } from '#contracts/possession.ts';
import { parseStrictJson } from '#kernel/strict-json.ts';
import type { PublicJwk, Verifier } from '#ports/signer.ts';
import { readCompactJws, type CompactJws } from './compact-jws.ts';
import { thumbprint, verifier } from './es256.ts';
import { deny, retry, type GuardStep } from './guard-step.ts';
import { createReplayWindow, type ReplayWindow } from './replay-window.ts';
import { sha256Base64Url } from './sha256.ts';

/** What the steps have read so far of one proof. */
export interface ProofAttempt {
  readonly proof: string | undefined;
  readonly method: string;
  readonly target: string;
  readonly bodyDigest: string;
  readonly nowMs: number;
  /** The key to which the lease (or the client) is bound. */
  readonly jkt: string | undefined;
  /** The lease that the proof accompanies; undefined at the token endpoint. */
  readonly token: string | undefined;
  jws: CompactJws | undefined;
  key: PublicJwk | undefined;
  claims: ProofClaims | undefined;
}

const PROOF_BYTES_MAX = 8_192;
const PROOF_SKEW_MS = 30_000;
/** A proof dated 30 s ahead can be shown for 60 s; one more second for the truncation of `iat`. */
const REPLAY_KEEP_MS = 61_000;
const REPLAY_ENTRY_COUNT_MAX = 250_000;

/** A fresh state for `proofSteps`. */
export function proofAttempt(
  facts: Pick<ProofAttempt, 'proof' | 'method' | 'target' | 'bodyDigest' | 'nowMs' | 'jkt' | 'token'>,
): ProofAttempt {
  return { ...facts, jws: undefined, key: undefined, claims: undefined };
}

/** The window that `proofSteps` uses unless it is given another. */
export function proofReplayWindow(): ReplayWindow {
  return createReplayWindow({ keepMs: REPLAY_KEEP_MS, entryCountMax: REPLAY_ENTRY_COUNT_MAX });
}

/** The target without query and fragment (RFC 9449 §4.2). */
export function proofTarget(target: string): string {
  const end = target.search(/[?#]/);
  return end === -1 ? target : target.slice(0, end);
}

export function proofSteps(window: ReplayWindow, signatures: Verifier = verifier): readonly GuardStep<ProofAttempt>[] {
  return [...readingSteps(signatures), ...bindingSteps(), ...freshnessSteps(window)];
}

function readingSteps(signatures: Verifier): readonly GuardStep<ProofAttempt>[] {
  return [
    {
      name: 'proof',
      check: (at) => (at.proof ? undefined : deny('proof_missing', 'Expected a DPoP proof beside the lease.')),
    },
    {
      name: 'proof_format',
      check: (at) => {
        const small = at.proof !== undefined && at.proof.length <= PROOF_BYTES_MAX;
        at.jws = small ? readCompactJws(at.proof) : undefined;
        const key = proofJwk.safeParse(at.jws?.header['jwk']);
        at.key = key.success ? { kty: 'EC', crv: 'P-256', x: key.data.x, y: key.data.y } : undefined;
        const lawful = at.key !== undefined && at.jws?.header['alg'] === 'ES256' && at.jws.header['crit'] === undefined;
        return lawful
          ? undefined
          : deny('proof_malformed', 'Expected an ES256 proof with its public P-256 key in the header.');
      },
    },
    {
      name: 'proof_signature',
      check: ({ jws, key }) =>
        jws !== undefined && key !== undefined && signatures.verify(key, jws.signingInput, jws.signature)
          ? undefined
          : deny('proof_signature', 'Expected the proof to be signed by the key in its header.'),
    },
    {
      name: 'proof_type',
      check: ({ jws }) =>
        jws?.header['typ'] === 'dpop+jwt' ? undefined : deny('proof_type', 'Expected a proof of typ dpop+jwt.'),
    },
    {
      name: 'proof_claims',
      check: (at) => {
        const json = at.jws === undefined ? undefined : parseStrictJson(at.jws.payload, { bytesMax: PROOF_BYTES_MAX });
        const parsed = proofClaims.safeParse(json?.ok === true ? json.value : undefined);
        at.claims = parsed.data;
        return parsed.success
          ? undefined
          : deny('proof_claims', 'Expected the proof to say jti, htm, htu, iat and caseops_bdg, once each.');
      },
    },
  ];
}

function bindingSteps(): readonly GuardStep<ProofAttempt>[] {
  return [
    {
      name: 'proof_key',
      check: ({ key, jkt }) =>
        key !== undefined && thumbprint(key) === jkt
          ? undefined
          : deny('proof_key', 'Expected the proof of the key to which the lease is bound.'),
    },
    {
      name: 'proof_target',
      check: ({ claims, method, target }) =>
        claims !== undefined && claims.htm === method && proofTarget(claims.htu) === proofTarget(target)
          ? undefined
          : deny('proof_target', `Expected a proof for ${method} ${proofTarget(target)}.`),
    },
    {
      name: 'proof_token',
      check: ({ claims, token }) =>
        token === undefined || (claims !== undefined && claims.ath === sha256Base64Url(token))
          ? undefined
          : deny('proof_token', 'Expected a proof made for this lease (ath).'),
    },
  ];
}

function freshnessSteps(window: ReplayWindow): readonly GuardStep<ProofAttempt>[] {
  return [
    {
      name: 'proof_time',
      check: ({ claims, nowMs }) =>
        claims !== undefined &&
        claims.iat * 1_000 <= nowMs + PROOF_SKEW_MS &&
        nowMs < (claims.iat + 1) * 1_000 + PROOF_SKEW_MS
          ? undefined
          : deny('proof_time', `Expected a proof made within ${PROOF_SKEW_MS / 1_000} s.`),
    },
    {
      name: 'proof_body',
      check: ({ claims, bodyDigest }) =>
        claims?.caseops_bdg === bodyDigest
          ? undefined
          : deny('body_digest', 'Expected a proof over exactly these body bytes (caseops_bdg).'),
    },
    {
      name: 'proof_replay',
      check: ({ claims, jkt, nowMs }) => {
        const taken = claims === undefined ? 'seen' : window.take(`${jkt} ${claims.jti}`, nowMs);
        if (taken === 'fresh') return undefined;
        return taken === 'seen'
          ? deny('proof_replayed', 'This proof has been shown before.')
          : retry('proof_window_full', 'Too many proofs were shown within a minute; ask again later.');
      },
    },
  ];
}
