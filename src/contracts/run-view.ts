/**
 * A run as its people see it: one document for the HTTP API, the CLI and the page. Computed from the run's log and the effect
 * ledger; nothing in it is stored. Source: SURFACES.
 */
import { z } from 'zod';
import { missingStep, unsaid } from './answer.ts';
import { budget } from './budget.ts';
import { claim } from './claim.ts';
import { effectRow } from './effect-row.ts';
import { erasureView } from './erasure.ts';
import { errorRecord } from './error.ts';
import { blockedReason, EVENT_BODIES, proposer } from './event.ts';
import { evidence } from './evidence.ts';
import { requestedOutput } from './goal.ts';
import { action, digest, name, runId, sessionId, stepId, tenant, timestamp } from './ids.ts';
import { dependency, finding } from './plan.ts';
import { runResult, stepStatus } from './step-result.ts';

export const RUN_VIEW_VERSION = '1.2.0';

export const attemptView = z.strictObject({
  attempt: z.int().min(1),
  dispatchId: z.string(),
  leaseId: z.string(),
  taskId: z.string().nullable(),
  contextId: z.string().nullable(),
  dispatchedAt: timestamp,
  startedAt: timestamp.nullable(),
  deadlineAt: timestamp,
  /** The attempt's span in the run's trace: the same id is in every trace backend that the deployment exports to. */
  spanId: z.string().regex(/^[0-9a-f]{16}$/),
  error: errorRecord.nullable(),
});

export const stepView = z.strictObject({
  stepId,
  team: name,
  skillId: name,
  skillVersion: z.string(),
  required: z.boolean(),
  dependsOn: z.array(dependency),
  state: z.enum(['pending', 'ready', 'dispatched', 'waiting', 'settled', 'skipped']),
  /** Null until settled. */
  status: stepStatus.nullable(),
  /** From the first dispatch; null when it never began. */
  startedAt: timestamp.nullable(),
  settledAt: timestamp.nullable(),
  durationMs: z.int().min(0).nullable(),
  attempts: z.array(attemptView),
  toolCallCount: z.int().min(0),
  /** `claim:C-102@v17`. */
  evidence: z.array(z.string()),
  missing: z.array(z.string()),
  errors: z.array(errorRecord),
  skipReason: z.string().nullable(),
  /** The step of the session's earlier run whose result this one takes over; null when it was asked for in this run. */
  origin: z.strictObject({ runId, stepId, observedAt: timestamp, ageMs: z.int().min(0).nullable() }).nullable(),
});
export type StepView = z.infer<typeof stepView>;

/** A claim with its evidence resolved; `ref` is the anchor at its version, `observedIn` the earlier run that observed it, if another did. */
export const claimView = claim.extend({
  evidence: z.array(evidence.extend({ ref: z.string(), observedIn: z.strictObject({ runId, stepId }).nullable() })),
});
export type ClaimView = z.infer<typeof claimView>;

