/** A row in the effect ledger that no writer wrote: what makes "nothing was sent" untrue. For tests. */
import type { EffectRow } from '#contracts/effect-row.ts';
import type { RunId } from '#contracts/ids.ts';
import { digestOf } from '#kernel/digest.ts';
import type { Clock } from '#ports/clock.ts';
import type { Store } from '#ports/store.ts';

/** Plants a completed `notify:send` of tenant t9; throws when the store does not take it. */
export async function plantEffect(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  runId: string,
): Promise<EffectRow> {
  const at = clock.now();
  const row: EffectRow = {
    effectId: 'eff_planted',
    tenant: 't9',
    runId: runId as RunId,
    stepId: 's4',
    action: 'notify:send',
    target: 'mail',
    resource: 'notice-draft:D-1',
    idempotencyKey: 'planted',
    actionDigest: digestOf('action'),
    contentDigest: digestOf('content'),
    expectedVersion: null,
    approvalId: 'apv_none',
    leaseId: 'lse_none',
    attempt: 1,
    state: 'completed',
    receipt: null,
    artifactRef: null,
    history: [{ at, state: 'completed', attempt: 1, note: 'planted' }],
    updatedAt: at,
  };
  const written = await store.write([{ table: 'effect', row }]);
  if (!written.ok) throw new Error(`the store did not take the planted effect: ${written.conflict}`);
  return row;
}
