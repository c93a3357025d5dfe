/**
 * From sending to a known outcome. The owner's answer is noted, then the effect is read back; only what the owner shows counts. Hidden or
 * not final means in doubt: nothing is sent again. Source: DESIGN §3.10.
 */
import type { Command, CommandOf, RunRef } from '#contracts/command.ts';
import { CaseOpsError } from '#contracts/error.ts';
import { actionText } from '#kernel/action-digest.ts';
import type { EffectCase } from '#kernel/effect-state.ts';
import type { StepState } from '#kernel/run-state.ts';
import type { Applied, EffectTarget, ReadBack } from '#ports/effect-target.ts';
import type { RecordWrite } from '#ports/store.ts';
import { type Confirmed, confirmedEffect } from './confirmed-effect.ts';
import { within } from './within.ts';
import type { WriterParts } from './writer-options.ts';

export interface BegunEffect {
  readonly ref: RunRef;
  readonly step: StepState;
  readonly effect: EffectCase;
}

/** Sends once, with the key and the owner's precondition, and settles what came of it. */
export async function sendEffect(
  parts: WriterParts,
  begun: BegunEffect & { readonly target: EffectTarget },
  signal: AbortSignal,
): Promise<void> {
  const { effect, target } = begun;
  const { action } = effect;
  const applied = await within(parts.clock, { ms: parts.sendTimeoutMs, signal }, (bounded) =>
    target.apply(
      {
        action,
        bytes: new TextEncoder().encode(actionText(action) ?? ''),
        idempotencyKey: action.idempotencyKey,
        expectedVersion: action.expectedVersion,
      },
      bounded,
    ),
  ).catch((error: unknown): Applied => ({ outcome: 'unknown', message: describe(error) }));
  const note = 'message' in applied ? applied.message : '';
  await tell(parts, begun, { kind: 'noteSent', outcome: applied.outcome, note: note.slice(0, 500) });
  await parts.onPoint('sent');
  if (applied.outcome === 'refused_before') return notApplied(parts, begun, applied);
  if (applied.outcome === 'precondition_failed')
    return fail(parts, begun, { code: 'ERR_EFFECT_PRECONDITION', message: applied.message });
  await settleByReadBack(parts, { ...begun, said: applied.outcome }, signal);
}

/** Finds out what became of an effect that was begun: never by doing it again. */
export async function findOutcome(parts: WriterParts, begun: BegunEffect, signal: AbortSignal): Promise<void> {
  const { action } = begun.effect;
  const target = parts.targetOf(action);
  if (target === undefined || target.name !== action.target)
    return tell(parts, begun, {
      kind: 'loseEffect',
      note: `Target ${action.target} is not configured in this process.`,
    });
  await settleByReadBack(parts, { ...begun, target, said: 'unknown' }, signal);
}

/** One look at the owner; a target that throws shows nothing. */
export async function readBackOnce(
  parts: Pick<WriterParts, 'clock' | 'sendTimeoutMs'>,
  of: { readonly effect: EffectCase; readonly target: EffectTarget },
  signal: AbortSignal,
): Promise<ReadBack> {
  const { action } = of.effect;
  return within(parts.clock, { ms: parts.sendTimeoutMs, signal }, (bounded) =>
    of.target.readBack(action.idempotencyKey, action, bounded),
  ).catch((error: unknown): ReadBack => ({ found: 'hidden', message: describe(error) }));
}

/** What the store keeps of a confirmed effect, to be written with its command. */
export function keepRecord(tenant: string, { effect, bytes }: Confirmed): readonly RecordWrite[] {
  return [{ table: 'artifact', tenant, digest: effect.artifactRef, bytes }];
}

