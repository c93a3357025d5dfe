/**
 * The look-up before anything else: a key that has an effect is answered with its first record, whoever asks again. INV-12. Source: DESIGN
 * §3.10 "a replay returns the first record".
 */
import type { RunRef } from '#contracts/command.ts';
import type { EffectAction } from '#contracts/effect-action.ts';
import type { EffectRow } from '#contracts/effect-row.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { StepId } from '#contracts/ids.ts';
import { actionContentDigest } from '#kernel/action-digest.ts';
import { readStoredEffect } from '#kernel/stored-effect.ts';
import { runOf } from './run-of.ts';
import type { WriterParts } from './writer-options.ts';

/** Looks, 200 ms apart, at an effect of another run that is under way. */
const LOOK_COUNT_MAX = 50;
const LOOK_MS = 200;

interface Replay {
  readonly ref: RunRef;
  readonly stepId: StepId;
  readonly action: EffectAction;
}

/** False when the key is free. Throws ERR_IDEMPOTENCY_KEY_REUSED for other content, ERR_EFFECT_LOCKED when its outcome stays open. */
export async function replayFirst(parts: WriterParts, replay: Replay, signal: AbortSignal): Promise<boolean> {
  const { ref, stepId, action } = replay;
  const first = await settledRow(parts, action, signal);
  if (first === undefined) return false;
  if (first.contentDigest !== actionContentDigest(action))
    throw new CaseOpsError(
      'ERR_IDEMPOTENCY_KEY_REUSED',
      `Key ${action.idempotencyKey} was used by run ${first.runId} for another action than step ${stepId} asks for.`,
      { at: 'writer', detail: { effectId: first.effectId } },
    );
  const state = await runOf(parts, ref);
  const done = await parts.driver.deliver(ref, {
    kind: 'replayEffect',
    at: parts.clock.now(),
    actor: parts.workload,
    stepId,
    planVersion: state.accepted?.plan.version ?? 1,
    first,
    confirmed: await confirmedOf(parts, first),
  });
  if (!done.ok) throw new CaseOpsError(done.error.code, done.error.message, { at: 'writer' });
  return true;
}

/** The row under the key, once its outcome is known. */
async function settledRow(
  parts: Pick<WriterParts, 'store' | 'clock'>,
  action: EffectAction,
  signal: AbortSignal,
): Promise<EffectRow | undefined> {
  for (let look = 1; ; look++) {
    const row = await parts.store.effectByKey(action.tenant, action.idempotencyKey);
    if (row === undefined || row.contentDigest !== actionContentDigest(action)) return row;
    if (row.state !== 'in_progress' && row.state !== 'not_started' && row.state !== 'unknown') return row;
    if (row.state === 'unknown' || look >= LOOK_COUNT_MAX)
      throw new CaseOpsError(
        'ERR_EFFECT_LOCKED',
        `Effect ${row.effectId} of run ${row.runId} under the same key is ${row.state}; it must be reconciled first.`,
        { at: 'writer', detail: { effectId: row.effectId } },
      );
    await parts.clock.sleep(LOOK_MS, signal);
  }
}

async function confirmedOf(parts: Pick<WriterParts, 'store'>, first: EffectRow) {
  if (first.artifactRef === null || first.state === 'compensated') return undefined;
  const kept = readStoredEffect(await parts.store.artifact(first.tenant, first.artifactRef), first.artifactRef);
  if (kept === undefined) return undefined;
  const { receipt, evidence, data } = kept;
  return { receipt, evidence, data, findings: [], artifactRef: first.artifactRef };
}
