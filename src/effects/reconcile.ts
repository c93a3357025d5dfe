/** Asking the owner about an effect in doubt. Only what the owner shows, or says finally, changes anything. Source: DESIGN §3.10. */
import type { RunRef } from '#contracts/command.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { EffectId } from '#contracts/ids.ts';
import type { Reconciled } from '#ports/effect-writer.ts';
import { confirmedEffect } from './confirmed-effect.ts';
import { runOf } from './run-of.ts';
import { keepRecord, readBackOnce } from './settle-outcome.ts';
import type { WriterParts } from './writer-options.ts';

/** ERR_STATE unless the effect is in doubt, or was under way when its run ended. */
export async function reconcileEffect(
  parts: WriterParts,
  of: { readonly ref: RunRef; readonly effectId: EffectId },
  signal: AbortSignal,
): Promise<Reconciled> {
  const { ref, effectId } = of;
  const state = await runOf(parts, ref);
  const effect = state.effects.get(effectId);
  const step = effect === undefined ? undefined : state.steps.get(effect.stepId);
  if (effect === undefined || step === undefined)
    throw new CaseOpsError('ERR_NOT_FOUND', `Run ${ref.runId} has no effect ${effectId}.`, { at: 'writer' });
  const doubtful = effect.state === 'unknown' || (effect.state === 'in_progress' && state.phase === 'ended');
  if (!doubtful)
    throw new CaseOpsError('ERR_STATE', `Effect ${effectId} is ${effect.state}; there is nothing to reconcile.`, {
      at: 'writer',
    });
  const target = parts.targetOf(effect.action);
  if (target === undefined || target.name !== effect.action.target) return 'open';
  const seen = await readBackOnce(parts, { effect, target }, signal);
  if (seen.found === 'hidden' || (seen.found === 'absent' && !target.authoritativeAbsence)) return 'open';
  const base = { effectId, attempt: effect.attempt, at: parts.clock.now(), actor: parts.workload };
  const confirmed =
    seen.found === 'applied' ? confirmedEffect(parts, { effect, target, step, applied: seen }) : undefined;
  const done = await parts.driver.deliver(
    ref,
    {
      ...base,
      kind: 'reconcileEffect',
      finding: seen.found,
      source: 'owner',
      note: `Asked ${target.name} again.`,
      confirmed: confirmed?.effect,
    },
    confirmed === undefined ? [] : keepRecord(ref.tenant, confirmed),
  );
  if (!done.ok) throw new CaseOpsError(done.error.code, done.error.message, { at: 'writer' });
  return seen.found;
}
