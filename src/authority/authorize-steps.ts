/**
 * Whether an authenticated lease covers one operation: binding → tenant, subject, actor → scope → chain → suspension → own policy →
 * kill switches, in the order of LEASE "Checking". Exact strings, no folding, no globbing.
 */
import { LEASE_LIFETIME_S_EFFECT } from '#contracts/lease.ts';
import type { Actor, LeaseClaims, LeaseDetail } from '#contracts/lease.ts';
import { checkBounds } from '#kernel/narrowing.ts';
import type { GuardOperation } from '#ports/guard.ts';
import type { GuardOptions } from './guard-options.ts';
import { deny, type GuardStep } from './guard-step.ts';

/** One operation under one lease. */
export interface Authorization {
  readonly lease: LeaseClaims;
  readonly detail: LeaseDetail;
  readonly workload: string;
  readonly operation: GuardOperation;
}

type Step = GuardStep<Authorization>;

export function authorizeSteps(options: GuardOptions): readonly Step[] {
  return [
    ...bindingSteps(options),
    ...identitySteps(),
    ...scopeSteps(options),
    ...chainSteps(options),
    ...ownDecisionSteps(options),
    ...(options.boundary === 'writer' ? approvalSteps() : []),
  ];
}

/** The actors of a chain, outermost first. */
function actorsOf(actor: Actor | undefined): readonly string[] {
  const actors: string[] = [];
  for (let at = actor; at !== undefined; at = at.act) actors.push(at.sub);
  return actors;
}

function bindingSteps({ boundary }: GuardOptions): readonly Step[] {
  return [
    {
      name: 'lease_kind',
      check: ({ lease, operation }) => {
        const kind = lease.use === 'control' ? 'control' : 'work';
        return kind === operation.lease
          ? undefined
          : deny('lease_kind', `Expected a ${operation.lease} lease for ${operation.action}; this is a ${kind} lease.`);
      },
    },
    {
      name: 'task',
      check: ({ lease, operation }) => {
        const named = lease.task.task_id;
        // A send at A2A names its task or makes one, so silence is compared as well; elsewhere the lease alone may know it.
        const compared = boundary === 'a2a' || operation.taskId !== undefined;
        return !compared || named === operation.taskId
          ? undefined
          : deny('task', 'Expected a lease bound to the task that is addressed.');
      },
    },
    {
      name: 'context',
      check: ({ lease, operation }) => {
        const named = lease.task.context_id;
        // A lease that names no context binds none; whose context it is, the receiver knows.
        return named === undefined || operation.contextId === undefined || named === operation.contextId
          ? undefined
          : deny('context', 'Expected a lease bound to the context that is addressed.');
      },
    },
    {
      name: 'run',
      check: ({ lease, operation: { run } }) =>
        run === undefined || run === lease.task.run
          ? undefined
          : deny('run', `Expected a lease of the run ${run.slice(0, 80)}.`),
    },
    {
      name: 'step',
      check: ({ lease: { task }, operation: { step, attempt } }) =>
        (step === undefined || step === task.step) && (attempt === undefined || attempt === task.attempt)
          ? undefined
          : deny('step', `Expected a lease of step ${step?.slice(0, 80)}, attempt ${attempt}.`),
    },
    {
      name: 'plan',
      check: ({ lease, operation: { planDigest } }) =>
        planDigest === undefined || planDigest === lease.plan_digest
          ? undefined
          : deny('plan', 'Expected a lease of the plan that the request follows.'),
    },
  ];
}

function identitySteps(): readonly Step[] {
  return [
    {
      name: 'tenant',
      check: ({ lease, operation: { tenant } }) =>
        tenant === undefined || tenant === lease.tenant
          ? undefined
          : deny('tenant', 'Expected a lease of the tenant that the request names.'),
    },
    {
      name: 'subject',
      check: ({ lease, operation: { subject } }) =>
        subject === undefined || subject === lease.sub
          ? undefined
          : deny('subject', 'Expected a lease for the person whom the request names.'),
    },
    {
      name: 'actor',
      check: ({ lease, workload }) =>
        lease.act.sub === workload
          ? undefined
          : deny('actor', `Expected the lease's actor to be the authenticated workload ${workload}.`),
    },
  ];
}

