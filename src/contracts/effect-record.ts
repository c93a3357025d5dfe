/** What is kept of a confirmed effect: the record that was read back, its evidence, receipt and the step's result. Source: DESIGN §3.10. */
import { z } from 'zod';
import { evidence } from './evidence.ts';
import { effectReceipt } from './receipt.ts';

export const EFFECT_RECORD_VERSION = '1.0.0';

export const effectRecord = z.strictObject({
  contractVersion: z.literal(EFFECT_RECORD_VERSION),
  receipt: effectReceipt,
  evidence,
  /** As the owner showed it; its digest is the evidence's and the receipt's. */
  record: z.json(),
  /** The result data of the step. */
  data: z.record(z.string(), z.json()),
});
export type EffectRecord = z.infer<typeof effectRecord>;
