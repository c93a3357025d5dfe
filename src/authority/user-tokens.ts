/**
 * Tokens of people from a pinned OpenID Connect issuer, and what they are worth here: roles of the token's claims become a root grant by
 * a closed table. What the table does not name is worth nothing. Source: DESIGN §3.1 "Access"; LEASE "Minting" (root grant).
 */
import { CaseOpsError } from '#contracts/error.ts';
import { rootGrant, type RootGrant } from '#contracts/lease.ts';
import { resolvePointer } from '#kernel/pointer.ts';
import type { Clock } from '#ports/clock.ts';
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  jwtVerify,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
} from 'jose';

/** What one role of the issuer may do here. */
export interface RoleGrant {
  readonly roles: readonly string[];
  readonly purposes: readonly string[];
  readonly actions: readonly string[];
}

export interface UserTokensOptions {
  /** `iss`, exactly; also where the keys are looked up when none are given. */
  readonly issuer: string;
  readonly audience: string;
  /** Pinned keys. Left out: read once from the issuer's own discovery document, at the issuer's own origin. */
  readonly jwks?: JSONWebKeySet | undefined;
  /** JSON pointers into the token's claims. */
  readonly claims: { readonly subject: string; readonly tenant: string; readonly roles: string };
  /** Tenants whose people may come at all. */
  readonly tenants: readonly string[];
  readonly roles: Readonly<Record<string, RoleGrant>>;
  /** The workload that may act for every person. */
  readonly supervisor: string;
  readonly clock: Clock;
  /** Replaces the network for the discovery document. */
  readonly fetch?: typeof fetch;
}

export type UserTokenVerdict =
  | { readonly ok: true; readonly grant: RootGrant; readonly expiresAt: number }
  | {
      readonly ok: false;
      readonly code: 'malformed' | 'signature' | 'claims' | 'tenant' | 'role' | 'keys';
      readonly message: string;
    };

export interface UserTokens {
  /** The grant behind a token, or why there is none. Never throws; the message holds nothing of the token. */
  verify(token: string): Promise<UserTokenVerdict>;
}

/** Asymmetric only: with a shared secret whoever checks a token could also make one. */
const ALGORITHMS = ['ES256', 'ES384', 'PS256', 'RS256', 'EdDSA'];
const TOKEN_BYTES_MAX = 16_384;
const SKEW_S = 5;
const ROLE_COUNT_MAX = 64;
const KEYS_TIMEOUT_MS = 3_000;

export function createUserTokens(options: UserTokensOptions): UserTokens {
  const keys = keySource(options);
  return {
    verify: async (token) => {
      if (token.length > TOKEN_BYTES_MAX) return no('malformed', 'Expected a signed token of at most 16 kB.');
      try {
        const { payload } = await jwtVerify(token, await keys(), {
          issuer: options.issuer,
          audience: options.audience,
          algorithms: ALGORITHMS,
          clockTolerance: SKEW_S,
          currentDate: new Date(options.clock.nowMs()),
          requiredClaims: ['exp'],
        });
        return grantOf(options, payload, payload.exp ?? 0);
      } catch (error) {
        return refusalOf(error);
      }
    },
  };
}

/** Looked up on first use; a failed look-up is tried again by the next token. */
function keySource(options: UserTokensOptions): () => Promise<JWTVerifyGetKey> {
  const { jwks } = options;
  if (jwks !== undefined) {
    const local = createLocalJWKSet(jwks);
    return () => Promise.resolve(local);
  }
  let known: Promise<JWTVerifyGetKey> | undefined;
  return () => {
    known ??= discover(options).catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  };
}

/** OpenID Connect Discovery 1.0 §4: the document names the same issuer, and keys are taken from that issuer's origin only. */
async function discover({ issuer, fetch: network = fetch }: UserTokensOptions): Promise<JWTVerifyGetKey> {
  const response = await network(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, {
    redirect: 'error',
    signal: AbortSignal.timeout(KEYS_TIMEOUT_MS),
  });
  const document = (await response.json()) as { readonly issuer?: unknown; readonly jwks_uri?: unknown };
  const uri = typeof document.jwks_uri === 'string' && URL.canParse(document.jwks_uri) ? document.jwks_uri : undefined;
  if (document.issuer !== issuer || uri === undefined || new URL(uri).origin !== new URL(issuer).origin)
    throw new CaseOpsError('ERR_CONFIG', `The discovery document of ${issuer} names another issuer or foreign keys.`, {
      at: 'authority',
    });
  return createRemoteJWKSet(new URL(uri), { timeoutDuration: KEYS_TIMEOUT_MS });
}

function grantOf(options: UserTokensOptions, claims: object, expiresAt: number): UserTokenVerdict {
  const at = (pointer: string): unknown => {
    const found = resolvePointer(claims, pointer);
    return found.found ? found.value : undefined;
  };
  const [sub, tenant] = [at(options.claims.subject), at(options.claims.tenant)];
  if (typeof sub !== 'string' || typeof tenant !== 'string')
    return no('claims', `Expected texts at ${options.claims.subject} and ${options.claims.tenant} of the token.`);
  if (!options.tenants.includes(tenant) && !options.tenants.includes('*'))
    return no('tenant', 'The tenant of the token may not use this installation.');
  const named = [at(options.claims.roles)].flat().filter((role): role is string => typeof role === 'string');
  const granted = named
    .slice(0, ROLE_COUNT_MAX)
    .flatMap((role) => (Object.hasOwn(options.roles, role) ? [options.roles[role]] : []))
    .filter((row) => row !== undefined);
  if (granted.length === 0) return no('role', `None of the roles at ${options.claims.roles} is granted anything here.`);
  const union = (pick: (row: RoleGrant) => readonly string[]): string[] => [...new Set(granted.flatMap(pick))];
  const grant = rootGrant.safeParse({
    sub,
    tenant,
    purposes: union((row) => row.purposes),
    actions: union((row) => row.actions),
    may_act: { sub: options.supervisor },
    roles: union((row) => row.roles),
  });
  return grant.success
    ? { ok: true, grant: grant.data, expiresAt }
    : no('claims', 'The claims of the token make no grant: a subject or tenant of another form than expected.');
}

function refusalOf(error: unknown): UserTokenVerdict {
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired)
    return no('claims', `The claim ${error.claim} of the token does not hold.`);
  if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey)
    return no('signature', 'Expected a token signed by a key of the configured issuer.');
  if (error instanceof errors.JOSEAlgNotAllowed) return no('signature', 'The algorithm of the token is not allowed.');
  if (error instanceof errors.JWTInvalid || error instanceof errors.JWSInvalid)
    return no('malformed', 'Expected a signed token (JWS) with JSON claims.');
  return no('keys', 'The keys of the configured issuer could not be read or do not fit the token.');
}

function no(code: Extract<UserTokenVerdict, { ok: false }>['code'], message: string): UserTokenVerdict {
  return { ok: false, code, message };
}
