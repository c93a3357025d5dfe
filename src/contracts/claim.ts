/**
 * A claim is a sentence of the answer: a template whose slots point into evidence; code renders the values.
 * Source: DESIGN §3.9, INV-03.
 */
import { z } from 'zod';
import { action, claimId, evidenceId, name, pointer } from './ids.ts';

/** How code writes a slot's value. */
export const slotFormat = z.enum(['identifier', 'code', 'text', 'date', 'amount', 'number', 'list', 'quote']);
export type SlotFormat = z.infer<typeof slotFormat>;

export const claimKind = z.enum(['fact', 'inference', 'absence']);
export type ClaimKind = z.infer<typeof claimKind>;

/** A sentence per language; `{slot}` marks a value. */
const sentence = z.record(z.string().regex(/^[a-z]{2}$/), z.string().min(1).max(1_000));

/**
 * What a goal kind declares: which sentence follows from which output, and where its values come from.
 * A slot names the kind of record (the part of the anchor before `:`) and a pointer into the observed record.
 */
export const claimTemplate = z.strictObject({
  key: name,
  kind: claimKind,
  /** The output kind whose step must have settled; the claim is "not said" when it did not. For absence: none. */
  output: name.optional(),
  sentence,
  slots: z.record(
    z.string().regex(/^[a-z][a-zA-Z0-9]{0,31}$/),
    z.strictObject({ anchorType: name, pointer, format: slotFormat }),
  ),
  /** For absence: the prohibited action whose non-occurrence is proved. */
  absentAction: action.optional(),
  /** What a reader loses when it cannot be said; shown beside a missing step. */
  impact: sentence.optional(),
});
export type ClaimTemplate = z.infer<typeof claimTemplate>;

/** A value of a claim: either read from evidence by pointer, or derived by a formula over other slots. */
export const slot = z.union([
  z.strictObject({ evidenceId, pointer, format: slotFormat, value: z.string().max(8_000) }),
  z.strictObject({
    formula: z.string().max(500),
    inputs: z.array(z.string()).max(32),
    format: slotFormat,
    value: z.string().max(8_000),
  }),
]);
export type Slot = z.infer<typeof slot>;

/** How an absence was shown: what was looked at and how many were found. Holds only if all counts are 0 and the rule was frozen. */
export const absenceProof = z.strictObject({
  action,
  prohibitedByGoal: z.boolean(),
  leaseCountExamined: z.int().min(0),
  leaseCountPermitting: z.int().min(0),
  dispatchCountCalling: z.int().min(0),
  effectRowCount: z.int().min(0),
  holds: z.boolean(),
});
export type AbsenceProof = z.infer<typeof absenceProof>;

export const claim = z.strictObject({
  claimId,
  key: name,
  kind: claimKind,
  template: z.string().max(1_000),
  slots: z.record(z.string(), slot),
  /** Rendered by code from template and slots. */
  text: z.string().min(1).max(16_000),
  evidenceIds: z.array(evidenceId).max(64),
  confidence: z.number().min(0).max(1),
  uncertainty: z.string().max(500).optional(),
  proof: absenceProof.optional(),
});
export type Claim = z.infer<typeof claim>;
