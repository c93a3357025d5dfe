/**
 * The embedded lease issuer: mints for the supervisor inside its unit of work, and exchanges for teams at its token endpoint, so that
 * it sees each hop. Source: LEASE "Minting".
 */
import {
  LEASE_DETAIL_TYPE,
  LEASE_LIFETIME_S_DEFAULT,
  LEASE_LIFETIME_S_EFFECT,
  LEASE_LIFETIME_S_MAX,
} from '#contracts/lease.ts';
import type { LeaseClaims, RootGrant } from '#contracts/lease.ts';
import type { ControlLeaseRequest, EffectLeaseRequest, LeaseIssuer, Minted, WorkLeaseRequest } from '#ports/issuer.ts';
import type { PublicJwk } from '#ports/signer.ts';
import type { EmbeddedIssuerOptions } from './issuer-options.ts';
import { leaseRefused, leaseRowOf, toLeaseClaims } from './lease-claims.ts';
import { signLease } from './lease-token.ts';
import { holdLease } from './possession.ts';
import { createTokenEndpoint, type TokenAnswer, type TokenRequest } from './token-endpoint.ts';

export interface EmbeddedIssuer extends LeaseIssuer {
  /** RFC 8693 at the token endpoint. Never rejects for a bad request: every refusal is an answer. */
  handleTokenRequest(request: TokenRequest): Promise<TokenAnswer>;
  /** The JWK Set (RFC 7517) under which leases verify. */
  jwks(): JwkSet;
}

interface JwkSet {
  readonly keys: readonly (PublicJwk & { readonly kid: string; readonly alg: 'ES256'; readonly use: 'sig' })[];
}

const CONTROL_ACTIONS: Readonly<Record<string, 'task' | 'server'>> = {
  'task:read': 'task',
  'task:cancel': 'task',
  'task:subscribe': 'task',
  'task:list': 'server',
  'tool:discover': 'server',
};

export function createEmbeddedIssuer(options: EmbeddedIssuerOptions): EmbeddedIssuer {
  const { signer } = options;
  return {
    mintWork: (request) => mintWork(options, request),
    mintEffect: (request) => mintEffect(options, request),
    mintControl: (request) => mintControl(options, request),
    handleTokenRequest: createTokenEndpoint(options),
    jwks: () => ({ keys: [{ ...signer.publicJwk, kid: signer.thumbprint, alg: 'ES256', use: 'sig' }] }),
  };
}

/**
 * A lease for one step, inside what its user may do: refuses a prohibited action, one that the user lacks, a foreign purpose or
 * tenant, a supervisor whom the user has not named, an unknown audience, a lifetime over 300 s.
 */
function mintWork(options: EmbeddedIssuerOptions, request: WorkLeaseRequest): Minted {
  const { detail, grant, audience } = request;
  assertGrant(options, grant, request.tenant);
  assertWithinGoal(request);
  for (const target of [audience, ...detail.locations]) assertAudience(options, target);
  if (request.lifetimeS < 1 || request.lifetimeS > LEASE_LIFETIME_S_MAX) {
    throw leaseRefused(
      'lifetime',
      `Expected a lifetime of 1 to ${LEASE_LIFETIME_S_MAX} s, not ${request.lifetimeS} s, for step ${request.stepId}.`,
    );
  }
  if (request.use === 'control') throw leaseRefused('use', 'Expected a use of single or count:n for a work lease.');
  const { leaseId, lifetimeS, use } = request;
  const dlg = { depth: 0, max: request.delegationDepthMax };
  return issue(options, request, {
    leaseId,
    lifetimeS,
    use,
    dlg,
    detail: { type: LEASE_DETAIL_TYPE, ...detail },
    task: {},
  });
}

/** A lease for one effect under one approval, inside what its user may do: refused as work is. */
function mintEffect(options: EmbeddedIssuerOptions, request: EffectLeaseRequest): Minted {
  const { detail, grant, audience, leaseId, approval } = request;
  assertGrant(options, grant, request.tenant);
  assertWithinGoal(request);
  assertAudience(options, audience);
  return issue(options, request, {
    leaseId,
    lifetimeS: LEASE_LIFETIME_S_EFFECT,
    use: 'single',
    dlg: { depth: 0, max: 0 },
    detail: { type: LEASE_DETAIL_TYPE, ...detail },
    task: {},
    approval,
  });
}

