/** Undoing an applied effect, when its target can: an act of its own under its own key, asked for by a person. Source: DESIGN §3.10. */
import type { RunRef } from '#contracts/command.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { EffectId } from '#contracts/ids.ts';
import { readBackOnce } from './settle-outcome.ts';
import { runOf } from './run-of.ts';
import { within } from './within.ts';
import type { WriterParts } from './writer-options.ts';

export async function compensateEffect(
  parts: WriterParts,
  undo: { readonly ref: RunRef; readonly effectId: EffectId; readonly by: string; readonly reason: string },
  signal: AbortSignal,
): Promise<void> {
  const { ref, effectId, by, reason } = undo;
  const effect = (await runOf(parts, ref)).effects.get(effectId);
  if (effect === undefined)
    throw new CaseOpsError('ERR_NOT_FOUND', `Run ${ref.runId} has no effect ${effectId}.`, { at: 'writer' });
  if (effect.state !== 'completed' && effect.state !== 'partially_completed')
    throw new CaseOpsError('ERR_STATE', `Effect ${effectId} is ${effect.state}; only an applied one is undone.`, {
      at: 'writer',
    });
  const target = parts.targetOf(effect.action);
  const compensate = target?.compensate?.bind(target);
  if (target === undefined || compensate === undefined)
    throw refused(effectId, `target ${effect.action.target} cannot undo what it applies.`);
  const applied = await readBackOnce(parts, { effect, target }, signal);
  if (applied.found !== 'applied') throw refused(effectId, `its owner does not show it now.`);
  const key = `${effect.action.idempotencyKey}:undo`;
  const undone = await within(parts.clock, { ms: parts.sendTimeoutMs, signal }, (bounded) =>
    compensate({ action: effect.action, applied, idempotencyKey: key }, bounded),
  );
  if (undone.outcome !== 'applied') throw refused(effectId, `its owner answered ${undone.outcome}: ${undone.message}`);
  const { attempt } = effect;
  const done = await parts.driver.deliver(ref, {
    kind: 'compensateEffect',
    at: parts.clock.now(),
    actor: by,
    effectId,
    attempt,
    note: reason.slice(0, 500),
  });
  if (!done.ok) throw new CaseOpsError(done.error.code, done.error.message, { at: 'writer' });
}

function refused(effectId: EffectId, why: string): CaseOpsError {
  return new CaseOpsError('ERR_EFFECT_REFUSED', `Effect ${effectId} was not undone: ${why}`, { at: 'writer' });
}
