import type { RunRef } from '#contracts/command.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { WriterParts } from './writer-options.ts';

/** The run as it is now; throws ERR_NOT_FOUND. */
export async function runOf({ driver }: Pick<WriterParts, 'driver'>, ref: RunRef): Promise<RunState> {
  const state = await driver.state(ref);
  if (state === undefined) throw new CaseOpsError('ERR_NOT_FOUND', `There is no run ${ref.runId}.`, { at: 'writer' });
  return state;
}