export const runView = z.strictObject({
  contractVersion: z.literal(RUN_VIEW_VERSION),
  runId,
  tenant,
  sessionId: sessionId.nullable(),
  requestedBy: z.string(),
  /** Of the run's one trace, and of the run in it. */
  trace: z.strictObject({ traceId: z.string().regex(/^[0-9a-f]{32}$/), spanId: z.string().regex(/^[0-9a-f]{16}$/) }),
  state: z.enum(['received', 'planned', 'running', 'blocked', 'cancelling', 'ended']),
  /** Null until ended. */
  result: runResult.nullable(),
  needsHuman: z.boolean(),
  reason: z.string().nullable(),
  statement: z.strictObject({ text: z.string(), language: z.string() }),
  goal: z
    .strictObject({
      goalId: z.string(),
      digest,
      kind: name,
      purpose: name,
      entities: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
      requestedOutputs: z.array(requestedOutput),
      prohibitedActions: z.array(action),
      constraints: z.array(name),
      budget,
    })
    .nullable(),
  plan: z.strictObject({ planId: z.string(), version: z.int(), digest, proposer: proposer.nullable() }).nullable(),
  /** Findings of the last refused plan, when the run has none accepted. */
  findings: z.array(finding),
  steps: z.array(stepView),
  blocked: blockedReason.nullable(),
  /** What was taken out of the run since it ended; the latest. */
  erased: erasureView.nullable(),
  /** Each move to other contracts than those it was planned with: by whom, why, and from which plan to which. */
  migrations: z.array(
    z.strictObject({
      at: timestamp,
      by: z.string(),
      reason: z.string(),
      fromVersion: z.int().min(1),
      fromDigest: digest,
      toVersion: z.int().min(1),
      toDigest: digest,
      steps: EVENT_BODIES['run.migrated'].shape.steps,
    }),
  ),
  /** Each version of the plan that took another one's place: by whom, why, and which steps stood. */
  revisions: z.array(
    z.strictObject({
      at: timestamp,
      by: z.string(),
      reason: z.string(),
      fromVersion: z.int().min(1),
      toVersion: z.int().min(1),
      kept: EVENT_BODIES['plan.revised'].shape.kept,
    }),
  ),
  /** Results that changed nothing but their own record, the last ones, oldest first; `arrivalCount` counts all. */
  arrivals: z.array(
    EVENT_BODIES['result.late'].extend({
      kind: z.enum(['stale', 'late', 'duplicate', 'conflicted']),
      at: timestamp,
    }),
  ),
  arrivalCount: z.int().min(0),
  claims: z.array(claimView),
  unsaid: z.array(unsaid),
  missingSteps: z.array(missingStep),
  /** Rows of the effect ledger for this run. */
  effects: z.array(effectRow),
  used: z.strictObject({ toolCallCount: z.int().min(0), modelTokenCount: z.int().min(0) }),
  receivedAt: timestamp,
  endedAt: timestamp.nullable(),
  durationMs: z.int().min(0).nullable(),
  /** Sequence and hash of the last event: the head of the chain. */
  lastSeq: z.int().min(1),
  chainHead: digest,
});
export type RunView = z.infer<typeof runView>;

/** One line of a list of runs. */
export const runSummary = z.strictObject({
  runId,
  tenant,
  state: runView.shape.state,
  result: runResult.nullable(),
  needsHuman: z.boolean(),
  kind: z.string(),
  subject: z.string(),
  requestedBy: z.string(),
  startedAt: timestamp,
  updatedAt: timestamp,
});
export type RunSummary = z.infer<typeof runSummary>;

/** One link of the chain behind a claim, with its verdict. */
export const whyLink = z.strictObject({
  kind: z.enum([
    'claim',
    'evidence',
    'record',
    'tool_call',
    'worker',
    'task',
    'step',
    'lease',
    'approval',
    'prohibition',
    'lease_registry',
    'effect_ledger',
    'earlier_run',
  ]),
  /** What it is: an id, an anchor at its version, a tool's name. */
  ref: z.string(),
  note: z.string(),
  verdict: z.enum([
    'Bound',
    'Resolves',
    'Accepted',
    'Conforms',
    'Known',
    'Signed',
    'Inside parent',
    'Not needed',
    'Broken',
    'Erased',
    'not checked',
  ]),
  /** References, digests and times of this link, by name. */
  detail: z.record(z.string(), z.string()),
});
export type WhyLink = z.infer<typeof whyLink>;

/** The chain behind one claim: one branch per piece of evidence. */
export const whyView = z.strictObject({
  runId,
  claimId: z.string(),
  key: name,
  text: z.string(),
  holds: z.boolean(),
  linkCount: z.int().min(0),
  brokenCount: z.int().min(0),
  /** Links that a tombstone stands for: they cannot be shown any more, and nothing says that they were wrong. */
  erasedCount: z.int().min(0),
  branches: z.array(z.strictObject({ anchor: z.string(), links: z.array(whyLink) })),
});
export type WhyView = z.infer<typeof whyView>;
