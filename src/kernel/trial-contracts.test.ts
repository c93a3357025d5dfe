/** Synthetic goals, skills, plans and deliveries for the tests of a run. */
import type { Answer } from '#contracts/answer.ts';
import type { Artifact } from '#contracts/artifact.ts';
import type { CapabilitySnapshot } from '#contracts/capability-snapshot.ts';
import type { Command, CommandOf } from '#contracts/command.ts';
import { ERROR_CODES, type ErrorCode } from '#contracts/error.ts';
import type { Evidence } from '#contracts/evidence.ts';
import type { GoalContract } from '#contracts/goal.ts';
import type { DispatchId, StepId } from '#contracts/ids.ts';
import type { Plan, PlanStep } from '#contracts/plan.ts';
import type { SchemaDocument, SkillContract } from '#contracts/skill.ts';
import type { StepStatus } from '#contracts/step-result.ts';
import { digestOf } from './digest.ts';
import { goalDigest } from './goal-digest.ts';
import { timestampOf } from './time.ts';

export type Body<K extends Command['kind']> = Omit<CommandOf<K>, 'kind' | 'at' | 'actor'>;

export const START_MS = Date.parse('2026-07-22T15:00:00.000Z');
export const REF = { tenant: 't9', runId: 'run_1' } as const;
export const WORKLOAD = 'spiffe://caseops.test/team/claims';

/** The time `ms` after the run was received. */
export function atMs(ms: number): string {
  return timestampOf(START_MS + ms);
}

function document(schemaId: string, schema: SchemaDocument['schema']): SchemaDocument {
  return { schemaId, schemaVersion: '1.0.0', digest: digestOf(schema), schema };
}

/** The one skill of these runs: it delivers `{ value }`. */
export function skillOf(over: Partial<SkillContract> = {}): SkillContract {
  const value = {
    type: 'object',
    properties: { value: { type: 'string' } },
    required: ['value'],
    additionalProperties: false,
  };
  return {
    skillId: 'claim-status',
    version: '1.0.0',
    team: 'claims',
    description: 'Reads a claim.',
    input: document('claim-status.input', { type: 'object' }),
    artifact: document('claim-status.artifact', value),
    requires: [],
    produces: [{ kind: 'value', pointer: '/value' }],
    acceptedResults: [],
    risk: 'read_only',
    actions: ['claims:read'],
    effectActions: [],
    resources: [],
    datatypes: [],
    purposes: ['claim_investigation'],
    toolContracts: [],
    evidence: { anchorTypes: ['claim'], countMin: 1 },
    acceptanceCriteria: [],
    stateFields: [],
    approval: 'none',
    sideEffect: 'none',
    available: true,
    timeoutMs: 2_000,
    minimumRuntimeMs: 100,
    latencySloMs: 500,
    retry: { attemptCountMax: 2, backoffMs: 10 },
    stepBudget: { modelTokenCountMax: 0, toolCallCountMax: 1, timeoutMs: 2_000 },
    taskSupport: 'forbidden',
    whichArtifact: 'only',
    ...over,
  };
}

export const BUDGET: Plan['budget'] = {
  stepCountMax: 16,
  modelTokenCountMax: 1_000,
  toolCallCountMax: 32,
  concurrencyMax: 8,
  deadlineMs: 9_000,
  replanCountMax: 2,
};

export function goalOf(over: Partial<GoalContract> = {}): GoalContract {
  return {
    contractVersion: '1.0.0',
    goalId: 'goal_1',
    revision: 1,
    tenant: 't9',
    requestedBy: 'requester@t9',
    sessionId: 'ses_1',
    kind: 'claim_investigation',
    kindVersion: '1.0.0',
    purpose: 'claim_investigation',
    subject: { type: 'claim', ids: ['C-102'] },
    entities: { claim_id: 'C-102', claim_ids: ['C-102', 'C-103'] },
    requestedOutputs: [{ kind: 'value', required: true }],
    prohibitedActions: [],
    constraints: [],
    evidencePolicy: { factsNeedEvidence: true, observationAgeMsMax: 60_000 },
    claims: [],
    budget: BUDGET,
    statement: { text: 'Why is C-102 not completed?', language: 'en' },
    ...over,
  };
}

/** A step by name: `s1?` is optional; `after` names dependencies, `~s1` weakly. */
export function stepOf(name: string, after: readonly string[] = [], over: Partial<PlanStep> = {}): PlanStep {
  const optional = name.endsWith('?');
  return {
    stepId: optional ? name.slice(0, -1) : name,
    team: 'claims',
    skillId: 'claim-status',
    skillVersion: '1.0.0',
    dependsOn: after.map((on) =>
      on.startsWith('~') ? { stepId: on.slice(1), strength: 'weak' } : { stepId: on, strength: 'strong' },
    ),
    inputs: { claim_id: { from: 'goal', pointer: '/entities/claim_id' } },
    required: !optional,
    actions: ['claims:read'],
    budget: { modelTokenCountMax: 10, toolCallCountMax: 1, timeoutMs: 2_000 },
    approval: 'none',
    ...over,
  };
}

export interface Setup {
  readonly steps: readonly PlanStep[];
  readonly goal?: Partial<GoalContract>;
  readonly skills?: readonly SkillContract[];
  readonly join?: Partial<Plan['join']>;
  readonly budget?: Partial<Plan['budget']>;
}

