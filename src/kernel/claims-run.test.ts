/** The run of C-102 for the kernel's tests, event by event, with the artifacts that its three steps delivered. Synthetic. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { artifact as artifactSchema, type Artifact } from '#contracts/artifact.ts';
import { runEvent, type EventDraft, type RunEvent } from '#contracts/event.ts';
import type { Evidence, ToolCall } from '#contracts/evidence.ts';
import type { StepResult } from '#contracts/step-result.ts';
import { artifactDigest } from './artifact-acceptance.ts';
import { sealEvent, verifyChain } from './chain.ts';
import { AT, GOAL, PLAN, SNAPSHOT } from './claims-world.test.ts';
import { digestOf } from './digest.ts';
import { foldRun } from './evolve.ts';
import { goalDigest } from './goal-digest.ts';
import { resultHash } from './result-hash.ts';
import type { RunState } from './run-state.ts';

export const REF = { tenant: 't9', runId: 'run_1' } as const;

/** A record as its owner has it. */
interface Observed {
  readonly anchor: string;
  readonly version: string;
  readonly record: Readonly<Record<string, string | string[] | number>>;
}

export const OBSERVED: Readonly<Record<string, readonly Observed[]>> = {
  s1: [
    {
      anchor: 'claim:C-102',
      version: 'v17',
      record: { claim_id: 'C-102', status: 'pending_documents', updated_at: '2026-07-22T14:11:09Z' },
    },
    { anchor: 'claim-documents:C-102', version: 'v3', record: { claim_id: 'C-102', missing: ['accident_report'] } },
  ],
  s2: [
    {
      anchor: 'policy-rule:R-7',
      version: 'v2',
      record: { rule_id: 'R-7', next_step: 'The handler asks for the missing document.' },
    },
  ],
  s3: [{ anchor: 'notice-draft:N-1', version: 'v1', record: { state: 'draft', subject: 'Your claim' } }],
};

const DATA: Readonly<Record<string, Record<string, string>>> = {
  s1: { cause: 'missing_documents', missing_documents: 'accident_report' },
  s2: { next_action: 'ask' },
  s3: { notification_draft: 'N-1' },
};

export function stepOf(stepId: string): (typeof PLAN.steps)[number] {
  const step = PLAN.steps.find((one) => one.stepId === stepId);
  assert.ok(step !== undefined, `the plan has ${stepId}`);
  return step;
}

function callOf(stepId: string): ToolCall {
  return {
    callId: `call_${stepId}`,
    server: 'claims-db',
    tool: 'get-claim',
    contractVersion: '1.0.0',
    contractDigest: digestOf('get-claim'),
    protocolRevision: '2026-07-28',
    serverVersion: '1.0.0',
    leaseId: `lse_tool-${stepId}`,
    worker: `${stepId}-worker`,
    argumentsDigest: digestOf({ claim_id: 'C-102' }),
    resultDigest: digestOf(stepId),
    outcome: 'ok',
    startedAt: AT,
    endedAt: AT,
  };
}

function evidenceOf(stepId: string, { anchor, version, record }: Observed, index: number): Evidence {
  return {
    evidenceId: `ev_${stepId}-${index}`,
    source: 'claims-db',
    anchor,
    version,
    observedAt: AT,
    digest: digestOf(record),
    trust: 'authoritative',
    readers: ['internal'],
    callId: `call_${stepId}`,
  };
}

/** The artifact of a step, with the digest of what it then holds. */
export function artifactOf(stepId: string, change: (artifact: Artifact) => void = () => {}): Artifact {
  const { team, skillId } = stepOf(stepId);
  const observed = OBSERVED[stepId] ?? [];
  const evidence = observed.map((one, index) => evidenceOf(stepId, one, index));
  const open: Artifact = {
    contractVersion: '1.0.0',
    artifactId: `art_${stepId}`,
    binding: {
      dispatchId: `dsp_${stepId}`,
      stepId,
      planVersion: 1,
      attempt: 1,
      taskId: `task-${stepId}`,
      contextId: 'ctx-1',
      leaseId: `lse_${stepId}`,
    },
    producer: { team, workload: `spiffe://caseops.test/team/${team}`, worker: `${stepId}-worker` },
    skillId,
    skillVersion: '1.0.0',
    schemaId: `${skillId}.artifact`,
    schemaVersion: '1.0.0',
    status: 'completed',
    data: { ...DATA[stepId] },
    evidence,
    records: Object.fromEntries(observed.map(({ record }, index) => [`ev_${stepId}-${index}`, { ...record }])),
    toolCalls: [callOf(stepId)],
    missing: [],
    errors: [],
    producedAt: AT,
    contentDigest: digestOf(''),
  };
  change(open);
  const { contentDigest: _, ...content } = open;
  return { ...open, contentDigest: artifactDigest(content) };
}

