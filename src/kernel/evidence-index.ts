/** The evidence that an answer may rest on: of settled results and of absence proofs, by id, with the records as observed. INV-03, INV-14. */
import type { Evidence } from '#contracts/evidence.ts';
import type { StepId } from '#contracts/ids.ts';
import type { StepResult } from '#contracts/step-result.ts';
import { digestOf } from './digest.ts';
import { resolvePointer, type Resolved } from './pointer.ts';
import type { RunState, StepState } from './run-state.ts';

interface Borne {
  readonly evidence: Evidence;
  /** The step whose result bears it; undefined for a proof's. */
  readonly stepId: StepId | undefined;
}

export interface EvidenceIndex {
  readonly byId: ReadonlyMap<string, Borne>;
  /** A value in the record of an evidence; not found also when the record is missing or is not what the evidence's digest says. */
  valueAt(evidence: Evidence, pointer: string): Resolved;
}

/**
 * Only results that gave something bear evidence. An id that two results use for different observations is nobody's: otherwise one
 * team could put its record under another's id.
 */
export function evidenceIndex(
  state: RunState,
  records: Readonly<Record<string, unknown>>,
  proofEvidence: readonly Evidence[],
): EvidenceIndex {
  const byId = new Map<string, Borne>();
  const contested = new Set<string>();
  const add = (borne: Borne): void => {
    const { evidenceId, digest } = borne.evidence;
    const known = byId.get(evidenceId);
    if (known !== undefined && known.evidence.digest !== digest) contested.add(evidenceId);
    byId.set(evidenceId, borne);
  };
  for (const step of state.steps.values())
    for (const evidence of usableResult(step)?.evidence ?? []) add({ evidence, stepId: step.definition.stepId });
  for (const evidence of proofEvidence) add({ evidence, stepId: undefined });
  for (const id of contested) byId.delete(id);
  const genuine = new Map<string, boolean>();
  return {
    byId,
    valueAt({ evidenceId, digest }, pointer) {
      const known =
        genuine.get(evidenceId) ?? (Object.hasOwn(records, evidenceId) && digestOf(records[evidenceId]) === digest);
      genuine.set(evidenceId, known);
      return known ? resolvePointer(records[evidenceId], pointer) : { found: false };
    },
  };
}

/** The result, if an answer may use its data and evidence. */
export function usableResult({ result }: StepState): StepResult | undefined {
  const { status } = result ?? {};
  return status === 'completed' || status === 'partial' || status === 'degraded' ? result : undefined;
}
