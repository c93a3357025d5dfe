/** What a run needs from outside now. O(ready that can go + in flight); the plan is not rescanned. Source: DESIGN §3.4, §4. */
import type { Todo } from '#contracts/command.ts';
import { reservable, reserve, shareOf } from './budget.ts';
import { attemptDeadlineMs, runDeadlineMs } from './deadline.ts';
import { effectsInProgress, openApproval, openEffect } from './effect-state.ts';
import { joinDone } from './join.ts';
import { peopleBlock } from './people-block.ts';
import { plannedRun } from './planned-run.ts';
import { notBeforeMs, stepsOf } from './ready-set.ts';
import type { AttemptState, RunState, StepState } from './run-state.ts';
import { millisOf, timestampOf } from './time.ts';

/**
 * The todos at `at`, at most one `wake` last. Asking again lists again what is not done yet (`send`, `plan`, `compose`): jobs are
 * told apart by their id. A blocked run starts nothing, what is in flight goes on; of a cancelled run only the tasks are stopped.
 */
export function next(state: RunState, at: string): readonly Todo[] {
  if (state.phase === 'ended') return [];
  if (state.phase === 'cancelling')
    return [...cancelTasks(state), ...effectsUnderWay(state), ...wakeAt(latestAttemptMs(state))];
  const todos: Todo[] =
    state.phase === 'blocked' ? [] : [...planning(state), ...dispatches(state, millisOf(at)), ...effectsToBegin(state)];
  for (const { step, attempt } of attemptsInFlight(state))
    todos.push({
      kind: 'send',
      stepId: step.definition.stepId,
      attempt: attempt.attempt,
      dispatchId: attempt.dispatchId,
    });
  todos.push(...effectsUnderWay(state));
  if (awaitsAnswer(state)) todos.push({ kind: 'compose' });
  else if (peopleBlock(state) !== undefined) todos.push({ kind: 'await' });
  return [...todos, ...wakeAt(earliestMs(state, millisOf(at)))];
}

function planning(state: RunState): readonly Todo[] {
  const wanted = state.goal !== undefined && state.accepted === undefined;
  if (wanted && state.queuedAt !== undefined) return [{ kind: 'admit' }];
  return wanted ? [{ kind: 'plan', round: state.planRejectedCount }] : [];
}

/** Whether all that is missing is the answer: the join is decided, the goal declares sentences, and nothing stands in the way. */
export function awaitsAnswer(state: RunState): boolean {
  const run = plannedRun(state);
  if (run === undefined || run.goal.claims.length === 0) return false;
  const open = state.phase === 'planned' || state.phase === 'running';
  return open && state.openEffects.size + state.conflicts.size === 0 && joinDone(run.accepted.plan.join, state);
}

/** The attempts that are out: dispatched, not ended. */
export function attemptsInFlight(
  state: RunState,
): readonly { readonly step: StepState; readonly attempt: AttemptState }[] {
  return [...stepsOf(state, state.inFlight)].flatMap((step) =>
    step.attempts.slice(-1).map((attempt) => ({ step, attempt })),
  );
}

function dispatches(state: RunState, nowMs: number): readonly Todo[] {
  const run = plannedRun(state);
  if (run === undefined) return [];
  const todos: Todo[] = [];
  const account = { ...run.account };
  const slotCount = run.accepted.plan.budget.concurrencyMax - state.inFlight.size;
  for (const step of candidates(state, nowMs)) {
    if (todos.length >= slotCount) break;
    const share = shareOf(step.definition.budget);
    const can = reservable(account, share);
    // Reservations settle: the first in line waits for them rather than be overtaken.
    if (can === 'later') break;
    // `never` is offered too: its dispatch settles the step as failed, so that nothing hangs.
    if (can === 'now') reserve(account, share);
    todos.push({ kind: 'dispatch', stepId: step.definition.stepId, attempt: step.attempts.length + 1 });
  }
  return todos;
}

/** Actions to put before approvers, approved effects, and effects whose owner said that they were not applied. */
function effectsToBegin(state: RunState): readonly Todo[] {
  const todos: Todo[] = [];
  for (const stepId of state.readyEffects) todos.push({ kind: 'proposeEffect', stepId });
  for (const step of stepsOf(state, state.waitingEffects)) {
    const { stepId } = step.definition;
    const effect = openEffect(state, step);
    const approval = openApproval(state, step);
    if (effect?.state === 'not_started')
      todos.push({ kind: 'applyEffect', stepId, approvalId: effect.approvalId, attempt: effect.attempt + 1 });
    else if (approval?.state === 'approved')
      todos.push({ kind: 'applyEffect', stepId, approvalId: approval.approvalId, attempt: 1 });
  }
  return todos;
}

/** Effects that were begun: they go on to their outcome whatever becomes of the run. */
function effectsUnderWay(state: RunState): readonly Todo[] {
  return effectsInProgress(state).map(({ stepId, approvalId, attempt }) => ({
    kind: 'applyEffect',
    stepId,
    approvalId,
    attempt,
  }));
}

/** Retries whose time has come, then the ready steps. */
function* candidates(state: RunState, nowMs: number): Generator<StepState, void, undefined> {
  for (const step of stepsOf(state, state.delayed)) if (notBeforeMs(step) <= nowMs) yield step;
  yield* stepsOf(state, state.ready);
}

/** When something is due by itself: the run's deadline, an attempt's, or a retry's time. A run whose steps are all over waits for none. */
function earliestMs(state: RunState, nowMs: number): number {
  if (state.accepted !== undefined && state.openStepCount === 0 && state.phase !== 'blocked') return Infinity;
  let earliest = runDeadlineMs(state);
  for (const { attempt } of attemptsInFlight(state)) earliest = Math.min(earliest, attemptDeadlineMs(attempt));
  for (const step of stepsOf(state, state.delayed)) {
    const dueMs = notBeforeMs(step);
    // One that is due waits for a free slot, not for the clock.
    if (dueMs > nowMs) earliest = Math.min(earliest, dueMs);
  }
  for (const step of stepsOf(state, state.waitingEffects)) {
    const approval = openApproval(state, step);
    if (approval !== undefined) earliest = Math.min(earliest, millisOf(approval.proposal.expiresAt));
  }
  return earliest;
}

/** A cancellation that nobody answers is settled when the time of the last attempt and effect is over. */
function latestAttemptMs(state: RunState): number {
  return Math.max(
    ...attemptsInFlight(state).map(({ attempt }) => attemptDeadlineMs(attempt)),
    ...effectsInProgress(state).map(({ boundMs }) => boundMs),
  );
}

function cancelTasks(state: RunState): readonly Todo[] {
  return attemptsInFlight(state).map(({ step, attempt }) => ({
    kind: 'cancelTask',
    stepId: step.definition.stepId,
    attempt: attempt.attempt,
    dispatchId: attempt.dispatchId,
    taskId: attempt.taskId,
  }));
}

function wakeAt(millis: number): readonly Todo[] {
  return Number.isFinite(millis) ? [{ kind: 'wake', at: timestampOf(millis) }] : [];
}
