/**
 * An operation in the guard's words. A send is authorised once per action of its dispatch under a work lease; everything else takes a
 * control lease that is bound to the task. Source: LEASE "Control leases", "Checking".
 */
import type { Dispatch } from '#contracts/dispatch.ts';
import type { Action } from '#contracts/ids.ts';
import type { Authenticated, Checked, Guard, GuardOperation } from '#ports/guard.ts';
import type { TaskView } from '#ports/team-door.ts';
import type { TeamDefinition } from '#ports/team-definition.ts';
import type { Operation } from './operation.ts';

/** Actions of control leases at a team. */
const CONTROL_ACTIONS = {
  get: 'task:read',
  subscribe: 'task:subscribe',
  cancel: 'task:cancel',
  list: 'task:list',
} as const satisfies Partial<Record<Operation['kind'], Action>>;

type ControlKind = keyof typeof CONTROL_ACTIONS;

/** What a control operation says about itself: the task it names, as the record has it. */
export interface ControlTarget {
  readonly kind: ControlKind;
  readonly tenant: string | undefined;
  readonly taskId: string | undefined;
  /** The caller's own task when it exists: then run, step and plan are compared with the lease too. */
  readonly task: TaskView | undefined;
}

export interface SendTarget {
  readonly dispatch: Dispatch;
  /** As path or parameters say, beside the dispatch. */
  readonly tenant: string | undefined;
  readonly contextId: string | undefined;
}

/** One per action, so that a lease for one of two actions is refused. */
export function sendOperations(target: SendTarget, team: TeamDefinition): readonly GuardOperation[] {
  const { dispatch } = target;
  const skill = team.skills.find(
    (offered) => offered.skillId === dispatch.skillId && offered.version === dispatch.skillVersion,
  );
  return dispatch.actions.map((action) => ({
    action,
    resources: dispatch.resources,
    purpose: dispatch.purpose,
    datatypes: skill?.datatypes ?? [],
    arguments: dispatch.input,
    tenant: dispatch.tenant,
    subject: dispatch.subject,
    run: dispatch.runId,
    step: dispatch.stepId,
    attempt: dispatch.attempt,
    planDigest: dispatch.planDigest,
    taskId: undefined,
    contextId: target.contextId,
    lease: 'work',
  }));
}

export function controlOperation(target: ControlTarget): GuardOperation {
  const { task } = target;
  return {
    action: CONTROL_ACTIONS[target.kind],
    resources: [],
    purpose: undefined,
    datatypes: [],
    arguments: undefined,
    tenant: target.tenant,
    subject: undefined,
    run: task?.run,
    step: task?.step,
    attempt: task?.attempt,
    planDigest: task?.planDigest,
    taskId: target.taskId,
    contextId: task?.contextId,
    lease: 'control',
  };
}

/** All must be permitted; the first refusal is the answer. */
export function authorizeAll(
  guard: Guard,
  authenticated: Authenticated,
  operations: readonly GuardOperation[],
): Checked<Authenticated> {
  for (const operation of operations) {
    const checked = guard.authorize(authenticated, operation);
    if (checked.outcome !== 'permit') return checked;
  }
  return { outcome: 'permit', value: authenticated };
}

/** What the guard cannot see, because it is said twice in one request: the two must agree. */
export function sendContradiction(target: SendTarget, team: TeamDefinition): string | undefined {
  const { dispatch, tenant } = target;
  if (tenant !== undefined && tenant !== dispatch.tenant) return 'The request names another tenant than its dispatch.';
  if (dispatch.team !== team.name) return `The dispatch is for team ${dispatch.team}; this is ${team.name}.`;
  return undefined;
}
