/** From what the owner showed to receipt, evidence and the kept record. Source: DESIGN §3.10, CONTRACTS "Evidence". */
import type { ConfirmedEffect } from '#contracts/command.ts';
import { EFFECT_RECORD_VERSION, type EffectRecord } from '#contracts/effect-record.ts';
import type { Evidence } from '#contracts/evidence.ts';
import { RECEIPT_VERSION } from '#contracts/receipt.ts';
import { canonicalText } from '#kernel/canonical.ts';
import { digestOf, digestOfBytes } from '#kernel/digest.ts';
import type { EffectCase } from '#kernel/effect-state.ts';
import type { StepState } from '#kernel/run-state.ts';
import type { AppliedEffect, EffectTarget } from '#ports/effect-target.ts';
import type { WriterParts } from './writer-options.ts';

export interface Confirmed {
  readonly effect: ConfirmedEffect;
  /** The canonical bytes of the kept record; their digest is `effect.artifactRef`. */
  readonly bytes: Uint8Array;
}

export function confirmedEffect(
  parts: Pick<WriterParts, 'clock' | 'ids'>,
  of: {
    readonly effect: EffectCase;
    readonly target: EffectTarget;
    readonly step: StepState;
    readonly applied: AppliedEffect;
  },
): Confirmed {
  const { effect, target, step, applied } = of;
  const { action, effectId, actionDigest } = effect;
  const observedAt = parts.clock.now();
  const recordDigest = digestOf(applied.record);
  const receipt: ConfirmedEffect['receipt'] = {
    contractVersion: RECEIPT_VERSION,
    receiptId: parts.ids.next('rcp'),
    effectId,
    tenant: action.tenant,
    target: target.name,
    resource: action.resource,
    idempotencyKey: action.idempotencyKey,
    actionDigest,
    reference: applied.reference.slice(0, 256),
    resultVersion: applied.version,
    appliedAt: applied.appliedAt,
    observedAt,
    recordDigest,
  };
  const evidence: Evidence = {
    evidenceId: parts.ids.next('ev'),
    source: target.name,
    anchor: `${target.evidenceType}:${asId(applied.reference, ANCHOR_ID_LENGTH_MAX)}`,
    version: asId(applied.version ?? 'v1', VERSION_LENGTH_MAX),
    observedAt,
    digest: recordDigest,
    trust: 'authoritative',
    readers: [...step.skill.datatypes],
  };
  const findings = target.postcondition(action, applied).slice(0, FINDING_COUNT_MAX).map(cut);
  return keep({ receipt, evidence, findings, data: applied.data }, applied);
}

function keep(parts: Omit<ConfirmedEffect, 'artifactRef'>, applied: AppliedEffect): Confirmed {
  const { receipt, evidence, data } = parts;
  const record: EffectRecord = {
    contractVersion: EFFECT_RECORD_VERSION,
    receipt,
    evidence,
    record: applied.record,
    data: { ...data },
  };
  const bytes = new TextEncoder().encode(canonicalText(record) ?? '');
  return { effect: { ...parts, artifactRef: digestOfBytes(bytes) }, bytes };
}

const ANCHOR_ID_LENGTH_MAX = 128;
const VERSION_LENGTH_MAX = 64;
const FINDING_COUNT_MAX = 64;

function cut({ pointer, expected, got }: ConfirmedEffect['findings'][number]): ConfirmedEffect['findings'][number] {
  return { pointer: pointer.slice(0, 512), expected: expected.slice(0, 500), got: got.slice(0, 500) };
}

/** An owner's name in the letters of ours: `<a.b@mail>` is `a.b-mail`. */
function asId(name: string, lengthMax: number): string {
  const letters = name.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '');
  return letters === '' ? 'unnamed' : letters.slice(0, lengthMax);
}
