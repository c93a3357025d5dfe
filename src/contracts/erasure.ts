/**
 * Erasing: what may be taken out of an ended run, and the tombstone that stays in its log. A body is hashed by itself, so the chain verifies
 * without it; the tombstone is an event of the same chain. Source: DESIGN §4, decision 0022; INV-11.
 */
import { z } from 'zod';
import { claimId, digest, name, timestamp, tombstoneId } from './ids.ts';

/** `artifacts`: the delivered bytes; `run`: these, and the body of every event so far. */
export const erasureScope = z.enum(['artifacts', 'run']);
export type ErasureScope = z.infer<typeof erasureScope>;

/** By which rule or on whose request. A request names the subject by digest alone: its name is what is to be forgotten. */
export const erasureCause = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('policy'), policyDigest: digest, olderThanDays: z.int().min(0) }),
  z.strictObject({ kind: z.literal('request'), subjectDigest: digest, reason: z.string().min(1).max(500) }),
]);
export type ErasureCause = z.infer<typeof erasureCause>;

/** The tombstone: what is gone, by references only. */
export const erasedBody = z.strictObject({
  tombstoneId,
  scope: erasureScope,
  cause: erasureCause,
  by: z.string().max(256),
  /** Events up to this one have no body any more; 0 for artifacts alone. Earlier tombstones keep theirs. */
  uptoSeq: z.int().min(0),
  artifacts: z.array(digest).max(100_000),
  /** The sentences that the run said, by id and key. */
  claims: z.array(z.strictObject({ claimId, key: name })).max(1_000),
});
export type ErasedBody = z.infer<typeof erasedBody>;

/** A tombstone with the time of its event. */
export type Tombstone = ErasedBody & { readonly at: string };

/** In place of a body that is gone: which kind of event it was, and the tombstone that took it. */
export const bodyErased = z.strictObject({ kind: name, tombstoneId });

/** An erasure as it is shown. */
export const erasureView = erasedBody
  .pick({ tombstoneId: true, scope: true, cause: true, by: true })
  .extend({ at: timestamp });
export type ErasureView = z.infer<typeof erasureView>;
