/** How a run learns that a job cannot be done. */
import type { Command, Job } from '#contracts/command.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import type { RunState } from '#kernel/run-state.ts';

const NOTHING_USED = { modelTokenCount: 0, toolCallCount: 0, durationMs: 0 } as const;

/**
 * An attempt that could not be sent has failed; a plan, an answer or a dispatch that nobody could make is given up. A task that
 * could not be told to stop needs no report: the run waits for it until the attempt's time is over.
 */
export function giveUpCommand(
  { todo }: Job,
  state: RunState,
  report: { readonly error: ErrorRecord; readonly at: string; readonly actor: string },
): Command | undefined {
  const { error, at, actor } = report;
  switch (todo.kind) {
    case 'send': {
      const { stepId, attempt, dispatchId } = todo;
      const planVersion = state.accepted?.plan.version ?? 1;
      return { kind: 'fail', stepId, planVersion, attempt, dispatchId, error, usage: NOTHING_USED, at, actor };
    }
    case 'plan':
    case 'compose':
    case 'dispatch':
    case 'proposeEffect':
    case 'applyEffect':
      return { kind: 'giveUp', todo, error, at, actor };
    case 'cancelTask':
    case 'await':
    case 'admit':
      return undefined;
  }
}
