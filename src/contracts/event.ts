/**
 * Events: the truth of a run. Past tense, versioned, hash-chained. A body is hashed on its own first, so that a body can be
 * deleted later (tombstone) while the chain stays verifiable. No event holds or hashes a token or signature.
 * Source: DESIGN §4, CONTRACTS "Event kinds", INV-11.
 */
import { z } from 'zod';
import { answer } from './answer.ts';
import { usage } from './budget.ts';
import { CALL_EVENT_BODIES, governedOrigin } from './call-events.ts';
import { capabilityCard } from './capability-snapshot.ts';
import { EFFECT_EVENT_BODIES } from './effect-events.ts';
import { resultOrigin } from './earlier-result.ts';
import { bodyErased, erasedBody } from './erasure.ts';
import { errorRecord } from './error.ts';
import { evidence, toolCall } from './evidence.ts';
import { goalContract } from './goal.ts';
import {
  artifactId,
  digest,
  dispatchId,
  leaseId,
  name,
  planId,
  runId,
  semver,
  sessionId,
  snapshotId,
  stepId,
  tenant,
  timestamp,
  traceparent,
} from './ids.ts';
import { finding, plan } from './plan.ts';
import { skillContract } from './skill.ts';
import { runResult, stepResult } from './step-result.ts';
import { proposalRecord } from './tool-proposal.ts';

export const EVENT_VERSION = 1;

/** Who proposed a plan: the built-in rules, a model, or a script; with what it was given and what it returned. */
export const proposer = z.strictObject({
  kind: z.enum(['rules', 'model', 'scripted', 'replay', 'team']),
  name: z.string().max(128),
  requestDigest: digest.optional(),
  responseDigest: digest.optional(),
  modelVersion: z.string().max(128).optional(),
  promptVersion: z.string().max(64).optional(),
  modelTokenCount: z.int().min(0).optional(),
});
export type Proposer = z.infer<typeof proposer>;

/** Something a run relies on that is not as it was: which, and what it was and is. */
export const movedField = z.strictObject({
  what: z.string().max(256),
  expected: z.string().max(256),
  got: z.string().max(256),
});
export type MovedField = z.infer<typeof movedField>;
export const movedFields = z.array(movedField).min(1).max(64);

/** What would unblock a blocked run. */
export const blockedReason = z.strictObject({
  code: z.enum([
    'GOAL_UNCLEAR',
    'RESULT_CONFLICT',
    'RECOVERY',
    'APPROVAL',
    'EFFECT_UNKNOWN',
    'STEP_BLOCKED',
    'CONTRACT',
  ]),
  question: z.string().max(2_000),
  /** The name under which the answer is given: `caseops answer RUN --input claim_id=C-102`. */
  wants: name,
  options: z.array(z.string().max(256)).max(64),
  /** What is not as the run was planned with. */
  moved: movedFields.optional(),
});
export type BlockedReason = z.infer<typeof blockedReason>;

/** Where a run comes from: a person's request, a dispatch of a caller (then it is a team run), or a program that brings its tools. */
export const origin = z.discriminatedUnion('level', [
  z.strictObject({
    level: z.literal('central'),
    requestedBy: z.string().max(256),
    sessionId,
    idempotencyKey: z.string().max(256).optional(),
    /** Runs of the same person and session that this one follows, latest first: what they have settled may settle its steps. */
    earlierRunIds: z.array(runId).max(16).optional(),
    requestDigest: digest,
    /** The span that asked, when the request came with one or was traced. */
    traceparent: traceparent.optional(),
  }),
  z.strictObject({
    level: z.literal('team'),
    /** Authenticated workload of the caller. */
    caller: z.string().max(256),
    subject: z.string().max(256),
    messageId: z.string().max(256),
    /** Over parts, skill and reference ids, without lease metadata. */
    payloadDigest: digest,
    parentRunId: runId,
    dispatchId,
    taskId: z.string().max(128),
    contextId: z.string().max(128),
    leaseId: z.string().max(80),
    /** The span of the request that brought the dispatch. */
    traceparent: traceparent.optional(),
  }),
  governedOrigin,
]);
export type Origin = z.infer<typeof origin>;

