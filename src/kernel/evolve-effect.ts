/** The part of the fold that concerns approvals and effects. Source: DESIGN §3.10, §4. */
import type { ApprovalState } from '#contracts/approval.ts';
import type { EffectState } from '#contracts/effect-row.ts';
import type { EventKind, RunEvent } from '#contracts/event.ts';
import type { ApprovalId, EffectId } from '#contracts/ids.ts';
import type { ApprovalCase, EffectCase } from './effect-state.ts';
import { keepEvidence, needPeople, withStep } from './evolve-step.ts';
import type { RunState } from './run-state.ts';
import { millisOf } from './time.ts';

type EventOf<K extends EventKind> = Extract<RunEvent, { readonly kind: K }>;

/** The step waits for its approvers from now on. */
export function requestApproval(state: RunState, { body, at }: EventOf<'approval.requested'>): void {
  const { approvalId, stepId, proposal } = body;
  withStep(state, stepId, (step) => {
    state.approvals.set(approvalId, {
      approvalId,
      stepId,
      proposal,
      requestedAt: at,
      state: 'pending',
      decisions: [],
      spentOn: undefined,
    });
    step.approvalId = approvalId;
    step.phase = 'waiting';
    state.readyEffects.delete(stepId);
    state.waitingEffects.add(stepId);
    if (state.phase === 'planned') state.phase = 'running';
  });
}

/** Notes a reviewer's decision; `to` is the state that follows when it is the last one needed. */
export function decideOn(to: ApprovalState) {
  return (state: RunState, { body }: EventOf<'approval.endorsed' | 'approval.granted' | 'approval.rejected'>): void =>
    withApproval(state, body.approvalId, (approval) => {
      approval.decisions.push(body.decision);
      approval.state = to;
    });
}

/** Ends an approval without a decision. */
export function closeApproval(to: ApprovalState) {
  return (state: RunState, { body }: EventOf<'approval.expired' | 'approval.staled' | 'approval.withdrawn'>): void => {
    withApproval(state, body.approvalId, (approval) => {
      approval.state = to;
    });
  };
}

/** INV-13: from here on it is good for this effect alone. */
export function spendApproval(state: RunState, { body }: EventOf<'approval.spent'>): void {
  withApproval(state, body.approvalId, (approval) => {
    approval.state = 'spent';
    approval.spentOn = body.effectId;
  });
}

export function intendEffect(state: RunState, { body, at }: EventOf<'effect.intended'>): void {
  const { effectId, approvalId, stepId, action, actionDigest, attempt, leaseId } = body;
  withStep(state, stepId, (step) => {
    const effect: EffectCase = {
      effectId,
      approvalId,
      stepId,
      action,
      actionDigest,
      intendedAt: at,
      boundMs: millisOf(at) + step.skill.timeoutMs,
      state: 'in_progress',
      attempt,
      leaseId,
      sent: false,
      receipt: undefined,
    };
    state.effects.set(effectId, effect);
    state.openEffects.set(effectId, effect);
    step.effectId = effectId;
  });
}

export function noteSent(state: RunState, { body }: EventOf<'effect.sent'>): void {
  withEffect(state, body.effectId, (effect) => {
    effect.sent = true;
  });
}

/** The effect is there; one that is not as it was approved needs a person. */
export function confirmEffect(state: RunState, { body }: EventOf<'effect.confirmed'>): void {
  endEffect(state, body.effectId, body.findings.length === 0 ? 'completed' : 'partially_completed');
  withEffect(state, body.effectId, (effect) => {
    effect.receipt = body.receipt;
    keepEvidence(state, body.evidence);
    if (body.findings.length > 0) needPeople(state);
  });
}

export function failEffect(state: RunState, { body }: EventOf<'effect.failed'>): void {
  endEffect(state, body.effectId, 'failed');
}

export function loseEffect(state: RunState, { body }: EventOf<'effect.unknown'>): void {
  withEffect(state, body.effectId, (effect) => {
    effect.state = 'unknown';
  });
}

/** The owner's `absent` opens the way to another attempt; what ends the effect otherwise follows as its own event. */
export function reconcileEffect(state: RunState, { body }: EventOf<'effect.reconciled'>): void {
  if (body.finding === 'applied') endEffect(state, body.effectId, 'completed');
  else
    withEffect(state, body.effectId, (effect) => {
      effect.state = 'not_started';
    });
}

export function retryEffect(state: RunState, { body }: EventOf<'effect.retried'>): void {
  withEffect(state, body.effectId, (effect) => {
    effect.state = 'in_progress';
    effect.attempt = body.attempt;
    effect.leaseId = body.leaseId;
    effect.sent = false;
  });
}

export function compensateEffect(state: RunState, { body }: EventOf<'effect.compensated'>): void {
  endEffect(state, body.effectId, 'compensated');
}

export function replayEffect(state: RunState, { body }: EventOf<'effect.replayed'>): void {
  if (body.evidence !== undefined) keepEvidence(state, body.evidence);
}

function withApproval(state: RunState, approvalId: ApprovalId, change: (approval: ApprovalCase) => void): void {
  const approval = state.approvals.get(approvalId);
  if (approval !== undefined) change(approval);
}

function withEffect(state: RunState, effectId: EffectId, change: (effect: EffectCase) => void): void {
  const effect = state.effects.get(effectId);
  if (effect !== undefined) change(effect);
}

function endEffect(state: RunState, effectId: EffectId, to: EffectState): void {
  withEffect(state, effectId, (effect) => {
    effect.state = to;
  });
  state.openEffects.delete(effectId);
}
