/** Whether a run may be erased, and the tombstone that says so. INV-11. Source: DESIGN §4, decision 0022. */
import type { CommandOf } from '#contracts/command.ts';
import { decided, type Decision, refused } from './decision.ts';
import type { RunState } from './run-state.ts';

/**
 * Gives the tombstone of an ended run. Refused (ERR_STATE) for one that has not ended, that holds an effect whose outcome is open, or whose
 * artifacts are gone already: what is under way needs what it rests on.
 */
export function decideErase(state: RunState, { erased }: CommandOf<'erase'>): Decision {
  const { ref, phase, openEffects, erasures, answer, seq } = state;
  if (phase !== 'ended') return refused('ERR_STATE', `Run ${ref.runId} is ${phase}; only what has ended is erased.`);
  if (openEffects.size > 0)
    return refused('ERR_STATE', `Run ${ref.runId} has ${openEffects.size} effects whose outcome is open.`);
  if (erased.scope === 'artifacts' && erasures.length > 0)
    return refused('ERR_STATE', `The artifacts of run ${ref.runId} are erased already.`);
  const claims = (answer?.claims ?? []).map(({ claimId, key }) => ({ claimId, key }));
  const uptoSeq = erased.scope === 'run' ? seq : 0;
  return decided({ kind: 'run.erased', body: { ...erased, uptoSeq, claims } });
}
