/**
 * The lease's envelope: signing it, and the steps that check it in the order of LEASE "Checking", cheap first. The payload is parsed
 * only after its signature holds. RFC 9068, RFC 7515, RFC 8725.
 */
import {
  LEASE_BYTES_MAX,
  LEASE_DETAIL_TYPE,
  LEASE_LIFETIME_S_MAX,
  bound,
  leaseDetail,
  leaseDetailEnvelope,
  leaseEnvelope,
  type LeaseClaims,
  type LeaseDetail,
  type LeaseEnvelope,
} from '#contracts/lease.ts';
import { parseStrictJson } from '#kernel/strict-json.ts';
import type { PublicJwk, Signer, Verifier } from '#ports/signer.ts';
import { isObject, readCompactJws, type CompactJws } from './compact-jws.ts';
import { thumbprint, verifier } from './es256.ts';
import { deny, retry, type GuardStep } from './guard-step.ts';

/** An issuer whose leases are believed, and its keys. A key that left the list is retired and verifies nothing. */
export interface PinnedIssuer {
  readonly issuer: string;
  readonly keys: readonly PublicJwk[];
}

/** What the steps have read so far of one presented lease. */
export interface LeaseAttempt {
  readonly token: string | undefined;
  readonly nowMs: number;
  /** Audiences for which the checking boundary may be addressed. */
  readonly audiences: readonly string[];
  jws: CompactJws | undefined;
  key: IssuerKey | undefined;
  json: unknown;
  envelope: LeaseEnvelope | undefined;
  detail: LeaseDetail | undefined;
}

interface IssuerKey {
  readonly issuer: string;
  readonly jwk: PublicJwk;
}

const NBF_SKEW_S = 5;
const PAYLOAD_DEPTH_MAX = 32;

/** The compact token. The caller has made `claims` through the contract. */
export function signLease(signer: Signer, claims: LeaseClaims): string {
  return signer.sign({ typ: 'at+jwt', kid: signer.thumbprint }, claims);
}

/** A fresh state for `leaseSteps`. */
export function leaseAttempt(token: string | undefined, audiences: readonly string[], nowMs: number): LeaseAttempt {
  return {
    token,
    nowMs,
    audiences,
    jws: undefined,
    key: undefined,
    json: undefined,
    envelope: undefined,
    detail: undefined,
  };
}

/** The lease of an attempt that passed `leaseSteps` and `detailSteps`. */
export function leaseOf(attempt: LeaseAttempt): LeaseClaims | undefined {
  const { envelope, detail } = attempt;
  return envelope === undefined || detail === undefined ? undefined : { ...envelope, authorization_details: [detail] };
}

/** size → header → signature → strict parse → shape → iss → aud → times. */
export function leaseSteps(
  issuers: readonly PinnedIssuer[],
  signatures: Verifier = verifier,
): readonly GuardStep<LeaseAttempt>[] {
  const keys = new Map<string, IssuerKey>();
  for (const { issuer, keys: jwks } of issuers) for (const jwk of jwks) keys.set(thumbprint(jwk), { issuer, jwk });
  return [...headerSteps(keys, signatures), ...claimSteps(), ...timeSteps()];
}

/** The detail's type and its bounds' types are known: a closed world (RFC 9396 §5). A lawful detail is read once. */
export function detailSteps(): readonly GuardStep<LeaseAttempt>[] {
  return [
    {
      name: 'detail_type',
      check: (at) => {
        const [only, more] = at.envelope?.authorization_details ?? [];
        const known = isObject(only) && only['type'] === LEASE_DETAIL_TYPE && more === undefined;
        at.detail = leaseDetail.safeParse(only).data;
        return known && (at.detail !== undefined || leaseDetailEnvelope.safeParse(only).success)
          ? undefined
          : deny('detail_type', `Expected exactly one authorization detail of type ${LEASE_DETAIL_TYPE}.`);
      },
    },
    {
      name: 'bound_type',
      check: ({ envelope, detail }) => {
        if (detail !== undefined) return undefined;
        const bounds = leaseDetailEnvelope.safeParse(envelope?.authorization_details[0]).data?.bounds ?? {};
        const [unknown] = Object.entries(bounds).find(([, value]) => !bound.safeParse(value).success) ?? [];
        return deny('bound_type', `Expected bounds of known types; ${unknown ?? 'the detail'} has another.`);
      },
    },
  ];
}

