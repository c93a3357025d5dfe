/**
 * Putting actions before approvers, and taking what they decide. An approval is bound to the action's digest, the view that was shown,
 * the policy and its expiry; the approver is not the requester. INV-04, INV-13. Source: DESIGN §3.10.
 */
import type { ApprovalDecision } from '#contracts/approval.ts';
import type { CommandOf } from '#contracts/command.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import type { EventBody, EventDraft } from '#contracts/event.ts';
import { decided, type Decision, refused } from './decision.ts';
import { conclude, type Draft, failStep, lift, openDraft } from './draft.ts';
import { type ApprovalCase, isEffectStep, openApproval } from './effect-state.ts';
import { failure } from './failure.ts';
import { liftPeopleBlock, peopleBlock, waitsForPeople } from './people-block.ts';
import { plannedRun, type PlannedRun } from './planned-run.ts';
import { checkProposal } from './proposal-check.ts';
import type { RunState, StepState } from './run-state.ts';
import { millisOf } from './time.ts';

/** Puts the action of a ready effect step before its approvers, or a new one after the last went stale. */
export function decideRequestApproval(state: RunState, command: CommandOf<'requestApproval'>): Decision {
  const { stepId, planVersion, proposal, at, actor } = command;
  const run = plannedRun(state);
  const step = state.steps.get(stepId);
  if (run === undefined || step === undefined || !goesOn(state))
    return refused('ERR_STATE', `Run ${state.ref.runId} is ${state.phase}; step ${stepId} proposes nothing.`);
  if (!isEffectStep(step) || planVersion !== run.accepted.plan.version)
    return refused('ERR_STATE', `Step ${stepId} of plan version ${planVersion} has no effect to propose.`);
  if (step.phase !== 'ready' && openApproval(state, step)?.state !== 'stale')
    return refused(
      'ERR_STATE',
      `Step ${stepId} is ${step.phase}; it proposes when it is ready or its approval is stale.`,
    );
  const error = checkProposal(proposal, { state, run, step, at });
  if (error !== undefined) return { ok: false, error };
  return decided(
    { kind: 'approval.requested', body: { approvalId: proposal.approvalId, stepId, planVersion, proposal } },
    ...liftPeopleBlock(state, actor),
  );
}

/**
 * Takes a reviewer's decision. The same decision again changes nothing and is no error. Refuses another digest or view
 * (ERR_APPROVAL_DIGEST), a wrong or partial approver (ERR_APPROVER), an expired request (ERR_APPROVAL_EXPIRED), and any decision on
 * what is not pending (ERR_APPROVAL_STATE). Under a policy that has moved the approval goes stale. A rejection ends its step.
 */
export function decideApproval(state: RunState, command: CommandOf<'decideApproval'>): Decision {
  const { approvalId, decision, policyDigest, at } = command;
  const found = placeOf(state, approvalId);
  if (found === undefined) return refused('ERR_NOT_FOUND', `Run ${state.ref.runId} has no approval ${approvalId}.`);
  const { approval, run, step } = found;
  if (isRepeated(approval, decision)) return decided();
  if (approval.state !== 'pending' || !goesOn(state))
    return refused(
      'ERR_APPROVAL_STATE',
      `Approval ${approvalId} is ${approval.state} in a run that is ${state.phase}.`,
    );
  const wrong = wrongDecision(approval, decision, at) ?? wrongApprover(approval, decision);
  if (wrong !== undefined) return { ok: false, error: wrong };
  const { rule } = approval.proposal;
  if (policyDigest !== rule.policyDigest)
    return staled(state, { approvalId, field: 'policy_version', expected: rule.policyDigest, got: policyDigest });
  if (decision.disposition === 'rejected') return reject(openDraft(state, run, at), { approval, step, decision });
  if (approval.decisions.length + 1 < rule.quorumCount)
    return decided({ kind: 'approval.endorsed', body: { approvalId, decision } });
  return decided({ kind: 'approval.granted', body: { approvalId, decision } }, ...liftPeopleBlock(state, decision.by));
}

/** Takes the request back: only the requester, and only until it is spent. The step ends without its effect. */
export function decideWithdrawApproval(state: RunState, command: CommandOf<'withdrawApproval'>): Decision {
  const { approvalId, reason, at, actor } = command;
  const found = placeOf(state, approvalId);
  if (found === undefined) return refused('ERR_NOT_FOUND', `Run ${state.ref.runId} has no approval ${approvalId}.`);
  const { approval, run, step } = found;
  if (openApproval(state, step) !== approval || !goesOn(state))
    return refused(
      'ERR_APPROVAL_STATE',
      `Approval ${approvalId} is ${approval.state} in a run that is ${state.phase}.`,
    );
  if (actor !== approval.proposal.action.requestedBy)
    return refused('ERR_APPROVER', `Only ${approval.proposal.action.requestedBy} may withdraw approval ${approvalId}.`);
  const draft = openDraft(state, run, at);
  draft.events.push({ kind: 'approval.withdrawn', body: { approvalId, by: actor, reason } });
  lift(draft, actor);
  failStep(draft, step, failure('ERR_APPROVAL_WITHDRAWN', `${actor} withdrew approval ${approvalId}: ${reason}`));
  return conclude(draft);
}

/** Notes that a bound field moved: what was approved is not what would be applied. Nothing but a new proposal helps then. */
export function decideStaleApproval(state: RunState, command: CommandOf<'staleApproval'>): Decision {
  const { approvalId, field, expected, got } = command;
  const approval = state.approvals.get(approvalId);
  if (approval === undefined) return refused('ERR_NOT_FOUND', `Run ${state.ref.runId} has no approval ${approvalId}.`);
  if (approval.state === 'stale') return decided();
  if (approval.state !== 'pending' && approval.state !== 'approved')
    return refused('ERR_APPROVAL_STATE', `Approval ${approvalId} is ${approval.state}; it cannot go stale.`);
  return staled(state, { approvalId, field, expected, got });
}

