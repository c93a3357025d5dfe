/**
 * A small world of leases for tests, the authority lab and the bench: a supervisor, a claims team with its tool server, an embedded
 * issuer, guards at both doors. Time stands still until it is advanced. Everything it makes is lawful; a test changes one thing.
 */
import { sha256Base64Url, sha256Digest } from '#authority/sha256.ts';
import { createEmbeddedIssuer, type EmbeddedIssuer } from '#authority/embedded-issuer.ts';
import { generateSigner } from '#authority/es256.ts';
import { createGuard } from '#authority/guard.ts';
import type { GuardOptions } from '#authority/guard-options.ts';
import type { LeaseRegistry } from '#authority/issuer-options.ts';
import { createPolicyTable } from '#authority/policy-table.ts';
import type { LeaseClaims, LeaseDetail, RootGrant } from '#contracts/lease.ts';
import type { Clock } from '#ports/clock.ts';
import type { Guard, GuardOperation, GuardRequest } from '#ports/guard.ts';
import type { Ids } from '#ports/ids.ts';
import type { WorkLeaseRequest } from '#ports/issuer.ts';
import type { PolicyDecisionPoint } from '#ports/policy.ts';
import type { Signer } from '#ports/signer.ts';
import { seededClock, type SeededClock } from './seeded-clock.ts';
import { seededIds } from './seeded-ids.ts';

/** 2026-07-22T15:00:00Z. */
const WORLD_START_MS = 1_784_732_400_000;
export const ISSUER = 'https://auth.caseops.test';
export const TOKEN_ENDPOINT = 'https://auth.caseops.test/token';
export const TEAM = 'https://team-claims.test/a2a';
export const TOOLS = 'https://team-claims.test/mcp';
export const SUPERVISOR_WORKLOAD = 'spiffe://caseops.test/supervisor';
export const TEAM_WORKLOAD = 'spiffe://caseops.test/team/claims';
export const PLAN_DIGEST = sha256Digest('plan');

export interface LeaseWorld {
  readonly clock: SeededClock;
  readonly ids: Ids;
  readonly issuerKey: Signer;
  readonly supervisorKey: Signer;
  readonly teamKey: Signer;
  readonly policy: PolicyDecisionPoint;
  readonly grant: RootGrant;
  /** Claims of a work lease for the team, valid now. */
  claims(over?: Readonly<Record<string, unknown>>): LeaseClaims;
  /** A guard at the team's door; `over` moves or changes it. */
  guard(over?: Partial<GuardOptions>): Guard;
  issuer(registry: LeaseRegistry): EmbeddedIssuer;
  workRequest(over?: Partial<WorkLeaseRequest>): WorkLeaseRequest;
}

const detail: Omit<LeaseDetail, 'type'> = {
  locations: [TOOLS],
  actions: ['claims:read'],
  resources: ['claim:C-102'],
  datatypes: ['internal'],
  purpose: 'completeness-check',
  bounds: { claim_id: { exact: 'C-102' }, row_count: { max: 50 }, fields: { subset: ['status', 'documents'] } },
};

export function leaseWorld(): LeaseWorld {
  const clock = seededClock(WORLD_START_MS);
  const ids = seededIds('world');
  const [issuerKey, supervisorKey, teamKey] = [generateSigner(), generateSigner(), generateSigner()];
  const policy = createPolicyTable(
    [SUPERVISOR_WORKLOAD, TEAM_WORKLOAD].map((actor) => ({
      actor,
      action: 'claims:read',
      resourceType: 'claim',
      purpose: 'completeness-check',
      tenants: ['t9'],
    })),
  );
  const workloads = new Map([
    [supervisorKey.thumbprint, SUPERVISOR_WORKLOAD],
    [teamKey.thumbprint, TEAM_WORKLOAD],
  ]);
  const grant: RootGrant = {
    sub: 'requester@t9',
    tenant: 't9',
    purposes: ['completeness-check'],
    actions: ['claims:read', 'notify:send'],
    may_act: { sub: SUPERVISOR_WORKLOAD },
    roles: ['requester'],
  };
  const parts = { clock, ids, issuerKey, supervisorKey, teamKey, policy, grant };
  return {
    ...parts,
    claims: (over = {}) => Object.assign(workClaims(parts), over),
    guard: (over = {}) =>
      createGuard({
        boundary: 'a2a',
        audience: TEAM,
        issuers: [{ issuer: ISSUER, keys: [issuerKey.publicJwk] }],
        clock,
        workloads: (jkt) => workloads.get(jkt),
        policy,
        policyDigest: policy.digest,
        ...over,
      }),
    issuer: (registry) => embeddedIssuer(parts, registry),
    workRequest: (over = {}) => ({
      leaseId: ids.next('lse'),
      grant,
      tenant: 't9',
      runId: 'run_world-000001',
      stepId: 's2',
      attempt: 1,
      audience: TEAM,
      detail,
      planDigest: PLAN_DIGEST,
      policyDigest: policy.digest,
      prohibitedActions: ['notify:send'],
      delegationDepthMax: 1,
      use: 'count:4',
      lifetimeS: 120,
      ...over,
    }),
  };
}

