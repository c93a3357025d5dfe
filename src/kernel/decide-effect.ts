/**
 * The life of an effect: intended under a spent approval, sent, read back, in doubt, tried again or found out. From doubt only the
 * owner's word that nothing was applied leads back to another attempt. INV-04, INV-12, INV-13. Source: DESIGN §3.10.
 */
import type { CommandOf } from '#contracts/command.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import type { EventDraft } from '#contracts/event.ts';
import { actionContentDigest } from './action-digest.ts';
import { goesOn } from './decide-approval.ts';
import { decided, type Decision, refused, violated } from './decision.ts';
import { settleCancellation } from './cancellation.ts';
import { conclude, type Draft, failStep, lift, openDraft } from './draft.ts';
import { checkConfirmed, settleConfirmed, settleUnproved } from './effect-result.ts';
import { type ApprovalCase, type EffectCase, effectsInProgress } from './effect-state.ts';
import { failure } from './failure.ts';
import { plannedRun, type PlannedRun } from './planned-run.ts';
import type { RunState, StepState } from './run-state.ts';
import { millisOf } from './time.ts';

/** Consumes the approval and freezes the action. Refuses whatever is not exactly what was approved, on exactly the version. */
export function decideIntendEffect(state: RunState, command: CommandOf<'intendEffect'>): Decision {
  const { approvalId, effectId, leaseId, liveVersion, policyDigest } = command;
  const approval = state.approvals.get(approvalId);
  const step = approval === undefined ? undefined : state.steps.get(approval.stepId);
  const run = plannedRun(state);
  if (approval === undefined || step === undefined || run === undefined)
    return violated('INV-04', `Effect ${effectId} names approval ${approvalId}, which run ${state.ref.runId} has not.`);
  if (approval.state === 'spent')
    return violated(
      'INV-13',
      `Approval ${approvalId} is spent on ${approval.spentOn}; it cannot be spent on ${effectId}.`,
    );
  const wrong = notStartable(state, command.at) ?? notApproved(approval, command) ?? moved(approval, command);
  if (wrong !== undefined) return { ok: false, error: wrong };
  const { action, actionDigest } = approval.proposal;
  const taken = [...state.effects.values()].find(
    (effect) => effect.effectId === effectId || effect.action.idempotencyKey === action.idempotencyKey,
  );
  if (taken !== undefined)
    return violated(
      'INV-12',
      `Key ${action.idempotencyKey} has effect ${taken.effectId}; ${effectId} would be a second.`,
    );
  return decided(
    { kind: 'approval.spent', body: { approvalId, effectId, leaseId } },
    {
      kind: 'effect.intended',
      body: {
        effectId,
        attempt: 1,
        approvalId,
        stepId: approval.stepId,
        planVersion: run.accepted.plan.version,
        action,
        actionDigest,
        contentDigest: actionContentDigest(action),
        leaseId,
        liveVersion,
        policyDigest,
      },
    },
  );
}

/** Notes what the target answered to an attempt. Told again, it changes nothing. */
export function decideNoteSent(state: RunState, command: CommandOf<'noteSent'>): Decision {
  const found = effectOf(state, command);
  if (!found.ok) return found;
  const { effectId, attempt, outcome, note } = command;
  if (found.effect.state !== 'in_progress' || found.effect.attempt !== attempt || found.effect.sent) return decided();
  return decided({ kind: 'effect.sent', body: { effectId, attempt, outcome, note: note.slice(0, NOTE_LENGTH_MAX) } });
}

/** Takes an effect that was read back. Told again, it changes nothing; a run that has ended only records it. */
export function decideConfirmEffect(state: RunState, command: CommandOf<'confirmEffect'>): Decision {
  const found = effectOf(state, command);
  if (!found.ok) return found;
  const { effect } = found;
  if (effect.receipt !== undefined) return decided();
  if (effect.state !== 'in_progress') return notIn(effect, 'in_progress');
  const { confirmed, actor } = command;
  const error = checkConfirmed(effect, confirmed);
  if (error !== undefined) return { ok: false, error };
  return closeEffect(state, { ...found, at: command.at, by: actor }, (draft, step) =>
    settleConfirmed(draft, step, { effect, confirmed }),
  );
}

/** Ends an effect that was certainly not applied. From doubt that is not certain. */
export function decideFailEffect(state: RunState, command: CommandOf<'failEffect'>): Decision {
  const found = effectOf(state, command);
  if (!found.ok) return found;
  const { effect } = found;
  const { error, actor, at } = command;
  if (effect.state === 'failed') return decided();
  if (effect.state !== 'in_progress' && effect.state !== 'not_started')
    return notIn(effect, 'in_progress or not_started');
  return closeEffect(state, { ...found, at, by: actor }, (draft, step) => failed(draft, step, { effect, error }));
}

