/**
 * Beginning an effect: nothing was begun before, or the owner said that nothing was applied. Consumption of lease and approval, intent and
 * frozen bytes are one transaction; a stale permit cannot slip between them. INV-04, INV-12, INV-13. Source: LEASE "Checking".
 */
import type { Command, CommandOf, RunRef } from '#contracts/command.ts';
import { CaseOpsError, type ErrorRecord } from '#contracts/error.ts';
import { actionDigest } from '#kernel/action-digest.ts';
import type { ApprovalCase, EffectCase } from '#kernel/effect-state.ts';
import type { RunState, StepState } from '#kernel/run-state.ts';
import { millisOf } from '#kernel/time.ts';
import type { EffectTarget } from '#ports/effect-target.ts';
import type { RecordWrite } from '#ports/store.ts';
import { mintChecked } from './effect-lease.ts';
import { replayFirst } from './replay-first.ts';
import { sendEffect } from './settle-outcome.ts';
import type { WriterParts } from './writer-options.ts';

interface Begin {
  readonly ref: RunRef;
  readonly state: RunState;
  readonly step: StepState;
  readonly approval: ApprovalCase;
}

/** Applies an approved effect, or says why its approval is stale, expired or refused. */
export async function beginEffect(parts: WriterParts, begin: Begin, signal: AbortSignal): Promise<void> {
  const { ref, step, approval } = begin;
  const { action } = approval.proposal;
  const { stepId } = step.definition;
  if (await replayFirst(parts, { ref, stepId, action }, signal)) return;
  await parts.onPoint('looked_up');
  const target = targetFor(parts, approval);
  const liveVersion = await liveVersionOf(target, approval, signal);
  await parts.onPoint('live_read');
  const moved = movedField(parts, approval, liveVersion);
  if (moved !== undefined)
    return report(parts, ref, { kind: 'staleApproval', approvalId: approval.approvalId, ...moved });
  if (isExpired(parts, approval)) return report(parts, ref, { kind: 'tick' });
  const { leaseId, records } = mintChecked(parts, { ...begin, attempt: 1 });
  await parts.onPoint('lease_minted');
  const effectId = parts.ids.next('eff');
  const intended = await deliver(parts, ref, {
    kind: 'intendEffect',
    approvalId: approval.approvalId,
    effectId,
    leaseId,
    actionDigest: actionDigest(action),
    liveVersion,
    policyDigest: parts.policy.digest,
    records,
  });
  // Another run has begun an effect under the key or on the resource since the look-up: the next try finds its record.
  if (!intended.ok) throw refusal(intended.error);
  await parts.onPoint('intended');
  const effect = intended.state.effects.get(effectId);
  if (effect !== undefined) await sendEffect(parts, { ref, step, effect, target }, signal);
}

/** Tries an effect again whose owner said that nothing was applied: on the approved version, in time, under a lease of its own. */
export async function retryEffect(
  parts: WriterParts,
  retry: Omit<Begin, 'approval'> & { readonly effect: EffectCase; readonly attempt: number },
  signal: AbortSignal,
): Promise<void> {
  const { ref, state, step, effect, attempt } = retry;
  const approval = state.approvals.get(effect.approvalId);
  if (approval === undefined) return;
  const { retry: bounds } = step.skill;
  const target = targetFor(parts, approval);
  const end = (error: ErrorRecord): Promise<void> =>
    report(parts, ref, { kind: 'failEffect', effectId: effect.effectId, attempt: effect.attempt, error });
  if (attempt > bounds.attemptCountMax)
    return end(
      failed('ERR_ATTEMPTS', `Effect ${effect.effectId} was not applied in ${bounds.attemptCountMax} attempts.`),
    );
  await parts.clock.sleep(bounds.backoffMs * 2 ** (attempt - 2), signal);
  const liveVersion = await liveVersionOf(target, approval, signal);
  await parts.onPoint('live_read');
  const moved = movedField(parts, approval, liveVersion);
  if (moved !== undefined)
    return end(failed('ERR_EFFECT_PRECONDITION', `The ${moved.field} moved from ${moved.expected} to ${moved.got}.`));
  if (isExpired(parts, approval))
    return end(failed('ERR_APPROVAL_EXPIRED', `Approval ${approval.approvalId} expired before another attempt.`));
  const { leaseId, records } = mintChecked(parts, { state, step, approval, attempt });
  await parts.onPoint('lease_minted');
  const { effectId } = effect;
  const policyDigest = parts.policy.digest;
  const told = { kind: 'retryEffect', effectId, attempt, leaseId, liveVersion, policyDigest, records } as const;
  const retried = await deliver(parts, ref, told);
  if (!retried.ok) throw refusal(retried.error);
  await parts.onPoint('intended');
  const now = retried.state.effects.get(effectId);
  if (now !== undefined) await sendEffect(parts, { ref, step, effect: now, target }, signal);
}

