/**
 * A proposal: one action put before an approver, with what they see, the evidence it rests on, the policy that says who may decide,
 * and its end. Everything that an approval binds is here; what changes makes it stale. Source: DESIGN §3.10.
 */
import { z } from 'zod';
import { evidence } from './evidence.ts';
import { effectAction } from './effect-action.ts';
import { approvalId, digest, name, timestamp } from './ids.ts';

export const PROPOSAL_VERSION = '1.0.0';

/** What the approver sees, rendered by code from the action's canonical bytes and the live record. */
export const actionView = z.strictObject({
  title: z.string().min(1).max(1_000),
  rows: z
    .array(
      z.strictObject({
        /** RFC 6901, into the parameters. */
        pointer: z.string().max(512),
        /** What the resource says there now; null when nothing. */
        before: z.string().max(8_000).nullable(),
        after: z.string().max(8_000),
      }),
    )
    .max(256),
});
export type ActionView = z.infer<typeof actionView>;

/** Who may decide, by the approval policy in force when it was proposed. */
export const approvalRule = z.strictObject({
  mode: z.enum(['policy', 'person', 'quorum']),
  /** The role that a person must hold; for `policy`, that of the people who may still reject. */
  role: name,
  /** Different persons who must approve; 1 unless `quorum`. */
  quorumCount: z.int().min(1).max(16),
  policyName: name,
  policyDigest: digest,
});
export type ApprovalRule = z.infer<typeof approvalRule>;

export const proposal = z.strictObject({
  contractVersion: z.literal(PROPOSAL_VERSION),
  approvalId,
  action: effectAction,
  /** Over the action's RFC 8785 bytes. */
  actionDigest: digest,
  /** Shown, neither approved nor applied. */
  presentational: z.record(z.string().max(128), z.json()),
  /** The resource's record as read when it was proposed; null when it does not exist yet. */
  before: z.json().nullable(),
  view: actionView,
  viewDigest: digest,
  rule: approvalRule,
  /** Of the settled steps that the action rests on. */
  evidence: z.array(evidence).max(1_000),
  expiresAt: timestamp,
});
export type Proposal = z.infer<typeof proposal>;
