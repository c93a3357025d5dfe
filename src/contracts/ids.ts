/**
 * Identities: every id carries its kind as a prefix, so that no id can stand where another kind is meant.
 * Source: CONTRACTS "ids are branded and prefixed".
 */
import { z } from 'zod';

/** The part after the prefix: lower-case base32/hex/uuid characters and `-`; 1 to 64 characters. */
const body = z.string().regex(/[a-z0-9][a-z0-9-]{0,63}/);

export const runId = z.templateLiteral(['run_', body]);
export const goalId = z.templateLiteral(['goal_', body]);
export const planId = z.templateLiteral(['plan_', body]);
export const dispatchId = z.templateLiteral(['dsp_', body]);
export const artifactId = z.templateLiteral(['art_', body]);
export const evidenceId = z.templateLiteral(['ev_', body]);
export const claimId = z.templateLiteral(['clm_', body]);
export const leaseId = z.templateLiteral(['lse_', body]);
export const approvalId = z.templateLiteral(['apv_', body]);
export const effectId = z.templateLiteral(['eff_', body]);
export const receiptId = z.templateLiteral(['rcp_', body]);
export const sessionId = z.templateLiteral(['ses_', body]);
export const snapshotId = z.templateLiteral(['cap_', body]);
export const tombstoneId = z.templateLiteral(['tmb_', body]);
export const callId = z.templateLiteral(['call_', body]);

export type RunId = z.infer<typeof runId>;
export type GoalId = z.infer<typeof goalId>;
export type PlanId = z.infer<typeof planId>;
export type DispatchId = z.infer<typeof dispatchId>;
export type ArtifactId = z.infer<typeof artifactId>;
export type EvidenceId = z.infer<typeof evidenceId>;
export type ClaimId = z.infer<typeof claimId>;
export type LeaseId = z.infer<typeof leaseId>;
export type ApprovalId = z.infer<typeof approvalId>;
export type EffectId = z.infer<typeof effectId>;
export type ReceiptId = z.infer<typeof receiptId>;
export type SessionId = z.infer<typeof sessionId>;
export type SnapshotId = z.infer<typeof snapshotId>;
export type TombstoneId = z.infer<typeof tombstoneId>;
export type CallId = z.infer<typeof callId>;

/** A tenant name such as `t9` or `tenant-demo`. Always compared exactly, never folded. */
export const tenant = z.string().regex(/^[a-z][a-z0-9-]{0,62}$/);
export type Tenant = z.infer<typeof tenant>;

/** A step's name inside one plan (`s1`, `w1`); unique in its plan, 1 to 64 characters. */
export const stepId = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/);
export type StepId = z.infer<typeof stepId>;

/** Names of teams, skills, workers, tools servers, goal kinds: kebab, snake or dotted lower case. */
export const name = z.string().regex(/^[a-z][a-z0-9._-]{0,127}$/);

/** An action such as `claims:read` or `notify:send`; the unit of prohibition and permission. */
export const action = z.string().regex(/^[a-z][a-z0-9-]*:[a-z][a-z0-9-]*$/);
export type Action = z.infer<typeof action>;

/** Semantic version `major.minor.patch` of a contract, skill or policy. */
export const semver = z.string().regex(/^\d{1,6}\.\d{1,6}\.\d{1,6}$/);

/** `sha256:` and 64 lower-case hex digits, over RFC 8785 bytes unless the field says otherwise. */
export const digest = z.templateLiteral(['sha256:', z.string().regex(/[0-9a-f]{64}/)]);
export type Digest = z.infer<typeof digest>;

/** RFC 3339, UTC, `Z` only, milliseconds optional. */
export const timestamp = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/);

/** W3C trace context, version 00: `00-<trace id>-<span id>-<flags>`. Tells where a request comes from and grants nothing. */
export const traceparent = z.string().regex(/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/);

/** RFC 6901 JSON Pointer; empty means the whole value. */
export const pointer = z
  .string()
  .max(512)
  .regex(/^(\/([^~/]|~0|~1)*)*$/);