type Told = Bare<'staleApproval' | 'tick' | 'intendEffect' | 'retryEffect' | 'failEffect'>;
type Bare<K extends Command['kind']> = K extends K ? Omit<CommandOf<K>, 'at' | 'actor'> : never;
/** Written in the same transaction. */
type Kept = { readonly records?: readonly RecordWrite[] };

function deliver(parts: WriterParts, ref: RunRef, said: Told & Kept): ReturnType<WriterParts['driver']['deliver']> {
  const { records = [], ...told } = said;
  const command = { ...told, at: parts.clock.now(), actor: parts.workload } as Command;
  return parts.driver.deliver(ref, command, records);
}

async function report(parts: WriterParts, ref: RunRef, told: Told): Promise<void> {
  const done = await deliver(parts, ref, told);
  if (!done.ok) throw refusal(done.error);
}

function targetFor(parts: WriterParts, { proposal: { action } }: ApprovalCase): EffectTarget {
  const target = parts.targetOf(action);
  if (target !== undefined && target.name === action.target) return target;
  throw new CaseOpsError('ERR_EFFECT_TARGET', `Target ${action.target} is not configured in this process.`, {
    at: 'writer',
    retryable: false,
  });
}

async function liveVersionOf(
  target: EffectTarget,
  { proposal: { action } }: ApprovalCase,
  signal: AbortSignal,
): Promise<string | null> {
  return (await target.read(action.resource, action.tenant, signal)).version;
}

function movedField(
  { policy }: Pick<WriterParts, 'policy'>,
  { proposal }: ApprovalCase,
  liveVersion: string | null,
):
  | { readonly field: 'resource_version' | 'policy_version'; readonly expected: string; readonly got: string }
  | undefined {
  const { action, rule } = proposal;
  if (liveVersion !== action.expectedVersion)
    return { field: 'resource_version', expected: action.expectedVersion ?? 'none', got: liveVersion ?? 'none' };
  if (policy.digest === rule.policyDigest) return undefined;
  return { field: 'policy_version', expected: rule.policyDigest, got: policy.digest };
}

function isExpired({ clock }: Pick<WriterParts, 'clock'>, { proposal }: ApprovalCase): boolean {
  return millisOf(proposal.expiresAt) <= clock.nowMs();
}

function failed(
  code: 'ERR_ATTEMPTS' | 'ERR_EFFECT_PRECONDITION' | 'ERR_APPROVAL_EXPIRED',
  message: string,
): ErrorRecord {
  const error = new CaseOpsError(code, message, { at: 'writer' });
  return { code, kind: error.kind, message, at: 'writer', retryable: false };
}

/** Tried again: by then the state says what stands in the way, and that is handled at its place. */
function refusal({ code, message, detail }: ErrorRecord): CaseOpsError {
  return new CaseOpsError(code, message, { at: 'writer', retryable: true, detail: detail ?? {} });
}
