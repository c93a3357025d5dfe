/**
 * An approval decides one action: bound to its digest, single use, expiring. The record holds what an auditor asks for: who, in which
 * role, by which channel, trained how, with what in view, and why. Source: DESIGN §3.10, INV-13.
 */
import { z } from 'zod';
import { approvalId, digest, name, runId, stepId, tenant, timestamp } from './ids.ts';
import { proposal } from './proposal.ts';

export const APPROVAL_VERSION = '1.0.0';

export const approvalState = z.enum(['pending', 'approved', 'rejected', 'stale', 'expired', 'spent', 'withdrawn']);
export type ApprovalState = z.infer<typeof approvalState>;

/** `modified` and `overrode` approve: after a changed proposal, or against what the system recommended. */
export const disposition = z.enum(['approved', 'modified', 'overrode', 'rejected']);
export type Disposition = z.infer<typeof disposition>;

/** One reviewer's decision. */
export const approvalDecision = z.strictObject({
  /** A person, or `policy:<name>@<digest>`. */
  by: z.string().min(1).max(256),
  /** The role in which they decided. */
  role: name,
  /** Where their training for this role is recorded. */
  trainingRef: z.string().max(256).nullable(),
  channel: z.enum(['cli', 'http', 'console', 'policy']),
  disposition,
  /** Always given with a rejection. */
  reason: z.string().max(2_000).nullable(),
  /** The evidence that was shown, `claim:C-102@v17`. */
  evidenceInView: z.array(z.string().max(256)).max(1_000),
  actionDigest: digest,
  viewDigest: digest,
  decidedAt: timestamp,
});
export type ApprovalDecision = z.infer<typeof approvalDecision>;

/** The bound field that moved. */
export const staleField = z.enum(['resource_version', 'policy_version', 'action_digest', 'contract']);
export type StaleField = z.infer<typeof staleField>;

/** A row of the approvals projection: what the inbox lists. */
export const approvalRow = z.strictObject({
  contractVersion: z.literal(APPROVAL_VERSION),
  approvalId,
  tenant,
  runId,
  stepId,
  planVersion: z.int().min(1),
  state: approvalState,
  proposal,
  decisions: z.array(approvalDecision).max(64),
  requestedAt: timestamp,
  updatedAt: timestamp,
  /** Why it is no longer pending, as a sentence; null while it is. */
  closedReason: z.string().max(2_000).nullable(),
});
export type ApprovalRow = z.infer<typeof approvalRow>;