/** A wait for its decision is over; the next wait is for a new proposal. */
function staled(state: RunState, body: EventBody<'approval.staled'>): Decision {
  return decided({ kind: 'approval.staled', body }, ...liftPeopleBlock(state, 'kernel'));
}

/** Stands still for people when nothing goes on without them. */
export function decideAwaitPeople(state: RunState, _command: CommandOf<'awaitPeople'>): Decision {
  const blocked = peopleBlock(state);
  if (blocked === undefined)
    return refused('ERR_STATE', `Run ${state.ref.runId} is ${state.phase} and does not only wait for people.`);
  return decided({ kind: 'run.blocked', body: blocked });
}

/** Ends the requests that nobody decided, or whose effect was not begun, in their time. */
export function expireApprovals(draft: Draft): void {
  const { state, at } = draft;
  for (const stepId of state.waitingEffects) {
    const step = state.steps.get(stepId);
    const approval = step === undefined ? undefined : openApproval(state, step);
    if (step === undefined || approval === undefined || millisOf(approval.proposal.expiresAt) > millisOf(at)) continue;
    const { approvalId, proposal } = approval;
    draft.events.push({ kind: 'approval.expired', body: { approvalId, expiresAt: proposal.expiresAt } });
    lift(draft, 'kernel');
    const message = `Approval ${approvalId} expired at ${proposal.expiresAt}; it was ${approval.state}.`;
    failStep(draft, step, failure('ERR_APPROVAL_EXPIRED', message));
  }
}

/** Planned, running, or standing still only for people. */
export function goesOn(state: RunState): boolean {
  if (state.phase === 'planned' || state.phase === 'running') return true;
  return state.blocked !== undefined && waitsForPeople(state.blocked);
}

interface Place {
  readonly approval: ApprovalCase;
  readonly run: PlannedRun;
  readonly step: StepState;
}

function placeOf(state: RunState, approvalId: ApprovalCase['approvalId']): Place | undefined {
  const approval = state.approvals.get(approvalId);
  const step = approval === undefined ? undefined : state.steps.get(approval.stepId);
  const run = plannedRun(state);
  return approval === undefined || step === undefined || run === undefined ? undefined : { approval, run, step };
}

/** The reviewer has said so before: a second submission, or a replay of the first. */
function isRepeated({ decisions, proposal }: ApprovalCase, decision: ApprovalDecision): boolean {
  if (decision.actionDigest !== proposal.actionDigest) return false;
  return decisions.some(({ by, disposition }) => by === decision.by && disposition === decision.disposition);
}

function wrongDecision(
  { approvalId, proposal }: ApprovalCase,
  decision: ApprovalDecision,
  at: string,
): ErrorRecord | undefined {
  if (decision.actionDigest !== proposal.actionDigest)
    return failure(
      'ERR_APPROVAL_DIGEST',
      `Approval ${approvalId} is for action ${proposal.actionDigest}; the decision is about ${decision.actionDigest}.`,
    );
  if (decision.viewDigest !== proposal.viewDigest)
    return failure('ERR_APPROVAL_DIGEST', `Approval ${approvalId} was decided on another view than its action's.`);
  if (decision.disposition !== 'approved' && (decision.reason ?? '').trim() === '')
    return failure('ERR_USAGE', `Approval ${approvalId}: ${decision.disposition} needs a written reason.`);
  if (millisOf(proposal.expiresAt) <= millisOf(at))
    return failure('ERR_APPROVAL_EXPIRED', `Approval ${approvalId} expired at ${proposal.expiresAt}.`);
  return undefined;
}

function wrongApprover(
  { approvalId, proposal, decisions }: ApprovalCase,
  decision: ApprovalDecision,
): ErrorRecord | undefined {
  const { rule, action } = proposal;
  const { by, role, channel } = decision;
  if (channel === 'policy' || by.startsWith('policy:')) {
    const named = `policy:${rule.policyName}@${rule.policyDigest}`;
    if (rule.mode === 'policy' && channel === 'policy' && by === named) return undefined;
    return failure('ERR_APPROVER', `Approval ${approvalId} asks for a ${rule.mode}; ${by} may not decide it.`);
  }
  if (by === action.requestedBy)
    return failure('ERR_APPROVER', `${by} asked for approval ${approvalId} and may not decide it.`);
  if (role !== rule.role)
    return failure(
      'ERR_APPROVER',
      `Approval ${approvalId} is decided in the role ${rule.role}; ${by} acts as ${role}.`,
    );
  if (decisions.some((earlier) => earlier.by === by))
    return failure('ERR_APPROVAL_STATE', `${by} has decided approval ${approvalId} already, otherwise.`);
  return undefined;
}

function reject(
  draft: Draft,
  of: { readonly approval: ApprovalCase; readonly step: StepState; readonly decision: ApprovalDecision },
): Decision {
  const { approval, step, decision } = of;
  const { approvalId } = approval;
  const rejected: EventDraft = { kind: 'approval.rejected', body: { approvalId, decision } };
  draft.events.push(rejected);
  lift(draft, decision.by);
  const message = `${decision.by} rejected approval ${approvalId}: ${decision.reason}`;
  failStep(draft, step, failure('ERR_APPROVAL_REJECTED', message));
  return conclude(draft);
}
