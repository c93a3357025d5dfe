/** A receipt: proof of an applied effect, as read back from the resource's owner. Source: DESIGN §3.10, GLOSSARY. */
import { z } from 'zod';
import { digest, effectId, name, receiptId, tenant, timestamp } from './ids.ts';
import { effectResource, resourceVersion } from './effect-action.ts';

export const RECEIPT_VERSION = '1.0.0';

export const effectReceipt = z.strictObject({
  contractVersion: z.literal(RECEIPT_VERSION),
  receiptId,
  effectId,
  tenant,
  target: name,
  resource: effectResource,
  idempotencyKey: z.string().min(1).max(512),
  actionDigest: digest,
  /** The owner's own name for the effect, such as a message id. */
  reference: z.string().min(1).max(256),
  /** The resource's version after the effect; null when the owner keeps none. */
  resultVersion: resourceVersion.nullable(),
  /** When the owner says it was applied. */
  appliedAt: timestamp,
  /** When we read it back. */
  observedAt: timestamp,
  /** Over the record that was read back, RFC 8785. */
  recordDigest: digest,
});
export type EffectReceipt = z.infer<typeof effectReceipt>;