export function resultOf(artifact: Artifact): StepResult {
  const { status, data, evidence, missing, errors } = artifact;
  return {
    stepId: artifact.binding.stepId,
    planVersion: 1,
    attempt: 1,
    status,
    artifactRef: artifact.contentDigest,
    ...(data === undefined ? {} : { data }),
    evidence,
    missing,
    errors,
    usage: { modelTokenCount: 0, toolCallCount: 1, durationMs: 10 },
    producer: artifact.producer.workload,
    contractVersion: '1.0.0',
    resultHash: resultHash({ status, data, evidence, missing, contractVersion: '1.0.0' }),
  };
}

/** How the run begins: received, goal frozen, plan accepted. */
export const OPENING: readonly EventDraft[] = [
  {
    kind: 'run.received',
    body: {
      origin: { level: 'central', requestedBy: 'requester@t9', sessionId: 'ses_1', requestDigest: digestOf('request') },
      statement: GOAL.statement.text,
      language: 'en',
    },
  },
  { kind: 'goal.frozen', body: { goal: GOAL, goalDigest: goalDigest(GOAL) } },
  {
    kind: 'plan.proposed',
    body: {
      planId: 'plan_1',
      version: 1,
      planDigest: digestOf(PLAN),
      proposer: { kind: 'rules', name: 'rules' },
      round: 0,
    },
  },
  {
    kind: 'plan.accepted',
    body: {
      planId: 'plan_1',
      plan: PLAN,
      planDigest: digestOf(PLAN),
      snapshotId: 'cap_1',
      skills: SNAPSHOT.skills,
      cards: SNAPSHOT.cards,
      teamPolicyDigests: {},
    },
  },
];

const at = (stepId: string) => ({ stepId, attempt: 1, planVersion: 1 }) as const;

/** A step handed out and begun. */
export function begun(stepId: string): readonly EventDraft[] {
  return [
    { kind: 'budget.reserved', body: { stepId, attempt: 1, toolCallCount: 2, modelTokenCount: 0 } },
    {
      kind: 'step.dispatched',
      body: {
        ...at(stepId),
        dispatchId: `dsp_${stepId}`,
        leaseId: `lse_${stepId}`,
        audience: 'http://127.0.0.1:9000/claims',
        inputDigest: digestOf(stepId),
        deadlineAt: '2026-07-22T15:00:09.000Z',
      },
    },
    {
      kind: 'step.started',
      body: { ...at(stepId), dispatchId: `dsp_${stepId}`, taskId: `task-${stepId}`, contextId: 'ctx-1' },
    },
  ];
}

/** A step whose artifact was accepted. */
export function settled(artifact: Artifact): readonly EventDraft[] {
  const { binding, artifactId, contentDigest, producer, schemaId, evidence, toolCalls } = artifact;
  const { leaseId, dispatchId, taskId, contextId, stepId } = binding;
  const head = {
    ...at(stepId),
    artifactId,
    contentDigest,
    dispatchId,
    taskId,
    contextId,
    leaseId: leaseId as `lse_${string}`,
    producer: producer.workload,
  };
  const result = resultOf(artifact);
  return [
    { kind: 'artifact.received', body: { ...head, sizeBytes: 1_000 } },
    { kind: 'artifact.accepted', body: { ...head, schemaId, evidence } },
    { kind: 'step.settled', body: { result, dispatchId, toolCalls } },
    {
      kind: 'budget.settled',
      body: { stepId, attempt: 1, reserved: { toolCallCount: 2, modelTokenCount: 0 }, used: result.usage },
    },
  ];
}

export function sealed(drafts: readonly EventDraft[]): readonly RunEvent[] {
  let head: { readonly seq: number; readonly hash: RunEvent['hash'] | '' } = { seq: 0, hash: '' };
  return drafts.map((draft) => {
    const event = sealEvent({ ref: REF, ...head }, draft, { at: AT, actor: 'spiffe://caseops.test/supervisor' });
    head = event;
    return event;
  });
}

export function stateOf(drafts: readonly EventDraft[]): RunState {
  const state = foldRun(sealed(drafts));
  assert.ok(state !== undefined, 'the run was received');
  return state;
}

export const ARTIFACTS: readonly Artifact[] = ['s1', 's2', 's3'].map((stepId) => artifactOf(stepId));

/** All three steps settled; no answer yet. */
export const SETTLED: readonly EventDraft[] = [
  ...OPENING,
  ...ARTIFACTS.flatMap((artifact) => [...begun(artifact.binding.stepId), ...settled(artifact)]),
];

export function recordsOf(artifacts: readonly Artifact[] = ARTIFACTS): Readonly<Record<string, unknown>> {
  return Object.assign({}, ...artifacts.map(({ records }) => records)) as Record<string, unknown>;
}

test('the run of these tests conforms to its contracts and its chain holds', () => {
  const events = sealed(SETTLED);
  for (const event of events) assert.deepEqual(runEvent.parse(event), event);
  assert.ok(verifyChain({ ref: REF, seq: 0, hash: '' }, events).ok);
  for (const artifact of ARTIFACTS) assert.deepEqual(artifactSchema.parse(artifact), artifact);
});