function scopeSteps({ boundary, audience }: GuardOptions): readonly Step[] {
  return [
    {
      name: 'action',
      check: ({ detail, operation: { action } }) =>
        detail.actions.includes(action) ? undefined : deny('action', `Expected a lease for ${action}.`),
    },
    {
      name: 'resource',
      check: ({ detail, operation }) => {
        const foreign = operation.resources.find((resource) => !detail.resources.includes(resource));
        const nameless =
          (boundary === 'mcp' || boundary === 'tool') && operation.lease === 'work' && operation.resources.length === 0;
        return foreign === undefined && !nameless
          ? undefined
          : deny('resource', `Expected a lease for ${foreign?.slice(0, 80) ?? 'a named resource'}.`);
      },
    },
    {
      name: 'location',
      check: ({ detail: { locations } }) =>
        // At A2A the locations are where children may go; a lease that ends its chain may name none.
        boundary === 'a2a' || locations.length === 0 || locations.includes(audience)
          ? undefined
          : deny('location', `Expected a lease that may be used at ${audience}.`),
    },
    {
      name: 'purpose',
      check: ({ detail, operation: { purpose } }) =>
        purpose === undefined || purpose === detail.purpose
          ? undefined
          : deny('purpose', `Expected a lease for the purpose ${purpose.slice(0, 80)}.`),
    },
    {
      name: 'datatype',
      check: ({ detail, operation: { datatypes } }) => {
        const foreign = datatypes.find((datatype) => !detail.datatypes.includes(datatype));
        return foreign === undefined
          ? undefined
          : deny('datatype', `Expected a lease for ${foreign.slice(0, 80)} data.`);
      },
    },
    {
      name: 'bounds',
      check: ({ detail, operation }) => {
        const [first] = operation.arguments === undefined ? [] : checkBounds(detail.bounds, operation.arguments);
        return first === undefined ? undefined : deny('bounds', first.message);
      },
    },
  ];
}

function chainSteps({ suspendedActor }: GuardOptions): readonly Step[] {
  return [
    {
      name: 'depth',
      check: ({ lease: { dlg } }) =>
        dlg.depth <= dlg.max || dlg.depth === 0
          ? undefined
          : deny('depth', `Expected a chain of at most ${dlg.max} exchanges; this lease says ${dlg.depth}.`),
    },
    {
      name: 'actor_chain',
      check: ({ lease }) => {
        const count = actorsOf(lease.act).length;
        const rooted = (lease.dlg.depth === 0) === (lease.dlg.par === undefined);
        return count === lease.dlg.depth + 1 && rooted
          ? undefined
          : deny('actor_chain', `Expected ${lease.dlg.depth + 1} actors and a parent for depth ${lease.dlg.depth}.`);
      },
    },
    {
      name: 'suspended_actor',
      check: ({ lease }) => {
        const suspended = suspendedActor && actorsOf(lease.act).find(suspendedActor);
        return suspended === undefined ? undefined : deny('actor_suspended', `The actor ${suspended} is suspended.`);
      },
    },
  ];
}

/** At the writer: one effect, soon, under exactly this approval of exactly this action. */
function approvalSteps(): readonly Step[] {
  return [
    {
      name: 'effect_use',
      check: ({ lease }) =>
        lease.use === 'single' && lease.exp - lease.iat <= LEASE_LIFETIME_S_EFFECT
          ? undefined
          : deny('effect_use', `Expected a lease for one effect, of at most ${LEASE_LIFETIME_S_EFFECT} s.`),
    },
    {
      name: 'approval',
      check: ({ lease, operation }) => {
        const held = lease.approval;
        const asked = operation.approval;
        const same = held !== undefined && held.id === asked?.id && held.digest === asked.digest;
        return same ? undefined : deny('approval', 'Expected a lease minted for this approval of this action.');
      },
    },
  ];
}

function ownDecisionSteps({ policy, policyDigest, killSwitch, audience }: GuardOptions): readonly Step[] {
  return [
    {
      name: 'policy_version',
      check: ({ lease }) =>
        policyDigest === undefined || lease.policy_digest === policyDigest
          ? undefined
          : deny('policy_version', 'Expected a lease minted under the policy now in force.'),
    },
    {
      name: 'policy',
      check: ({ lease, detail, workload, operation }) => {
        if (policy === undefined || operation.lease === 'control') return undefined;
        const types = new Set(operation.resources.map((resource) => resource.split(':', 1)[0] ?? ''));
        if (types.size === 0) types.add('none');
        for (const resourceType of types) {
          const { tenant, sub: subject } = lease;
          const { action } = operation;
          const answer = policy.decide({
            tenant,
            subject,
            actor: workload,
            action,
            resourceType,
            purpose: detail.purpose,
          });
          if (!answer.permit) return deny('policy', answer.reason);
        }
        return undefined;
      },
    },
    {
      name: 'kill_switch',
      check: ({ lease, operation: { action } }) => {
        const on = killSwitch?.({ tenant: lease.tenant, actors: actorsOf(lease.act), action, audience });
        return on === undefined ? undefined : deny('kill_switch', `The kill switch ${on} is on.`);
      },
    },
  ];
}
