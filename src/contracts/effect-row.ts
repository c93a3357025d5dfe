/** A row of the effect ledger. The table exists from the first part, empty until there is a writer. Source: DESIGN §3.10, CONTRACTS. */
import { z } from 'zod';
import { action, effectId, runId, tenant, timestamp } from './ids.ts';

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

export const effectRow = z.strictObject({
  effectId,
  tenant,
  runId,
  action,
  resource: z.string().max(256),
  idempotencyKey: z.string().max(512),
  state: effectState,
  updatedAt: timestamp,
});
export type EffectRow = z.infer<typeof effectRow>;