export function planOf(setup: Setup): Plan {
  const goal = goalOf(setup.goal);
  return {
    contractVersion: '1.0.0',
    planId: 'plan_1',
    version: 1,
    goalId: goal.goalId,
    goalDigest: goalDigest(goal),
    snapshotId: 'cap_1',
    steps: [...setup.steps],
    join: {
      requiredSteps: setup.steps.filter(({ required }) => required).map(({ stepId }) => stepId),
      optionalSteps: setup.steps.filter(({ required }) => !required).map(({ stepId }) => stepId),
      completionRule: 'all_terminal',
      successRule: 'all_required_completed',
      onOptionalFailure: 'degraded',
      onRequiredNoData: 'no_data',
      onRequiredFailure: 'failed',
      onLateResult: 'record_only',
      onConflict: 'block',
      conflictDecider: 'person',
      ...setup.join,
    },
    budget: { ...BUDGET, ...setup.budget },
    claims: [],
  };
}

export function snapshotOf(setup: Setup): CapabilitySnapshot {
  return {
    snapshotId: 'cap_1',
    tenant: 't9',
    takenAt: atMs(0),
    expiresAt: atMs(60_000),
    cards: [
      {
        team: 'claims',
        cardName: 'claims',
        cardVersion: '1.0.0',
        protocolVersion: '1.0',
        verifiedBy: 'k'.repeat(43),
        cardDigest: digestOf('claims'),
        interfaces: [{ url: 'http://127.0.0.1:9000/claims', binding: 'HTTP+JSON' }],
        audience: 'http://127.0.0.1:9000/claims',
        toolAudiences: {},
        workload: WORKLOAD,
      },
    ],
    skills: [...(setup.skills ?? [skillOf()])],
    teamPolicyDigests: { claims: digestOf('policy') },
    policy: {
      digest: digestOf('central'),
      tenants: ['t9'],
      purposes: ['claim_investigation'],
      userActions: ['claims:read'],
      workloadActions: ['claims:read'],
    },
    unavailable: [],
  };
}

export function dispatchIdOf(stepId: StepId, attempt: number): DispatchId {
  return `dsp_${stepId}-${attempt}`;
}

export function startBody(stepId: StepId, attempt = 1): Body<'start'> {
  const dispatchId = dispatchIdOf(stepId, attempt);
  return { stepId, planVersion: 1, attempt, dispatchId, taskId: `task-${stepId}-${attempt}`, contextId: 'ctx' };
}

export function failBody(stepId: StepId, code: ErrorCode, attempt = 1): Body<'fail'> {
  const kind = ERROR_CODES[code];
  const error = { code, kind, message: `Failed with ${code}.`, at: 'a2a', retryable: kind === 'unavailable' };
  const usage = { toolCallCount: 0, modelTokenCount: 0, durationMs: 5 };
  return { stepId, planVersion: 1, attempt, dispatchId: dispatchIdOf(stepId, attempt), error, usage };
}

/** What a step delivers. */
export interface Made {
  readonly status?: StepStatus;
  readonly value?: string;
  readonly attempt?: number;
  readonly toolCallCount?: number;
  readonly skillId?: string;
  /** Data that its schema refuses. */
  readonly malformed?: boolean;
  /** Changes the artifact before its digest is taken. */
  readonly change?: (artifact: Omit<Artifact, 'contentDigest'>) => void;
}

export function evidenceOf(stepId: StepId, value: string): Evidence {
  return {
    evidenceId: `ev_${stepId}-${value}`,
    source: 'claims-db',
    anchor: `claim:${stepId}`,
    version: 'v17',
    observedAt: atMs(0),
    digest: digestOf({ value }),
    trust: 'authoritative',
    readers: ['internal'],
  };
}

export function artifactOf(stepId: StepId, made: Made = {}): Artifact {
  const { status = 'completed', value = 'pending', attempt = 1, skillId = 'claim-status', malformed = false } = made;
  const evidence = evidenceOf(stepId, value);
  const observed = status === 'completed' || status === 'partial' || status === 'degraded';
  const open: Omit<Artifact, 'contentDigest'> = {
    contractVersion: '1.0.0',
    artifactId: `art_${stepId}-${value}`,
    binding: {
      dispatchId: dispatchIdOf(stepId, attempt),
      stepId,
      planVersion: 1,
      attempt,
      taskId: `task-${stepId}-${attempt}`,
      contextId: 'ctx',
      leaseId: `lse_${stepId}-${attempt}`,
    },
    producer: { team: 'claims', workload: WORKLOAD, worker: 'reader' },
    skillId,
    skillVersion: '1.0.0',
    schemaId: 'claim-status.artifact',
    schemaVersion: '1.0.0',
    status,
    ...(observed ? { data: { value: malformed ? 17 : value } } : {}),
    evidence: [evidence],
    records: { [evidence.evidenceId]: { value } },
    toolCalls: [],
    missing: observed && status !== 'partial' ? [] : ['something'],
    errors: [],
    producedAt: atMs(0),
  };
  made.change?.(open);
  return { ...open, contentDigest: digestOf(open) };
}

export function deliverBody(stepId: StepId, made: Made = {}): Body<'deliver'> {
  const { attempt = 1, toolCallCount = 1 } = made;
  const artifact = artifactOf(stepId, made);
  return {
    stepId,
    planVersion: 1,
    attempt,
    dispatchId: dispatchIdOf(stepId, attempt),
    artifact,
    artifactRef: digestOf(artifact),
    sizeBytes: 100,
    usage: { toolCallCount, modelTokenCount: 0, durationMs: 5 },
  };
}

export function answerOf(over: Partial<Answer> = {}): Answer {
  return {
    contractVersion: '1.0.0',
    language: 'en',
    result: 'completed',
    needsHuman: false,
    claims: [],
    unsaid: [],
    missingSteps: [],
    evidence: [],
    ...over,
  };
}