/** A lease to read, cancel, subscribe to or list tasks, or to list tools: bound to its task where there is one, not consumed. */
function mintControl(options: EmbeddedIssuerOptions, request: ControlLeaseRequest): Minted {
  const { action, audience, taskId, contextId, grant } = request;
  assertGrant(options, grant, request.tenant);
  assertAudience(options, audience);
  const scope = Object.hasOwn(CONTROL_ACTIONS, action) ? CONTROL_ACTIONS[action] : undefined;
  if (scope === undefined) {
    throw leaseRefused(
      'action',
      `Expected ${Object.keys(CONTROL_ACTIONS).join(', ')} for a control lease, not ${action}.`,
    );
  }
  if ((scope === 'task') !== (taskId !== undefined)) {
    throw leaseRefused('task', `Expected a task id with ${action} exactly when it is about one task.`);
  }
  return issue(options, request, {
    leaseId: options.ids.next('lse'),
    lifetimeS: LEASE_LIFETIME_S_DEFAULT,
    use: 'control',
    dlg: { depth: 0, max: 0 },
    task: { task_id: taskId, context_id: contextId },
    detail: {
      type: LEASE_DETAIL_TYPE,
      locations: [audience],
      actions: [action],
      resources: [taskId === undefined ? 'server:self' : `task:${taskId}`],
      datatypes: [],
      purpose: 'control',
      bounds: {},
    },
  });
}

interface LeaseParts {
  readonly leaseId: string;
  readonly lifetimeS: number;
  readonly use: LeaseClaims['use'];
  readonly dlg: LeaseClaims['dlg'];
  readonly detail: LeaseClaims['authorization_details'][number];
  readonly task: Pick<LeaseClaims['task'], 'task_id' | 'context_id'>;
  readonly approval?: LeaseClaims['approval'];
}

function issue(
  options: EmbeddedIssuerOptions,
  request: WorkLeaseRequest | EffectLeaseRequest | ControlLeaseRequest,
  parts: LeaseParts,
): Minted {
  const { supervisor, signer, clock, ids } = options;
  const now = Math.floor(clock.nowMs() / 1_000);
  const claims = toLeaseClaims({
    iss: options.issuer,
    sub: request.grant.sub,
    aud: request.audience,
    client_id: supervisor.clientId,
    iat: now,
    nbf: now,
    exp: now + parts.lifetimeS,
    jti: parts.leaseId,
    cnf: { jkt: supervisor.signer.thumbprint },
    act: { sub: supervisor.workload },
    tenant: request.tenant,
    authorization_details: [parts.detail],
    task: {
      run: request.runId,
      step: request.stepId,
      attempt: request.attempt,
      ...parts.task,
    },
    plan_digest: request.planDigest,
    policy_digest: request.policyDigest,
    dlg: parts.dlg,
    use: parts.use,
    txn: request.runId,
    ...(parts.approval === undefined ? {} : { approval: parts.approval }),
  });
  const lease = holdLease(signLease(signer, claims), { signer: supervisor.signer, clock, ids });
  return { lease, row: leaseRowOf(claims, undefined) };
}

function assertGrant({ supervisor }: EmbeddedIssuerOptions, grant: RootGrant, tenant: string): void {
  if (grant.may_act.sub !== supervisor.workload) {
    throw leaseRefused('may_act', `Expected a grant that lets ${supervisor.workload} act; ${grant.sub} names another.`);
  }
  if (grant.tenant !== tenant) {
    throw leaseRefused('tenant', `Expected a lease of the grant's tenant ${grant.tenant}, not of ${tenant}.`);
  }
}

function assertWithinGoal({
  detail,
  grant,
  prohibitedActions,
  stepId,
}: Pick<WorkLeaseRequest, 'detail' | 'grant' | 'prohibitedActions' | 'stepId'>): void {
  for (const action of detail.actions) {
    if (prohibitedActions.includes(action)) {
      throw leaseRefused(
        'prohibited_action',
        `The goal prohibits ${action}; no lease for it is minted (step ${stepId}).`,
      );
    }
    if (!grant.actions.includes(action)) {
      throw leaseRefused('action', `Expected an action that ${grant.sub} may do; step ${stepId} asks for ${action}.`);
    }
  }
  if (!grant.purposes.includes(detail.purpose)) {
    throw leaseRefused('purpose', `Expected a purpose of ${grant.sub}; step ${stepId} asks for ${detail.purpose}.`);
  }
}

function assertAudience({ audiences }: EmbeddedIssuerOptions, audience: string): void {
  if (!audiences(audience)) {
    throw leaseRefused('audience', `Expected an audience that is known here, not ${audience.slice(0, 200)}.`);
  }
}
