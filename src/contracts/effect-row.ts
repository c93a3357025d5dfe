/**
 * A row of the effect ledger: an effect with its frozen action, what authorised it, and everything that happened to it. One row per
 * idempotency key and tenant. Source: DESIGN §3.10, CONTRACTS; INV-04, INV-12.
 */
import { z } from 'zod';
import { effectResource, resourceVersion } from './effect-action.ts';
import { action, approvalId, digest, effectId, leaseId, name, runId, stepId, tenant, timestamp } from './ids.ts';
import { effectReceipt } from './receipt.ts';

export const effectState = z.enum([
  'not_started',
  'in_progress',
  'unknown',
  'completed',
  'failed',
  'partially_completed',
  'compensated',
]);
export type EffectState = z.infer<typeof effectState>;

/** While an effect is in one of these, nothing else may write its resource. */
export const OPEN_EFFECT_STATES: readonly EffectState[] = ['in_progress', 'unknown'];

export const effectRow = z.strictObject({
  effectId,
  tenant,
  runId,
  stepId,
  action,
  target: name,
  resource: effectResource,
  idempotencyKey: z.string().min(1).max(512),
  /** Over the frozen bytes of the action. */
  actionDigest: digest,
  /** Over the action without the run that asked for it: a replay in another run has the same. */
  contentDigest: digest,
  expectedVersion: resourceVersion.nullable(),
  approvalId,
  /** Of the last attempt. */
  leaseId,
  attempt: z.int().min(1),
  state: effectState,
  receipt: effectReceipt.nullable(),
  /** Where the record that was read back is kept (`effect-record`). */
  artifactRef: digest.nullable(),
  /** Oldest first. */
  history: z
    .array(
      z.strictObject({
        at: timestamp,
        state: effectState,
        attempt: z.int().min(1),
        note: z.string().max(500),
      }),
    )
    .max(256),
  updatedAt: timestamp,
});
export type EffectRow = z.infer<typeof effectRow>;