const attempt = z.int().min(1);
const planRef = z.strictObject({ planId, planVersion: z.int().min(1), planDigest: digest });
const contractRef = z.strictObject({ version: semver, digest });
const at = { stepId, attempt, planVersion: z.int().min(1) };
const reserved = { toolCallCount: z.int().min(0), modelTokenCount: z.int().min(0) };
const arrival = { ...at, resultHash: digest.optional(), dispatchId, reason: z.string().max(500) };
const artifactHead = {
  ...at,
  artifactId,
  contentDigest: digest,
  dispatchId,
  taskId: z.string().max(128),
  contextId: z.string().max(128),
  leaseId: z.string().max(80),
  producer: z.string().max(256),
};

/** A result that could have been accepted, kept whole so that a person may let it hold. */
export const rival = z.strictObject({
  result: stepResult,
  toolCalls: z.array(toolCall).max(1_000),
  artifact: z.strictObject({ ...artifactHead, schemaId: z.string().max(256) }),
});
export type Rival = z.infer<typeof rival>;

export const EVENT_BODIES = {
  'run.received': z.strictObject({ origin, statement: z.string().max(20_000), language: z.string().max(2) }),
  'goal.frozen': z.strictObject({ goal: goalContract, goalDigest: digest }),
  /** It waits for its turn; its running time has not begun. */
  'run.queued': z.strictObject({ aheadCount: z.int().min(0) }),
  'run.admitted': z.strictObject({ waitedMs: z.int().min(0) }),
  'plan.proposed': z.strictObject({
    planId: z.string().max(80),
    version: z.int().min(1),
    planDigest: digest,
    proposer,
    round: z.int().min(0),
  }),
  'plan.rejected': z.strictObject({
    planId: z.string().max(80),
    version: z.int().min(1),
    planDigest: digest,
    findings: z.array(finding).min(1).max(1_000),
    round: z.int().min(0),
  }),
  'plan.accepted': z.strictObject({
    planId,
    plan,
    planDigest: digest,
    snapshotId,
    /** The contracts the plan uses: this run finishes under them whatever is deployed later. */
    skills: z.array(skillContract).max(1_024),
    cards: z.array(capabilityCard).max(256),
    teamPolicyDigests: z.record(name, digest),
  }),
  /** A person moved the run to the contracts that are offered now: its open steps, by a plan of the next version. What is settled stands. */
  'run.migrated': z.strictObject({
    from: planRef,
    to: planRef,
    plan,
    /** The steps whose skill contract is another one, with version and digest of both. */
    steps: z.array(z.strictObject({ stepId, from: contractRef, to: contractRef })).max(1_024),
    /** Their new contracts; and of all teams the cards and policies that now hold. */
    skills: z.array(skillContract).max(1_024),
    cards: z.array(capabilityCard).max(256),
    teamPolicyDigests: z.record(name, digest),
    by: z.string().max(256),
    reason: z.string().min(1).max(1_000),
  }),
  /** The plan's next version holds from here: `kept` steps stand with their results, every other one begins anew. */
  'plan.revised': z.strictObject({
    from: planRef,
    to: planRef,
    plan,
    snapshotId,
    kept: z.array(stepId).max(1_024),
    skills: z.array(skillContract).max(1_024),
    cards: z.array(capabilityCard).max(256),
    teamPolicyDigests: z.record(name, digest),
    by: z.string().max(256),
    reason: z.string().min(1).max(1_000),
  }),
  'step.dispatched': z.strictObject({
    ...at,
    dispatchId,
    leaseId,
    audience: z.string().max(512),
    inputDigest: digest,
    deadlineAt: timestamp,
  }),
  'step.started': z.strictObject({ ...at, dispatchId, taskId: z.string().max(128), contextId: z.string().max(128) }),
  'step.attempt_failed': z.strictObject({ ...at, dispatchId, error: errorRecord, retryAt: timestamp.optional() }),
  /** A step takes the result of an earlier run, by reference: `step.settled` follows. Nobody was dispatched and nothing called. */
  'step.reused': z.strictObject({
    stepId,
    planVersion: z.int().min(1),
    origin: resultOrigin,
    /** The time at which its freshness was measured, and the age of its oldest observation then. */
    asOf: timestamp,
    ageMs: z.int().min(0),
    /** Whose grant, as it is now, allows it; under which policy of the step's team. */
    authorisedFor: z.string().max(256),
    policyDigest: digest.optional(),
  }),
  'step.settled': z.strictObject({
    result: stepResult,
    dispatchId: dispatchId.optional(),
    toolCalls: z.array(toolCall).max(1_000),
  }),
  'step.skipped': z.strictObject({
    stepId,
    planVersion: z.int().min(1),
    because: z.array(stepId).max(1_000),
    reason: z.string().max(500),
  }),
  /** A model's proposal inside the step's worker, with what was decided about it. */
  'worker.proposed': proposalRecord.extend(at),
  /** `artifactRef`: where its bytes are kept, also those that are not accepted. */
  'artifact.received': z.strictObject({ ...artifactHead, sizeBytes: z.int().min(0), artifactRef: digest.optional() }),
  'artifact.accepted': z.strictObject({
    ...artifactHead,
    schemaId: z.string().max(256),
    evidence: z.array(evidence).max(1_000),
  }),
  'artifact.rejected': z.strictObject({ ...artifactHead, error: errorRecord }),
  'artifact.quarantined': z.strictObject({ ...artifactHead, error: errorRecord }),
  'result.stale': z.strictObject(arrival),
  'result.duplicate': z.strictObject(arrival),
  'result.conflicted': z.strictObject({ ...arrival, rival: rival.optional() }),
  /** Which of a step's results holds. With `adopted` it is not the one that was settled, and the plan's next version follows. */
  'conflict.decided': z.strictObject({
    stepId,
    planVersion: z.int().min(1),
    held: digest,
    refused: z.array(digest).min(1).max(64),
    adopted: rival.optional(),
    by: z.string().max(256),
    reason: z.string().min(1).max(1_000),
  }),
  'result.late': z.strictObject(arrival),
  'budget.reserved': z.strictObject({ stepId, attempt, ...reserved }),
  'budget.settled': z.strictObject({ stepId, attempt, reserved: z.strictObject(reserved), used: usage }),
  'run.blocked': blockedReason,
  'run.unblocked': z.strictObject({
    code: blockedReason.shape.code,
    by: z.string().max(256),
    input: z.record(name, z.string().max(2_000)),
  }),
  ...EFFECT_EVENT_BODIES,
  ...CALL_EVENT_BODIES,
  'cancel.requested': z.strictObject({ by: z.string().max(256), reason: z.string().max(1_000) }),
  'cancel.settled': z.strictObject({
    unresolved: z
      .array(z.strictObject({ stepId, taskId: z.string().max(128).optional(), reason: z.string().max(500) }))
      .max(1_000),
  }),
  'run.recovered': z.strictObject({ pausedMs: z.int().min(0), checked: z.array(name).max(32), fence: z.int().min(0) }),
  'answer.composed': z.strictObject({ answer }),
  'answer.refused': z.strictObject({ error: errorRecord }),
  /** A tombstone: what was taken out of an ended run. The one event that follows its end for that. */
  'run.erased': erasedBody,
  /** What is read where a body is gone; never decided, never sealed: its hash is that of the event that it was. */
  'body.erased': bodyErased,
  'run.ended': z.strictObject({ result: runResult, needsHuman: z.boolean(), reason: z.string().max(1_000).optional() }),
} as const satisfies Record<string, z.ZodType>;

