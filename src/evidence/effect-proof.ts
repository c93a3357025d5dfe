/** What the store has of the effect that settled a step: the kept record, its ledger row, approval and lease, be they of this run or replayed. */
import type { ApprovalRow } from '#contracts/approval.ts';
import type { RunRef } from '#contracts/command.ts';
import type { EffectRecord } from '#contracts/effect-record.ts';
import type { EffectRow } from '#contracts/effect-row.ts';
import type { StepId } from '#contracts/ids.ts';
import type { LeaseRow } from '#contracts/lease.ts';
import { isEffectStep } from '#kernel/effect-state.ts';
import type { RunState, StepState } from '#kernel/run-state.ts';
import { readStoredEffect } from '#kernel/stored-effect.ts';
import type { Store } from '#ports/store.ts';

export interface EffectProof {
  readonly record: EffectRecord;
  readonly row: EffectRow | undefined;
  readonly approval: ApprovalRow | undefined;
  readonly lease: LeaseRow | undefined;
}

/** By the step that the effect settled; a record that does not read back is left out. */
export async function readEffectProofs(
  store: Store,
  ref: RunRef,
  state: RunState,
): Promise<ReadonlyMap<StepId, EffectProof>> {
  const proofs = new Map<StepId, EffectProof>();
  for (const step of state.steps.values()) {
    const proof = await readProof(store, ref, step);
    if (proof !== undefined) proofs.set(step.definition.stepId, proof);
  }
  return proofs;
}

async function readProof(store: Store, { tenant }: RunRef, step: StepState): Promise<EffectProof | undefined> {
  const artifactRef = step.result?.artifactRef;
  if (artifactRef === undefined || !isEffectStep(step)) return undefined;
  const record = readStoredEffect(await store.artifact(tenant, artifactRef), artifactRef);
  if (record === undefined) return undefined;
  const row = await orNothing(() => store.effect(tenant, record.receipt.effectId));
  if (row === undefined) return { record, row, approval: undefined, lease: undefined };
  const approval = await orNothing(() => store.approval(tenant, row.approvalId));
  const leases = await store.leasesOfRun(tenant, row.runId);
  return { record, row, approval, lease: leases.find(({ leaseId }) => leaseId === row.leaseId) };
}

/** A row that does not read back proves nothing; the link that needs it says so. */
async function orNothing<T>(read: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await read();
  } catch {
    return undefined;
  }
}
