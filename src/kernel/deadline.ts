/**
 * Deadlines. `deadlineMs` is running time: it starts when the run is admitted (with the frozen goal, or when its turn
 * in the queue comes) and stands still while the run is blocked and between a
 * crash and its recovery. `deadlineAt` is absolute and never moves. Source: CONTRACTS "Deadline".
 */
import type { AttemptState, RunState, StepState } from './run-state.ts';
import { millisOf, timestampOf } from './time.ts';

/** When the run must be over, in ms since the epoch; Infinity while nothing bounds it. */
export function runDeadlineMs(state: RunState): number {
  if (state.goal === undefined) return Infinity;
  const { deadlineMs } = state.accepted?.plan.budget ?? state.goal.budget;
  const { admittedAt, pausedSince, pausedMs } = state;
  const runs = admittedAt !== undefined && pausedSince === undefined;
  const running = runs ? millisOf(admittedAt) + deadlineMs + pausedMs : Infinity;
  return Math.min(running, state.goal.deadlineAt === undefined ? Infinity : millisOf(state.goal.deadlineAt));
}

/** When an attempt that starts at `at` must be over: the step's own timeout or the run's deadline, whichever is first. */
export function attemptDeadlineAt(state: RunState, step: StepState, at: string): string {
  const timeoutMs = Math.min(step.definition.budget.timeoutMs, step.skill.timeoutMs);
  return timestampOf(Math.min(millisOf(at) + timeoutMs, runDeadlineMs(state)));
}

/**
 * When an attempt that is out is over, in ms since the epoch: its deadline, and the time that the run stood still between a crash and
 * its recovery, in which nobody could take what its team had to give.
 */
export function attemptDeadlineMs({ deadlineAt, stoodStillMs }: AttemptState): number {
  return millisOf(deadlineAt) + stoodStillMs;
}

/** Whether an attempt that starts at `atMs` has the time that its skill needs at least. */
export function enoughTime(state: RunState, step: StepState, atMs: number): boolean {
  return runDeadlineMs(state) - atMs >= step.skill.minimumRuntimeMs && runDeadlineMs(state) > atMs;
}
