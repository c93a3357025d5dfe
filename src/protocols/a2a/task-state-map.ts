/**
 * The one table between a run's words and A2A's. A completed task only says that the team delivered; what it delivered (completed,
 * no_data, partial, degraded) stands in the artifact. Source: CONTRACTS "State and result"; A2A 1.0.1 §4.1.3.
 */
import { TaskState } from '@a2a-js/sdk';
import type { RunResult } from '#contracts/step-result.ts';
import type { RunPhase } from '#ports/store.ts';

/** A live run. `AUTH_REQUIRED` is never said: authority comes as a lease beside the message, not as an answer to a task. */
export const TASK_STATE_OF_PHASE = {
  received: TaskState.TASK_STATE_SUBMITTED,
  planned: TaskState.TASK_STATE_WORKING,
  running: TaskState.TASK_STATE_WORKING,
  blocked: TaskState.TASK_STATE_INPUT_REQUIRED,
  // Asked to stop is not stopped: the task stays at work until the run has ended.
  cancelling: TaskState.TASK_STATE_WORKING,
} as const satisfies Record<Exclude<RunPhase, 'ended'>, TaskState>;

/** An ended run. */
const TASK_STATE_OF_RESULT = {
  completed: TaskState.TASK_STATE_COMPLETED,
  no_data: TaskState.TASK_STATE_COMPLETED,
  partial: TaskState.TASK_STATE_COMPLETED,
  degraded: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  cancelled: TaskState.TASK_STATE_CANCELED,
  refused: TaskState.TASK_STATE_REJECTED,
} as const satisfies Record<RunResult, TaskState>;

/** What a client does next on seeing a state. An unknown state is treated as open: only a stated end ends the waiting. */
export type TaskStanding = 'open' | 'waiting' | 'delivered' | 'failed' | 'cancelled' | 'rejected';

export const STANDING_OF_TASK_STATE: Readonly<Record<TaskState, TaskStanding>> = {
  [TaskState.TASK_STATE_UNSPECIFIED]: 'open',
  [TaskState.TASK_STATE_SUBMITTED]: 'open',
  [TaskState.TASK_STATE_WORKING]: 'open',
  [TaskState.TASK_STATE_COMPLETED]: 'delivered',
  [TaskState.TASK_STATE_FAILED]: 'failed',
  [TaskState.TASK_STATE_CANCELED]: 'cancelled',
  [TaskState.TASK_STATE_INPUT_REQUIRED]: 'waiting',
  [TaskState.TASK_STATE_REJECTED]: 'rejected',
  [TaskState.TASK_STATE_AUTH_REQUIRED]: 'waiting',
  [TaskState.UNRECOGNIZED]: 'open',
};

/** The A2A state of a run. An ended run without a result cannot be told from a failure, and is told as one. */
export function taskStateOf(run: { readonly phase: RunPhase; readonly result: RunResult | undefined }): TaskState {
  if (run.phase !== 'ended') return TASK_STATE_OF_PHASE[run.phase];
  return TASK_STATE_OF_RESULT[run.result ?? 'failed'];
}