async function settleByReadBack(
  parts: WriterParts,
  of: BegunEffect & { readonly target: EffectTarget; readonly said: 'applied' | 'unknown' },
  signal: AbortSignal,
): Promise<void> {
  const { effect, target, said } = of;
  let seen: ReadBack = { found: 'hidden', message: 'It was not read back.' };
  for (let look = 1; look <= parts.readBackCountMax; look++) {
    seen = await readBackOnce(parts, { effect, target }, signal);
    await parts.onPoint('read_back');
    if (seen.found === 'applied') {
      const confirmed = confirmedEffect(parts, { ...of, applied: seen });
      const records = keepRecord(of.ref.tenant, confirmed);
      await tell(parts, of, { kind: 'confirmEffect', confirmed: confirmed.effect, records });
      return parts.onPoint('recorded');
    }
    // The owner's word that nothing was applied, unless the same owner has just said that it was.
    if (seen.found === 'absent' && target.authoritativeAbsence && said !== 'applied') {
      await absent(parts, of, `${target.name} shows no effect under the key, and that is final.`);
      return parts.onPoint('recorded');
    }
    // A process that is shutting down leaves it under way: the next one looks again.
    signal.throwIfAborted();
    if (look < parts.readBackCountMax) await parts.clock.sleep(parts.readBackBackoffMs * 2 ** (look - 1), signal);
  }
  const note =
    seen.found === 'hidden' ? seen.message : `${target.name} shows no effect under the key, which is not final.`;
  await tell(parts, of, { kind: 'loseEffect', note: note.slice(0, 500) });
  await parts.onPoint('recorded');
}

/** Certainly nothing was applied: tried again when it may pass later, else the effect has failed. */
async function notApplied(
  parts: WriterParts,
  begun: BegunEffect,
  refused: Extract<Applied, { outcome: 'refused_before' }>,
): Promise<void> {
  if (refused.retryable) await absent(parts, begun, refused.message);
  else await fail(parts, begun, { code: 'ERR_EFFECT_REFUSED', message: refused.message });
  await parts.onPoint('recorded');
}

function absent(parts: WriterParts, begun: BegunEffect, note: string): Promise<void> {
  return tell(parts, begun, {
    kind: 'reconcileEffect',
    finding: 'absent',
    source: 'owner',
    note: note.slice(0, 500),
    confirmed: undefined,
  });
}

function fail(
  parts: WriterParts,
  begun: BegunEffect,
  said: { readonly code: 'ERR_EFFECT_REFUSED' | 'ERR_EFFECT_PRECONDITION'; readonly message: string },
): Promise<void> {
  const message = `${begun.effect.action.target} refused effect ${begun.effect.effectId}: ${said.message}`;
  const { code, kind } = new CaseOpsError(said.code, message, { at: 'writer' });
  const error = { code, kind, message: message.slice(0, 2_000), at: begun.effect.action.target, retryable: false };
  return tell(parts, begun, { kind: 'failEffect', error });
}

type Told = Report<'noteSent' | 'confirmEffect' | 'loseEffect' | 'reconcileEffect' | 'failEffect'>;
/** A command about this effect, without what every one of them has. */
type Report<K extends Command['kind']> = K extends K
  ? Omit<CommandOf<K>, 'at' | 'actor' | 'effectId' | 'attempt'>
  : never;

/** Written in the same transaction. */
interface Kept {
  readonly records?: readonly RecordWrite[];
}

async function tell(parts: WriterParts, { ref, effect }: BegunEffect, said: Told & Kept): Promise<void> {
  const { records = [], ...told } = said;
  const { effectId, attempt } = effect;
  const command = { ...told, effectId, attempt, at: parts.clock.now(), actor: parts.workload } as Command;
  const done = await parts.driver.deliver(ref, command, records);
  if (!done.ok) throw new CaseOpsError(done.error.code, done.error.message, { at: 'writer', retryable: true });
}

/** What is known of a thrown failure without its text, which may hold anything. */
function describe(error: unknown): string {
  if (error instanceof CaseOpsError) return error.message;
  return `The target failed: ${error instanceof Error ? error.name : typeof error}.`;
}
