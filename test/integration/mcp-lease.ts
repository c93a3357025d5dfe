/** Real leases for the mcp tests: an issuer's key, a team's key, tool leases as the exchange makes them, and the guard of a server. */
import { generateSigner } from '#authority/es256.ts';
import { createGuard } from '#authority/guard.ts';
import { signLease } from '#authority/lease-token.ts';
import { holdLease } from '#authority/possession.ts';
import { LEASE_DETAIL_TYPE, type LeaseClaims } from '#contracts/lease.ts';
import { digestOf } from '#kernel/digest.ts';
import type { Guard } from '#ports/guard.ts';
import type { HeldLease } from '#ports/issuer.ts';
import type { PublicJwk } from '#ports/signer.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { systemIds } from '#runtime/system-ids.ts';

export interface LeaseWish {
  readonly audience: string;
  readonly use?: LeaseClaims['use'];
  readonly actions?: readonly string[];
  readonly resources?: readonly string[];
  readonly bounds?: LeaseClaims['authorization_details'][number]['bounds'];
}

const ISSUER = 'https://auth.caseops.test';
const TEAM = 'spiffe://caseops.test/team/claims';
const issuerKey = generateSigner();
const teamKey = generateSigner();

/** What a server must know: public keys only. A child process gets them from its parent. */
export interface PinnedKeys {
  readonly issuer: PublicJwk;
  readonly teamThumbprint: string;
}

export const issuerKeys: PinnedKeys = JSON.parse(
  process.env['CASEOPS_TEST_KEYS'] ??
    JSON.stringify({ issuer: issuerKey.publicJwk, teamThumbprint: teamKey.thumbprint }),
) as PinnedKeys;

const run = systemIds.next('run');

/** A lease of the team's for one tool server; every wish changes one thing. */
export function mint({ audience, use, actions, resources, bounds }: LeaseWish): HeldLease {
  const now = Math.floor(systemClock.nowMs() / 1_000);
  const claims: LeaseClaims = {
    iss: ISSUER,
    sub: 'requester@t9',
    aud: audience,
    client_id: 'team-claims',
    iat: now,
    nbf: now,
    exp: now + 120,
    jti: systemIds.next('lse'),
    cnf: { jkt: teamKey.thumbprint },
    act: { sub: TEAM, act: { sub: 'spiffe://caseops.test/supervisor' } },
    tenant: 't9',
    authorization_details: [
      {
        type: LEASE_DETAIL_TYPE,
        locations: [],
        actions: [...(actions ?? ['claims:read'])],
        resources: [...(resources ?? ['claim:C-102'])],
        datatypes: ['internal'],
        purpose: 'investigation',
        bounds: bounds ?? { claim_id: { exact: 'C-102' } },
      },
    ],
    task: { run, step: 's2', attempt: 1, task_id: 'task-1', context_id: 'context-1' },
    plan_digest: digestOf('plan'),
    policy_digest: digestOf('policy'),
    dlg: { depth: 1, max: 1, par: digestOf('parent') },
    use: use ?? 'single',
    txn: run,
  };
  return holdLease(signLease(issuerKey, claims), { signer: teamKey, clock: systemClock, ids: systemIds });
}

/** The guard of the server under this audience. */
export function guardFor(audience: string): Guard {
  return createGuard({
    boundary: 'mcp',
    audience,
    issuers: [{ issuer: ISSUER, keys: [issuerKeys.issuer] }],
    clock: systemClock,
    workloads: (jkt) => (jkt === issuerKeys.teamThumbprint ? TEAM : undefined),
  });
}
