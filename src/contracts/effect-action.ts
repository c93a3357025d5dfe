/**
 * The canonical action: what an effect does, validated and defaulted. Its RFC 8785 bytes are what is approved, frozen and applied;
 * presentational parameters are not in it. Source: DESIGN §3.10.
 */
import { z } from 'zod';
import { action, name, runId, stepId, tenant } from './ids.ts';

export const EFFECT_ACTION_VERSION = '1.0.0';

/** Of the RFC 8785 form; larger content goes by reference. */
export const EFFECT_ACTION_BYTES_MAX = 65_536;

/** A record at its owner: `notice-draft:C-102.missing-documents`. */
export const effectResource = z.string().regex(/^[a-z][a-z0-9-]*:[A-Za-z0-9][A-Za-z0-9._:-]{0,191}$/);

/** The version of a record as its owner writes it. */
export const resourceVersion = z.string().min(1).max(128);

export const effectAction = z.strictObject({
  contractVersion: z.literal(EFFECT_ACTION_VERSION),
  action,
  /** The effect target that applies it. */
  target: name,
  tenant,
  resource: effectResource,
  /** The resource's version when it was proposed; null when the resource does not exist yet. The owner's own precondition. */
  expectedVersion: resourceVersion.nullable(),
  parameters: z.record(z.string().min(1).max(128), z.json()),
  /** One effect per key at the resource, whatever is retried or replayed. INV-12. */
  idempotencyKey: z.string().min(1).max(512),
  runId,
  stepId,
  requestedBy: z.string().min(1).max(256),
});
export type EffectAction = z.infer<typeof effectAction>;