export type EventKind = keyof typeof EVENT_BODIES;
export type EventBody<K extends EventKind = EventKind> = z.infer<(typeof EVENT_BODIES)[K]>;

/** An event before it is sealed into the chain. */
export type EventDraft = {
  [K in Exclude<EventKind, 'body.erased'>]: { readonly kind: K; readonly body: EventBody<K> };
}[Exclude<EventKind, 'body.erased'>];

const envelope = {
  tenant,
  runId,
  seq: z.int().min(1),
  schemaVersion: z.literal(EVENT_VERSION),
  at: timestamp,
  actor: z.string().max(256),
  prev: z.union([digest, z.literal('')]),
  bodyDigest: digest,
  hash: digest,
};

/** A sealed event. `hash` = sha-256 over the RFC 8785 form of all fields but `body` and `hash`. */
export type RunEvent = {
  [K in EventKind]: z.infer<z.ZodObject<typeof envelope>> & { readonly kind: K; readonly body: EventBody<K> };
}[EventKind];

/** Schema of a sealed event as stored and exported. */
export const runEvent = z.discriminatedUnion(
  'kind',
  Object.entries(EVENT_BODIES).map(([kind, body]) =>
    z.strictObject({ ...envelope, kind: z.literal(kind), body }),
  ) as never,
) as unknown as z.ZodType<RunEvent>;