/** The outcome is in doubt: nothing is sent again, and the run waits for the owner or a person. */
export function decideLoseEffect(state: RunState, command: CommandOf<'loseEffect'>): Decision {
  const found = effectOf(state, command);
  if (!found.ok) return found;
  const { effect } = found;
  if (effect.state === 'unknown') return decided();
  if (effect.state !== 'in_progress') return notIn(effect, 'in_progress');
  const { effectId, attempt } = effect;
  const unknown: EventDraft = {
    kind: 'effect.unknown',
    body: { effectId, attempt, note: command.note.slice(0, NOTE_LENGTH_MAX) },
  };
  const others = effectsInProgress(state).filter((other) => other !== effect);
  if (state.phase !== 'cancelling' || state.inFlight.size + others.length > 0) return decided(unknown);
  return decided(unknown, ...settleCancellation(state, command.at, { unresolved: [doubt(effect)] }));
}

/** Takes what was found of an effect in doubt, or of one under way when its process died. */
export function decideReconcileEffect(state: RunState, command: CommandOf<'reconcileEffect'>): Decision {
  const found = effectOf(state, command);
  if (!found.ok) return found;
  const { effect } = found;
  const { finding, source, confirmed, actor, at } = command;
  if (effect.state !== 'unknown' && effect.state !== 'in_progress') return notIn(effect, 'unknown');
  if (effect.state === 'in_progress' && source === 'person') return notIn(effect, 'unknown');
  const error = confirmed === undefined ? undefined : checkConfirmed(effect, confirmed);
  if (error !== undefined) return { ok: false, error };
  const note = command.note.slice(0, NOTE_LENGTH_MAX);
  const { effectId, attempt } = effect;
  const reconciled: EventDraft = {
    kind: 'effect.reconciled',
    body: { effectId, attempt, by: actor, finding, source, note },
  };
  if (finding === 'absent' && source === 'owner') return takeAbsence(state, { ...found, at, by: actor }, reconciled);
  return closeEffect(state, { ...found, at, by: actor }, (draft, step) => {
    draft.events.push(reconciled);
    if (finding === 'absent') {
      const message = `${actor} found that effect ${effectId} was not applied: ${note}`;
      failed(draft, step, { effect, error: failure('ERR_EFFECT_REFUSED', message) });
    } else if (confirmed === undefined) settleUnproved(draft, step, { effect, by: actor, note });
    else settleConfirmed(draft, step, { effect, confirmed });
  });
}

/** Begins another attempt under the same key: only after the owner said that nothing was applied, on the approved version, in time. */
export function decideRetryEffect(state: RunState, command: CommandOf<'retryEffect'>): Decision {
  const found = effectOf(state, command);
  if (!found.ok) return found;
  const { effect, step } = found;
  const { effectId, attempt, leaseId, liveVersion, at } = command;
  if (effect.state !== 'not_started')
    return violated('INV-12', `Effect ${effectId} is ${effect.state}; only what was not started is tried again.`);
  const approval = state.approvals.get(effect.approvalId);
  if (approval === undefined) return violated('INV-04', `Effect ${effectId} has no approval ${effect.approvalId}.`);
  if (step.phase !== 'waiting')
    return refused(
      'ERR_STATE',
      `Step ${step.definition.stepId} is ${step.phase}; effect ${effectId} is not tried again.`,
    );
  if (attempt !== effect.attempt + 1 || attempt > step.skill.retry.attemptCountMax)
    return refused(
      'ERR_ATTEMPTS',
      `Effect ${effectId} had attempt ${effect.attempt}; ${attempt} is not one of ${step.skill.retry.attemptCountMax}.`,
    );
  const wrong = notStartable(state, at) ?? expired(approval, at) ?? moved(approval, command);
  if (wrong !== undefined) return { ok: false, error: wrong };
  return decided({ kind: 'effect.retried', body: { effectId, attempt, leaseId, liveVersion } });
}

/** Notes that an applied effect was undone; also long after the run has ended. */
export function decideCompensateEffect(state: RunState, command: CommandOf<'compensateEffect'>): Decision {
  const found = effectOf(state, command);
  if (!found.ok) return found;
  const { effect } = found;
  if (effect.state === 'compensated') return decided();
  if (effect.state !== 'completed' && effect.state !== 'partially_completed') return notIn(effect, 'completed');
  const { effectId, attempt } = effect;
  const note = command.note.slice(0, NOTE_LENGTH_MAX);
  return decided({ kind: 'effect.compensated', body: { effectId, attempt, by: command.actor, note } });
}

const NOTE_LENGTH_MAX = 500;

type Found = { readonly ok: true; readonly effect: EffectCase; readonly step: StepState; readonly run: PlannedRun };

function effectOf(
  state: RunState,
  { effectId }: Pick<CommandOf<'noteSent'>, 'effectId'>,
): Found | Extract<Decision, { ok: false }> {
  const effect = state.effects.get(effectId);
  const step = effect === undefined ? undefined : state.steps.get(effect.stepId);
  const run = plannedRun(state);
  if (effect !== undefined && step !== undefined && run !== undefined) return { ok: true, effect, step, run };
  return { ok: false, error: failure('ERR_NOT_FOUND', `Run ${state.ref.runId} has no effect ${effectId}.`) };
}

