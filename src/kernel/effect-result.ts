/** From an effect that was read back to the result of its step. INV-01, INV-04. Source: DESIGN §3.10. */
import type { ConfirmedEffect } from '#contracts/command.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import type { StepResult } from '#contracts/step-result.ts';
import { type Draft, settle } from './draft.ts';
import type { EffectCase } from './effect-state.ts';
import { failure } from './failure.ts';
import { resultHash } from './result-hash.ts';
import type { StepState } from './run-state.ts';
import { checkSchema } from './schema-check.ts';
import { millisOf } from './time.ts';

/** The receipt is of this effect and action, and the evidence is over the record that was read back. */
export function checkConfirmed(effect: EffectCase, { receipt, evidence }: ConfirmedEffect): ErrorRecord | undefined {
  const { action } = effect;
  const pairs = [
    ['effect', receipt.effectId, effect.effectId],
    ['tenant', receipt.tenant, action.tenant],
    ['target', receipt.target, action.target],
    ['resource', receipt.resource, action.resource],
    ['key', receipt.idempotencyKey, action.idempotencyKey],
    ['action', receipt.actionDigest, effect.actionDigest],
    ['record', receipt.recordDigest, evidence.digest],
  ] as const;
  const different = pairs.find(([, got, expected]) => got !== expected);
  if (different === undefined) return undefined;
  const [what, got, expected] = different;
  return failure('ERR_STATE', `Receipt ${receipt.receiptId} names ${what} ${got}; expected was ${expected}.`);
}

/** Confirms the effect and settles its step, when that is still open: completed, or partial when it is not as it was approved. */
export function settleConfirmed(
  draft: Draft,
  step: StepState | undefined,
  of: { readonly effect: EffectCase; readonly confirmed: ConfirmedEffect },
): void {
  const { effectId, attempt } = of.effect;
  const { receipt, evidence, artifactRef } = of.confirmed;
  const findings = of.confirmed.findings.map((finding) => ({ ...finding }));
  draft.events.push({
    kind: 'effect.confirmed',
    body: { effectId, attempt, receipt, findings, evidence, artifactRef },
  });
  if (findings.length > 0) draft.needsHuman = true;
  if (step !== undefined) settleApplied(draft, step, { ...of.confirmed, intendedAt: of.effect.intendedAt });
}

/** Settles a step whose effect was applied, here or under the same key by another run. */
export function settleApplied(
  draft: Draft,
  step: StepState,
  applied: ConfirmedEffect & { readonly intendedAt: string },
): void {
  const issues = checkSchema(step.skill.artifact, applied.data);
  const missing = [
    ...applied.findings.map(({ pointer, expected, got }) => `${pointer}: expected ${expected}, got ${got}`),
    ...issues.map(({ pointer, message }) => `${pointer}: ${message}`),
  ];
  const whole = issues.length === 0 ? { data: { ...applied.data } } : {};
  settle(draft, step, {
    result: resultOf(draft, step, {
      ...whole,
      status: missing.length === 0 ? 'completed' : 'partial',
      evidence: [applied.evidence],
      missing: missing.slice(0, 100).map((text) => text.slice(0, 500)),
      artifactRef: applied.artifactRef,
      since: applied.intendedAt,
    }),
    toolCalls: [],
  });
}

/** Settles a step whose effect a person found to be applied, without a receipt. */
export function settleUnproved(
  draft: Draft,
  step: StepState | undefined,
  of: { readonly effect: EffectCase; readonly by: string; readonly note: string },
): void {
  if (step === undefined) return;
  const missing = [`receipt: ${of.by} found that it was applied: ${of.note}`.slice(0, 500)];
  const since = of.effect.intendedAt;
  settle(draft, step, {
    result: resultOf(draft, step, { status: 'partial', evidence: [], missing, since }),
    toolCalls: [],
  });
}

function resultOf(
  draft: Draft,
  step: StepState,
  parts: Pick<StepResult, 'status' | 'evidence' | 'missing'> &
    Partial<Pick<StepResult, 'data' | 'artifactRef'>> & { readonly since: string },
): StepResult {
  const { since, ...said } = parts;
  const contractVersion = step.skill.version;
  const { status, data, evidence, missing } = said;
  return {
    ...said,
    stepId: step.definition.stepId,
    planVersion: draft.run.accepted.plan.version,
    attempt: 1,
    errors: [],
    usage: { modelTokenCount: 0, toolCallCount: 0, durationMs: Math.max(0, millisOf(draft.at) - millisOf(since)) },
    producer: 'writer',
    contractVersion,
    resultHash: resultHash({ status, data, evidence, missing, contractVersion }),
  };
}