function headerSteps(keys: ReadonlyMap<string, IssuerKey>, signatures: Verifier): readonly GuardStep<LeaseAttempt>[] {
  return [
    {
      name: 'lease',
      check: (at) => (at.token ? undefined : deny('lease_missing', 'Expected Authorization: DPoP with a lease.')),
    },
    {
      name: 'size',
      check: (at) =>
        at.token !== undefined && at.token.length <= LEASE_BYTES_MAX
          ? undefined
          : deny('lease_too_large', `Expected a lease of at most ${LEASE_BYTES_MAX} bytes.`),
    },
    {
      name: 'header',
      check: (at) => {
        at.jws = at.token === undefined ? undefined : readCompactJws(at.token);
        return at.jws === undefined
          ? deny('lease_malformed', 'Expected a compact JWS with a JSON object as its header.')
          : undefined;
      },
    },
    {
      name: 'algorithm',
      check: (at) =>
        at.jws?.header['alg'] === 'ES256' ? undefined : deny('algorithm', 'Expected a lease signed with ES256.'),
    },
    {
      name: 'token_type',
      check: (at) => (at.jws?.header['typ'] === 'at+jwt' ? undefined : deny('token_type', 'Expected typ at+jwt.')),
    },
    {
      name: 'critical_header',
      check: (at) =>
        at.jws?.header['crit'] === undefined
          ? undefined
          : deny('critical_header', 'Expected a header without crit; no extension is understood.'),
    },
    {
      name: 'key',
      check: (at) => {
        const kid = at.jws?.header['kid'];
        at.key = typeof kid === 'string' ? keys.get(kid) : undefined;
        return at.key === undefined ? deny('key_unknown', 'Expected a kid of a pinned issuer key in use.') : undefined;
      },
    },
    {
      name: 'signature',
      check: (at) =>
        at.jws !== undefined &&
        at.key !== undefined &&
        signatures.verify(at.key.jwk, at.jws.signingInput, at.jws.signature)
          ? undefined
          : deny('signature', 'Expected the lease to be signed by the key that its kid names.'),
    },
  ];
}

function claimSteps(): readonly GuardStep<LeaseAttempt>[] {
  return [
    {
      name: 'strict_json',
      check: (at) => {
        if (at.jws === undefined) return deny('claims_json', 'Expected claims to read.');
        const parsed = parseStrictJson(at.jws.payload, { bytesMax: LEASE_BYTES_MAX, depthMax: PAYLOAD_DEPTH_MAX });
        if (parsed.ok) at.json = parsed.value;
        return parsed.ok ? undefined : deny('claims_json', `Expected strict JSON claims: ${parsed.error.code}.`);
      },
    },
    {
      name: 'shape',
      check: (at) => {
        const parsed = leaseEnvelope.safeParse(at.json);
        at.envelope = parsed.data;
        if (parsed.success) return undefined;
        const where = parsed.error.issues[0]?.path.join('.') || 'an unknown claim';
        return deny(
          'claims_shape',
          `Expected the claims of lease profile v1; ${where.slice(0, 80)} is not as it says.`,
        );
      },
    },
    {
      name: 'issuer',
      check: (at) =>
        at.envelope !== undefined && at.envelope.iss === at.key?.issuer
          ? undefined
          : deny('issuer', 'Expected the issuer to whom the signing key is pinned.'),
    },
    {
      name: 'audience',
      check: (at) =>
        at.envelope !== undefined && at.audiences.includes(at.envelope.aud)
          ? undefined
          : deny('audience', `Expected a lease for ${at.audiences.join(' or ')}.`),
    },
  ];
}

function timeSteps(): readonly GuardStep<LeaseAttempt>[] {
  return [
    {
      name: 'not_before',
      check: ({ envelope, nowMs }) =>
        envelope !== undefined && envelope.nbf * 1_000 <= nowMs + NBF_SKEW_S * 1_000
          ? undefined
          : retry('not_yet_valid', 'The lease is not valid yet.'),
    },
    {
      name: 'expiry',
      check: ({ envelope, nowMs }) =>
        envelope !== undefined && nowMs < envelope.exp * 1_000 ? undefined : deny('expired', 'The lease has expired.'),
    },
    {
      name: 'lifetime',
      check: ({ envelope }) => {
        const lifetimeS = envelope === undefined ? 0 : envelope.exp - Math.min(envelope.iat, envelope.nbf);
        return lifetimeS > 0 && lifetimeS <= LEASE_LIFETIME_S_MAX
          ? undefined
          : deny('lifetime', `Expected a lease of at most ${LEASE_LIFETIME_S_MAX} s; this one is for ${lifetimeS} s.`);
      },
    },
    {
      name: 'issued_at',
      check: ({ envelope, nowMs }) =>
        envelope !== undefined && envelope.iat * 1_000 <= nowMs + NBF_SKEW_S * 1_000
          ? undefined
          : deny('issued_in_future', 'The lease says that it was issued in the future.'),
    },
  ];
}
