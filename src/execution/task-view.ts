/**
 * An A2A task is a projection of a team run: this is the projection. Nothing of it is stored beside the run's log and the artifacts
 * that the log refers to. Source: DESIGN §2, §3.5.
 */
import type { Artifact } from '#contracts/artifact.ts';
import type { Dispatch } from '#contracts/dispatch.ts';
import { ERROR_CODES, type ErrorCode, type ErrorRecord } from '#contracts/error.ts';
import type { Origin } from '#contracts/event.ts';
import { artifactDigest } from '#kernel/artifact-acceptance.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { TaskView } from '#ports/team-door.ts';
import { WORKER_STEP } from './team-plan.ts';

export type TeamOrigin = Extract<Origin, { readonly level: 'team' }>;

/** What a task view takes from the run's state alone. */
export type Standing = Omit<TaskView, 'step' | 'attempt' | 'planDigest' | 'artifacts'>;

/** The run as its caller may see it, copied at once: a state goes on changing while what it refers to is read. */
export function standingOf(state: RunState, origin: TeamOrigin): Standing {
  return {
    taskId: origin.taskId,
    contextId: origin.contextId,
    run: origin.parentRunId,
    phase: state.phase,
    result: state.result,
    blocked: state.blocked,
    error: taskError(state),
    lastSeq: state.seq,
    createdAt: state.receivedAt,
    updatedAt: state.updatedAt,
  };
}

/** Why an ended run has no artifact, or what its artifact says went wrong; undefined while it runs and when all went well. */
export function taskError(state: RunState): ErrorRecord | undefined {
  if (state.phase !== 'ended') return undefined;
  switch (state.result) {
    case 'failed':
      return state.errors.at(-1) ?? own('ERR_TEAM_FAILED', state.endedReason ?? 'The run failed.');
    case 'refused':
      return own(
        'ERR_PLAN_REFUSED',
        `The plan of workers was refused: ${state.lastFindings.map(({ code, pointer }) => `${code} at ${pointer || '/'}`).join(', ')}.`,
      );
    case 'cancelled':
      return own('ERR_CANCELLED', `The run was cancelled: ${state.cancelRequested?.reason ?? 'no reason was given'}.`);
    case 'completed':
    case 'no_data':
    case 'partial':
    case 'degraded':
    case undefined:
      return state.steps.get(WORKER_STEP)?.result?.errors[0];
  }
}

/**
 * The worker's artifact as the answer to the caller's dispatch: the same content under the caller's ids, with its own digest. A pure
 * function, so that every reading gives the same bytes.
 */
export function bindToDispatch(made: Artifact, origin: TeamOrigin, dispatch: Dispatch): Artifact {
  const { contentDigest: _contentDigest, ...open } = made;
  const bound = {
    ...open,
    binding: {
      dispatchId: dispatch.dispatchId,
      stepId: dispatch.stepId,
      planVersion: dispatch.planVersion,
      attempt: dispatch.attempt,
      taskId: origin.taskId,
      contextId: origin.contextId,
      leaseId: origin.leaseId,
    },
  };
  return { ...bound, contentDigest: artifactDigest(bound) };
}

function own(code: ErrorCode, message: string): ErrorRecord {
  const kind = ERROR_CODES[code];
  return { code, kind, message, at: 'team', retryable: kind === 'unavailable' };
}