/** The operation that `claims()` permits at the team's door; `over` changes one thing. */
export function sendOperation(over: Partial<GuardOperation> = {}): GuardOperation {
  return {
    action: 'claims:read',
    resources: ['claim:C-102'],
    purpose: 'completeness-check',
    datatypes: ['internal'],
    arguments: { claim_id: 'C-102', row_count: 10, fields: ['status'] },
    tenant: 't9',
    subject: 'requester@t9',
    run: 'run_world-000001',
    step: 's2',
    attempt: 1,
    planDigest: PLAN_DIGEST,
    taskId: undefined,
    contextId: undefined,
    lease: 'work',
    ...over,
  };
}

export interface Presented {
  readonly token: string;
  readonly holder: Signer;
  readonly clock: Clock;
  readonly jti: string;
  readonly target?: string;
  readonly body?: string;
  /** Over the proof's claims and header. */
  readonly proof?: Readonly<Record<string, unknown>>;
  readonly proofHeader?: Readonly<Record<string, unknown>>;
}

/** A request that presents a token with a proof, built by hand so that any part of it can be wrong. */
export function presented(facts: Presented): GuardRequest {
  const { token, holder, clock, jti, target = TEAM, body = '{"q":1}' } = facts;
  const claims = {
    jti,
    htm: 'POST',
    htu: target,
    iat: Math.floor(clock.nowMs() / 1_000),
    ath: sha256Base64Url(token),
    caseops_bdg: sha256Base64Url(body),
    ...facts.proof,
  };
  return {
    authorization: `DPoP ${token}`,
    proof: holder.sign({ typ: 'dpop+jwt', jwk: holder.publicJwk, ...facts.proofHeader }, claims),
    method: 'POST',
    target,
    body: new TextEncoder().encode(body),
  };
}

function workClaims(parts: Pick<LeaseWorld, 'clock' | 'supervisorKey' | 'policy'>): LeaseClaims {
  const now = Math.floor(parts.clock.nowMs() / 1_000);
  return {
    iss: ISSUER,
    sub: 'requester@t9',
    aud: TEAM,
    client_id: 'supervisor',
    iat: now,
    nbf: now,
    exp: now + 120,
    jti: 'lse_world-lease',
    cnf: { jkt: parts.supervisorKey.thumbprint },
    act: { sub: SUPERVISOR_WORKLOAD },
    tenant: 't9',
    authorization_details: [{ type: 'urn:caseops:lease:v1', ...detail }],
    task: { run: 'run_world-000001', step: 's2', attempt: 1 },
    plan_digest: PLAN_DIGEST,
    policy_digest: parts.policy.digest,
    dlg: { depth: 0, max: 1 },
    use: 'count:4',
    txn: 'run_world-000001',
  };
}

function embeddedIssuer(
  parts: Pick<LeaseWorld, 'clock' | 'ids' | 'issuerKey' | 'supervisorKey' | 'teamKey'>,
  registry: LeaseRegistry,
): EmbeddedIssuer {
  const { clock, ids, issuerKey, supervisorKey, teamKey } = parts;
  const team = {
    clientId: 'team-claims',
    workload: TEAM_WORKLOAD,
    publicJwk: teamKey.publicJwk,
    audiences: [TEAM],
  };
  return createEmbeddedIssuer({
    issuer: ISSUER,
    tokenEndpoint: TOKEN_ENDPOINT,
    signer: issuerKey,
    clock,
    ids,
    supervisor: { workload: SUPERVISOR_WORKLOAD, clientId: 'supervisor', signer: supervisorKey },
    audiences: (audience) => [TEAM, TOOLS].includes(audience),
    clients: (clientId) => (clientId === team.clientId ? team : undefined),
    registry,
  });
}
