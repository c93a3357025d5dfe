/**
 * Leases without cryptography: claims in memory under opaque tokens, narrowed by the same rule as the issuer's. For tests of what
 * holds, exchanges and uses leases; never a stand-in for the guard.
 */
import type { Dispatch } from '#contracts/dispatch.ts';
import { CaseOpsError } from '#contracts/error.ts';
import { LEASE_DETAIL_TYPE, type Bound, type LeaseClaims } from '#contracts/lease.ts';
import { digestOf, digestOfBytes } from '#kernel/digest.ts';
import { checkNarrowing } from '#kernel/narrowing.ts';
import type { Clock } from '#ports/clock.ts';
import type { Authenticated } from '#ports/guard.ts';
import type { Ids } from '#ports/ids.ts';
import type { ExchangeRequest, HeldLease, LeaseExchange } from '#ports/issuer.ts';
import type { RecordWrite } from '#ports/store.ts';

const ISSUER = 'https://issuer.example';
const LIFETIME_S = 120;
const THUMBPRINT = 'A'.repeat(43);

export interface FakeAuthority {
  /** A step's lease, as a team's guard hands it on after authorising a send of this dispatch by `workload`. */
  lease(
    dispatch: Dispatch,
    options: {
      readonly audience: string;
      readonly locations: readonly string[];
      readonly workload: string;
      /** Default `internal`. */
      readonly datatypes?: readonly string[];
    },
  ): Authenticated;
  /** The row that uses a send lease up. */
  consumption(lease: Authenticated): RecordWrite;
  readonly exchange: LeaseExchange;
  /** Every exchange asked for, refused ones included. */
  readonly exchanged: readonly ExchangeRequest[];
  /** The claims behind a lease in the hand of its holder; undefined for a token this authority did not issue. */
  claimsOf(lease: HeldLease): LeaseClaims | undefined;
}

export function createFakeAuthority(by: { readonly clock: Clock; readonly ids: Ids }): FakeAuthority {
  const issued = new Map<string, LeaseClaims>();
  const exchanged: ExchangeRequest[] = [];
  const issue = (claims: LeaseClaims): string => {
    const token = `fake-token-of-${claims.jti}`;
    issued.set(token, claims);
    return token;
  };
  return {
    lease: (dispatch, options) => {
      const claims = sendClaims(by, dispatch, options);
      const token = issue(claims);
      return {
        lease: claims,
        token,
        signingInputDigest: digestOfBytes(token),
        workload: options.workload,
        requestDigest: digestOf({ dispatch, jti: claims.jti }),
      };
    },
    consumption: ({ lease, requestDigest }) => ({
      table: 'consumption',
      tenant: lease.tenant,
      issuer: lease.iss,
      leaseId: lease.jti,
      useCountMax: 1,
      requestDigest,
      expiresAt: lease.exp,
    }),
    exchange: {
      exchange: async (request) => {
        exchanged.push(request);
        const parent = issued.get(request.parent.token);
        if (parent === undefined) throw refusal('The parent lease was not issued here.');
        const child = childClaims(by, parent, request);
        const widened = checkNarrowing(child, parent, digestOfBytes(request.parent.token));
        if (widened.length > 0) throw refusal(widened.map(({ message }) => message).join(' '));
        return held(child, issue(child));
      },
    },
    exchanged,
    claimsOf: ({ token }) => issued.get(token),
  };
}

function sendClaims(
  { clock, ids }: { readonly clock: Clock; readonly ids: Ids },
  dispatch: Dispatch,
  options: {
    readonly audience: string;
    readonly locations: readonly string[];
    readonly workload: string;
    readonly use?: LeaseClaims['use'];
    readonly datatypes?: readonly string[];
  },
): LeaseClaims {
  const nowS = Math.floor(clock.nowMs() / 1_000);
  return {
    iss: ISSUER,
    sub: dispatch.subject,
    aud: options.audience,
    client_id: options.workload,
    iat: nowS,
    nbf: nowS,
    exp: nowS + LIFETIME_S,
    jti: ids.next('lse'),
    cnf: { jkt: THUMBPRINT },
    act: { sub: options.workload },
    tenant: dispatch.tenant,
    authorization_details: [
      {
        type: LEASE_DETAIL_TYPE,
        locations: [...options.locations],
        actions: dispatch.actions,
        resources: dispatch.resources,
        datatypes: [...(options.datatypes ?? ['internal'])],
        purpose: dispatch.purpose,
        bounds: boundsOf(dispatch.input),
      },
    ],
    task: { run: dispatch.runId, step: dispatch.stepId, attempt: dispatch.attempt },
    plan_digest: dispatch.planDigest,
    policy_digest: digestOf('policy'),
    dlg: { depth: 0, max: 1 },
    use: options.use ?? `count:${dispatch.budget.toolCallCountMax}`,
    txn: dispatch.runId,
  };
}

function childClaims(
  { clock, ids }: { readonly clock: Clock; readonly ids: Ids },
  parent: LeaseClaims,
  request: ExchangeRequest,
): LeaseClaims {
  const nowS = Math.floor(clock.nowMs() / 1_000);
  return {
    ...parent,
    aud: request.audience,
    iat: nowS,
    nbf: nowS,
    exp: parent.exp,
    jti: ids.next('lse'),
    act: { sub: parent.aud, act: parent.act },
    authorization_details: [{ type: LEASE_DETAIL_TYPE, ...request.detail }],
    task: { ...parent.task, task_id: request.taskId, context_id: request.contextId },
    dlg: { depth: parent.dlg.depth + 1, max: parent.dlg.max, par: digestOfBytes(request.parent.token) },
    use: request.use,
  };
}

function held(claims: LeaseClaims, token: string): HeldLease {
  return {
    token,
    leaseId: claims.jti,
    audience: claims.aud,
    expiresAt: claims.exp,
    prove: (method, target) => `fake-proof ${method} ${target}`,
  };
}

function boundsOf(input: Dispatch['input']): Record<string, Bound> {
  const bounds: Record<string, Bound> = {};
  for (const [name, value] of Object.entries(input)) {
    if (isScalar(value)) bounds[name] = { exact: value };
    else if (Array.isArray(value)) bounds[name] = { subset: value.filter(isScalar) };
  }
  return bounds;
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function refusal(message: string): CaseOpsError {
  return new CaseOpsError('ERR_LEASE', message, { at: 'issuer' });
}
