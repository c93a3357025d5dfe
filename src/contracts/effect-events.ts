/**
 * What happens to approvals and effects, as event bodies. They are part of the run's log and carry references and digests; the frozen
 * bytes of an action are its canonical form in `effect.intended`. Source: CONTRACTS "Event kinds", INV-04, INV-12, INV-13.
 */
import { z } from 'zod';
import { approvalDecision, staleField } from './approval.ts';
import { effectAction, resourceVersion } from './effect-action.ts';
import { effectState } from './effect-row.ts';
import { errorRecord } from './error.ts';
import { evidence } from './evidence.ts';
import { approvalId, digest, effectId, leaseId, runId, stepId, timestamp } from './ids.ts';
import { proposal } from './proposal.ts';
import { effectReceipt } from './receipt.ts';

const planVersion = z.int().min(1);
const by = z.string().min(1).max(256);
const note = z.string().max(500);
const onEffect = { effectId, attempt: z.int().min(1) };

/** How sending an effect ended, as far as the target said. */
export const sendOutcome = z.enum(['applied', 'refused_before', 'precondition_failed', 'unknown']);
export type SendOutcome = z.infer<typeof sendOutcome>;

export const postconditionFinding = z.strictObject({
  pointer: z.string().max(512),
  expected: z.string().max(500),
  got: z.string().max(500),
});

export const EFFECT_EVENT_BODIES = {
  'approval.requested': z.strictObject({ approvalId, stepId, planVersion, proposal }),
  /** One of several who must approve. */
  'approval.endorsed': z.strictObject({ approvalId, decision: approvalDecision }),
  'approval.granted': z.strictObject({ approvalId, decision: approvalDecision }),
  'approval.rejected': z.strictObject({ approvalId, decision: approvalDecision }),
  'approval.expired': z.strictObject({ approvalId, expiresAt: timestamp }),
  'approval.staled': z.strictObject({
    approvalId,
    field: staleField,
    expected: z.string().max(256),
    got: z.string().max(256),
  }),
  'approval.withdrawn': z.strictObject({ approvalId, by, reason: z.string().max(1_000) }),
  'approval.spent': z.strictObject({ approvalId, effectId, leaseId }),
  'effect.intended': z.strictObject({
    ...onEffect,
    approvalId,
    stepId,
    planVersion,
    /** Frozen: its RFC 8785 bytes are what is applied. */
    action: effectAction,
    actionDigest: digest,
    contentDigest: digest,
    leaseId,
    /** The live version, read just before: it equals the expected one. */
    liveVersion: resourceVersion.nullable(),
    policyDigest: digest,
  }),
  'effect.sent': z.strictObject({ ...onEffect, outcome: sendOutcome, note }),
  /** Read back from the owner; with findings it is not as it was approved. */
  'effect.confirmed': z.strictObject({
    ...onEffect,
    receipt: effectReceipt,
    findings: z.array(postconditionFinding).max(64),
    evidence,
    artifactRef: digest,
  }),
  /** Certainly not applied, and not to be tried again. */
  'effect.failed': z.strictObject({ ...onEffect, error: errorRecord }),
  'effect.unknown': z.strictObject({ ...onEffect, note }),
  /** What a query or a person found of an effect in doubt. The owner's `absent` leads back to not_started, a person's to failed. */
  'effect.reconciled': z.strictObject({
    ...onEffect,
    by,
    finding: z.enum(['applied', 'absent']),
    source: z.enum(['owner', 'person']),
    note,
  }),
  'effect.retried': z.strictObject({ ...onEffect, leaseId, liveVersion: resourceVersion.nullable() }),
  'effect.compensated': z.strictObject({ ...onEffect, by, note }),
  /** The key has an effect already, of another run: its record is this step's result. */
  'effect.replayed': z.strictObject({
    stepId,
    planVersion,
    effectId,
    ownerRunId: runId,
    state: effectState,
    receipt: effectReceipt.nullable(),
    evidence: evidence.optional(),
  }),
} as const satisfies Record<string, z.ZodType>;
