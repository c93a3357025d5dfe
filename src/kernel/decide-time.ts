/** What time alone decides, and taking a run over after a crash. Source: CONTRACTS "Deadline", DESIGN §4 "Recovery". */
import type { CommandOf } from '#contracts/command.ts';
import { attemptDeadlineMs, runDeadlineMs } from './deadline.ts';
import type { EventDraft } from '#contracts/event.ts';
import { settleCancellation } from './cancellation.ts';
import { decided, type Decision, refused } from './decision.ts';
import {
  allOfIt,
  attemptInFlight,
  conclude,
  type Draft,
  closeEffectStep,
  end,
  failAttempt,
  failStep,
  holdsEffect,
  lift,
  openDraft,
  openSteps,
} from './draft.ts';
import { expireApprovals } from './decide-approval.ts';
import { effectsInProgress, openEffect } from './effect-state.ts';
import { failure } from './failure.ts';
import { attemptsInFlight } from './next.ts';
import { plannedRun } from './planned-run.ts';
import type { AttemptState, RunState, StepState } from './run-state.ts';
import { millisOf } from './time.ts';

/**
 * Decides what is due: attempts past their deadline fail, and at the run's deadline every open step does. A run that has no plan by
 * then, or is blocked then, ends as failed; a cancellation that no task answers is settled when the last attempt's time is over. Gives
 * no event when nothing is due.
 */
export function decideTick(state: RunState, command: CommandOf<'tick'>): Decision {
  const nowMs = millisOf(command.at);
  if (state.phase === 'ended') return decided();
  if (state.phase === 'cancelling') return tickCancelling(state, command, nowMs);
  const due = runDeadlineMs(state) <= nowMs;
  const run = plannedRun(state);
  if (run === undefined) {
    if (!due) return decided();
    const reason = 'The deadline passed before there was a plan.';
    return decided({ kind: 'run.ended', body: { result: 'failed', needsHuman: state.needsHuman, reason } });
  }
  const draft = openDraft(state, run, command.at);
  if (due) lift(draft, 'kernel');
  else expireApprovals(draft);
  if (!due) failOverdue(draft, nowMs);
  else if (state.openStepCount > 0) failAllOpen(draft);
  if (due && draft.blocked && !holdsEffect(draft)) {
    end(draft, { result: 'failed', needsHuman: true, reason: 'The deadline passed while the run was blocked.' });
    return { ok: true, events: draft.events };
  }
  return conclude(draft);
}

/**
 * Takes a run over: the time it stood still is no running time. What is in flight is sent again under its dispatch ids. The calls of a
 * program cannot be: with its process the run is over.
 */
export function decideRecover(state: RunState, command: CommandOf<'recover'>): Decision {
  if (state.phase === 'ended')
    return refused('ERR_STATE', `Run ${state.ref.runId} has ended; there is nothing to recover.`);
  const { pausedMs, checked, fence } = command;
  const recovered: EventDraft = { kind: 'run.recovered', body: { pausedMs, checked: [...checked], fence } };
  if (state.origin.level !== 'governed') return decided(recovered);
  const reason = `The program that made these calls is gone; ${state.calls.size} calls never reported how they ended.`;
  return decided(recovered, {
    kind: 'run.ended',
    body: { result: 'failed', needsHuman: state.calls.size > 0, reason },
  });
}

function failOverdue(draft: Draft, nowMs: number): void {
  for (const { step, attempt } of attemptsInFlight(draft.state))
    if (attemptDeadlineMs(attempt) <= nowMs) timeOut(draft, step, attempt);
}

function failAllOpen(draft: Draft): void {
  for (const step of openSteps(draft)) {
    // What is under way at its target ends by its own word; the run waits for it.
    if (openEffect(draft.state, step)?.state === 'in_progress') continue;
    if (closeEffectStep(draft, step, "The run's deadline passed.")) continue;
    const attempt = attemptInFlight(draft, step);
    const message = `The run's deadline passed before step ${step.definition.stepId} began.`;
    if (attempt === undefined) failStep(draft, step, failure('ERR_DEADLINE', message));
    else timeOut(draft, step, attempt);
  }
}

function timeOut(draft: Draft, step: StepState, attempt: AttemptState): void {
  const message = `Attempt ${attempt.attempt} of step ${step.definition.stepId} was not over by its deadline ${attempt.deadlineAt}.`;
  const error = failure('ERR_DEADLINE', message);
  failAttempt(draft, { step, attempt }, { error, used: allOfIt(step, attempt, draft.at), status: 'failed' });
}

function tickCancelling(state: RunState, command: CommandOf<'tick'>, nowMs: number): Decision {
  const out = attemptsInFlight(state);
  if (out.some(({ attempt }) => attemptDeadlineMs(attempt) > nowMs)) return decided();
  if (effectsInProgress(state).some(({ boundMs }) => boundMs > nowMs)) return decided();
  const unresolved = out.map(({ step, attempt }) => {
    const entry = { stepId: step.definition.stepId, reason: 'Nobody confirmed that it stopped within its time.' };
    return attempt.taskId === undefined ? entry : { ...entry, taskId: attempt.taskId };
  });
  return decided(...settleCancellation(state, command.at, { unresolved }));
}
