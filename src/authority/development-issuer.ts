/**
 * The development issuer: a few accounts, so that the product runs without an identity provider. It signs short user tokens for the
 * local API and turns one back into the root grant of its account. Source: CONTRACTS "Identities from the first part".
 */
import { CaseOpsError } from '#contracts/error.ts';
import type { RootGrant } from '#contracts/lease.ts';
import { userTokenClaims, type UserTokenClaims } from '#contracts/possession.ts';
import { parseStrictJson } from '#kernel/strict-json.ts';
import type { Clock } from '#ports/clock.ts';
import type { Ids } from '#ports/ids.ts';
import type { Signer } from '#ports/signer.ts';
import { readCompactJws } from './compact-jws.ts';
import { verifier } from './es256.ts';

export interface DevelopmentIssuerOptions {
  readonly issuer: string;
  /** The local API; a token for another audience is refused. */
  readonly audience: string;
  readonly signer: Signer;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The workload that may act for every account. */
  readonly supervisor: string;
  /** What a requester may ask for, from the case's configuration. */
  readonly purposes: readonly string[];
  readonly actions: readonly string[];
  /** Those of DEVELOPMENT_ACCOUNTS when left out. */
  readonly accounts?: readonly DevelopmentAccount[] | undefined;
  /** Of a user token, in seconds; 900 when left out. */
  readonly lifetimeS?: number;
}

type UserVerdict =
  | { readonly ok: true; readonly grant: RootGrant }
  | { readonly ok: false; readonly code: UserRefusalCode; readonly message: string };

type UserRefusalCode = 'malformed' | 'signature' | 'issuer' | 'audience' | 'expired' | 'account';

export interface DevelopmentIssuer {
  /** A token for the configured lifetime. Throws CaseOpsError (ERR_UNAUTHENTICATED) for an account that does not exist. */
  tokenFor(account: string): string;
  /** The grant behind a token, or why there is none. */
  verify(token: string): UserVerdict;
  /** The grant of an account without a token, for a command that runs in the supervisor's own process. Throws like `tokenFor`. */
  grantFor(account: string): RootGrant;
}

/** `<role>@<tenant>`. Approvers and auditors may read and decide, custodians erase; only requesters may have something done in their name. */
export type DevelopmentAccount = `${'requester' | 'approver' | 'auditor' | 'custodian'}@${string}`;

/** Of an installation that names none. */
export const DEVELOPMENT_ACCOUNTS: readonly DevelopmentAccount[] = [
  'requester@t9',
  'approver@t9',
  'auditor@t9',
  'requester@t8',
];

const LIFETIME_S = 900;
const TOKEN_BYTES_MAX = 4_096;
const SKEW_S = 5;

export function createDevelopmentIssuer(options: DevelopmentIssuerOptions): DevelopmentIssuer {
  return {
    tokenFor(account) {
      const { sub, tenant, roles } = existing(options, account);
      const iat = Math.floor(options.clock.nowMs() / 1_000);
      const { issuer: iss, audience: aud, signer, ids } = options;
      const claims: UserTokenClaims = {
        iss,
        sub,
        aud,
        iat,
        exp: iat + (options.lifetimeS ?? LIFETIME_S),
        jti: ids.next('call'),
        tenant,
        roles,
      };
      return signer.sign({ typ: 'user+jwt', kid: signer.thumbprint }, claims);
    },
    verify: (token) => verify(options, token),
    grantFor: (account) => existing(options, account),
  };
}

function verify(options: DevelopmentIssuerOptions, token: string): UserVerdict {
  const { signer } = options;
  const jws = token.length <= TOKEN_BYTES_MAX ? readCompactJws(token) : undefined;
  const header = jws?.header;
  const lawful = header?.['alg'] === 'ES256' && header['typ'] === 'user+jwt' && header['crit'] === undefined;
  if (jws === undefined || !lawful) return no('malformed', 'Expected a user token of this installation.');
  const signed =
    jws.header['kid'] === signer.thumbprint && verifier.verify(signer.publicJwk, jws.signingInput, jws.signature);
  if (!signed) return no('signature', 'Expected a user token signed by this installation.');
  const json = parseStrictJson(jws.payload, { bytesMax: TOKEN_BYTES_MAX });
  const claims = userTokenClaims.safeParse(json.ok ? json.value : undefined).data;
  if (claims === undefined) return no('malformed', 'Expected the claims of a user token, once each.');
  if (claims.iss !== options.issuer) return no('issuer', `Expected a token of ${options.issuer}.`);
  if (claims.aud !== options.audience) return no('audience', `Expected a token for ${options.audience}.`);
  const nowS = options.clock.nowMs() / 1_000;
  if (nowS >= claims.exp || claims.iat > nowS + SKEW_S)
    return no('expired', 'The user token is not valid now; log in.');
  const grant = grantOf(options, claims.sub);
  if (grant === undefined || grant.tenant !== claims.tenant) {
    return no('account', 'Expected an account of this installation.');
  }
  return { ok: true, grant };
}

function existing(options: DevelopmentIssuerOptions, account: string): RootGrant {
  const grant = grantOf(options, account);
  if (grant !== undefined) return grant;
  throw new CaseOpsError(
    'ERR_UNAUTHENTICATED',
    `Expected one of ${accountsOf(options).join(', ')}; there is no account ${account.slice(0, 80)}.`,
    { at: 'authority' },
  );
}

function accountsOf({ accounts }: DevelopmentIssuerOptions): readonly DevelopmentAccount[] {
  return accounts ?? DEVELOPMENT_ACCOUNTS;
}

function grantOf(options: DevelopmentIssuerOptions, account: string): RootGrant | undefined {
  const found = accountsOf(options).find((name) => name === account);
  if (found === undefined) return undefined;
  const at = found.indexOf('@');
  const role = found.slice(0, at);
  const asks = role === 'requester';
  return {
    sub: found,
    tenant: found.slice(at + 1),
    purposes: asks ? [...options.purposes] : [],
    actions: asks ? [...options.actions] : [],
    may_act: { sub: options.supervisor },
    roles: [role],
  };
}

function no(code: UserRefusalCode, message: string): UserVerdict {
  return { ok: false, code, message };
}