/** Ends an effect and its step, unless the step is over already: then what was found is only recorded. */
function closeEffect(
  state: RunState,
  of: Found & { readonly at: string; readonly by: string },
  settle: (draft: Draft, step: StepState | undefined) => void,
): Decision {
  const { run, step, effect, at, by } = of;
  const draft = openDraft(state, run, at);
  draft.endedEffects.add(effect.effectId);
  const open = step.phase === 'waiting' && state.phase !== 'ended';
  settle(draft, open ? step : undefined);
  if (!open) return { ok: true, events: draft.events };
  lift(draft, by);
  return state.phase === 'cancelling' ? endCancelled(draft) : conclude(draft);
}

/** A cancellation that waited for this effect alone is over with it. */
function endCancelled(draft: Draft): Decision {
  const { state, events, at } = draft;
  const others = effectsInProgress(state).filter(({ effectId }) => !draft.endedEffects.has(effectId));
  if (state.inFlight.size + others.length === 0) settleCancellation(state, at, { unresolved: [], begun: draft });
  return { ok: true, events };
}

function takeAbsence(
  state: RunState,
  of: Found & { readonly at: string; readonly by: string },
  reconciled: EventDraft,
): Decision {
  const draft = openDraft(state, of.run, of.at);
  draft.events.push(reconciled);
  // Its step was closed while the effect was in doubt: with this word the effect is over too, and nothing else changes.
  if (of.step.phase !== 'waiting' || state.phase === 'ended') {
    const message = `Effect ${of.effect.effectId} was not applied, and step ${of.step.definition.stepId} is over.`;
    failed(draft, undefined, { effect: of.effect, error: failure('ERR_EFFECT_REFUSED', message) });
    return { ok: true, events: draft.events };
  }
  lift(draft, of.by);
  // Nothing is tried again in a run that is being cancelled: it waited for this word alone.
  if (state.phase === 'cancelling') {
    draft.endedEffects.add(of.effect.effectId);
    const error = failure('ERR_CANCELLED', `Effect ${of.effect.effectId} was not applied, and the run is cancelled.`);
    failed(draft, of.step, { effect: of.effect, error });
    return endCancelled(draft);
  }
  return { ok: true, events: draft.events };
}

function failed(
  draft: Draft,
  step: StepState | undefined,
  of: { readonly effect: EffectCase; readonly error: ErrorRecord },
): void {
  const { effectId, attempt } = of.effect;
  draft.events.push({ kind: 'effect.failed', body: { effectId, attempt, error: of.error } });
  if (step !== undefined) failStep(draft, step, of.error);
}

function doubt({ stepId, effectId }: EffectCase): { readonly stepId: string; readonly reason: string } {
  return { stepId, reason: `It is not known whether effect ${effectId} was applied; it must be reconciled.` };
}

function notStartable(state: RunState, at: string): ErrorRecord | undefined {
  if (state.cancelRequested !== undefined)
    return failure('ERR_CANCELLED', `Run ${state.ref.runId} is cancelled; no effect is begun at ${at}.`);
  if (goesOn(state)) return undefined;
  return failure('ERR_STATE', `Run ${state.ref.runId} is ${state.phase}; no effect is begun at ${at}.`);
}

function notApproved(approval: ApprovalCase, command: CommandOf<'intendEffect'>): ErrorRecord | undefined {
  const { approvalId, proposal } = approval;
  if (approval.state !== 'approved')
    return failure('ERR_APPROVAL_STATE', `Approval ${approvalId} is ${approval.state}, not approved.`);
  if (command.actionDigest !== proposal.actionDigest)
    return failure(
      'ERR_APPROVAL_DIGEST',
      `Approval ${approvalId} is for action ${proposal.actionDigest}, not for ${command.actionDigest}.`,
    );
  return expired(approval, command.at);
}

function expired({ approvalId, proposal }: ApprovalCase, at: string): ErrorRecord | undefined {
  if (millisOf(proposal.expiresAt) > millisOf(at)) return undefined;
  return failure('ERR_APPROVAL_EXPIRED', `Approval ${approvalId} expired at ${proposal.expiresAt}.`);
}

function moved(
  { approvalId, proposal }: ApprovalCase,
  live: Pick<CommandOf<'intendEffect'>, 'liveVersion' | 'policyDigest'>,
): ErrorRecord | undefined {
  const { expectedVersion } = proposal.action;
  if (live.liveVersion !== expectedVersion)
    return failure(
      'ERR_APPROVAL_STALE',
      `Approval ${approvalId} is for version ${expectedVersion}; the resource is at ${live.liveVersion}.`,
    );
  if (live.policyDigest !== proposal.rule.policyDigest)
    return failure(
      'ERR_APPROVAL_STALE',
      `Approval ${approvalId} was given under another policy than the one in force.`,
    );
  return undefined;
}

function notIn(effect: EffectCase, expected: string): Decision {
  return refused('ERR_STATE', `Effect ${effect.effectId} is ${effect.state}, not ${expected}.`);
}
