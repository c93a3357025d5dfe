/**
 * A run of steps that do nothing: first → three side by side → join → last. It goes through the real contracts, validator and
 * acceptance, without teams, tools or keys. For driver tests, and for measuring the store floor. Source: DESIGN §9.
 */
import type { Artifact } from '#contracts/artifact.ts';
import type { CapabilitySnapshot } from '#contracts/capability-snapshot.ts';
import type { Command, CommandOf, JobTodo, RunRef } from '#contracts/command.ts';
import type { BlockedReason } from '#contracts/event.ts';
import type { GoalContract } from '#contracts/goal.ts';
import type { StepId } from '#contracts/ids.ts';
import type { Plan } from '#contracts/plan.ts';
import type { SkillContract } from '#contracts/skill.ts';
import { digestOf } from '#kernel/digest.ts';
import { goalDigest } from '#kernel/goal-digest.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { Prepared } from '#ports/driver.ts';
import type { Ids } from '#ports/ids.ts';

const TRIVIAL_TENANT = 't9';
const REQUESTER = 'requester@t9';
const WORKLOAD = 'spiffe://caseops.test/team/trivial';
const AUDIENCE = 'https://trivial.example';
const ACTION = 'trivial:read';
const PURPOSE = 'trivial';
const NOTHING_USED = { modelTokenCount: 0, toolCallCount: 0, durationMs: 1 };

const INPUT = { type: 'object', properties: {}, required: [], additionalProperties: false };
const OUTPUT = {
  type: 'object',
  properties: { done: { type: 'string' } },
  required: ['done'],
  additionalProperties: false,
};

/** The one skill that every step uses: two attempts, 100 ms apart, 2 s each. */
const SKILL: SkillContract = {
  skillId: 'do-nothing',
  version: '1.0.0',
  team: 'trivial',
  description: 'Says that it is done.',
  input: { schemaId: 'trivial.input', schemaVersion: '1.0.0', digest: digestOf(INPUT), schema: INPUT },
  artifact: { schemaId: 'trivial.artifact', schemaVersion: '1.0.0', digest: digestOf(OUTPUT), schema: OUTPUT },
  requires: [],
  produces: [{ kind: 'done', pointer: '/done' }],
  acceptedResults: [],
  risk: 'read_only',
  actions: [ACTION],
  effectActions: [],
  resources: [],
  datatypes: [],
  purposes: [PURPOSE],
  toolContracts: [],
  evidence: { anchorTypes: [], countMin: 0 },
  acceptanceCriteria: [],
  stateFields: [],
  approval: 'none',
  sideEffect: 'none',
  available: true,
  timeoutMs: 2_000,
  minimumRuntimeMs: 0,
  latencySloMs: 1_000,
  retry: { attemptCountMax: 2, backoffMs: 100 },
  stepBudget: { modelTokenCountMax: 0, toolCallCountMax: 0, timeoutMs: 2_000 },
  taskSupport: 'forbidden',
  whichArtifact: 'only',
};

const BUDGET: GoalContract['budget'] = {
  stepCountMax: 100_000,
  modelTokenCountMax: 0,
  toolCallCountMax: 0,
  concurrencyMax: 8,
  deadlineMs: 60_000,
  replanCountMax: 1,
};

/** Step → the steps it waits for. */
const SHAPE: Readonly<Record<StepId, readonly StepId[]>> = {
  first: [],
  a: ['first'],
  b: ['first'],
  c: ['first'],
  join: ['a', 'b', 'c'],
  last: ['join'],
};
export const TRIVIAL_STEPS: readonly StepId[] = Object.keys(SHAPE);

const GOAL: GoalContract = {
  contractVersion: '1.0.0',
  goalId: 'goal_trivial',
  revision: 1,
  tenant: TRIVIAL_TENANT,
  requestedBy: REQUESTER,
  sessionId: 'ses_trivial',
  kind: 'trivial',
  kindVersion: '1.0.0',
  purpose: PURPOSE,
  subject: { type: 'nothing', ids: ['N-1'] },
  entities: {},
  requestedOutputs: [{ kind: 'done', required: true }],
  prohibitedActions: [],
  constraints: [],
  evidencePolicy: { factsNeedEvidence: true, observationAgeMsMax: 0 },
  claims: [],
  budget: BUDGET,
  statement: { text: 'Do nothing, in order.', language: 'en' },
};

/** A plan of trivial steps: step → the steps it waits for. */
export function trivialPlan(shape: Readonly<Record<StepId, readonly StepId[]>>): Plan {
  return {
    contractVersion: '1.0.0',
    planId: 'plan_trivial',
    version: 1,
    goalId: GOAL.goalId,
    goalDigest: goalDigest(GOAL),
    snapshotId: 'cap_trivial',
    steps: Object.entries(shape).map(([stepId, after]) => ({
      stepId,
      team: SKILL.team,
      skillId: SKILL.skillId,
      skillVersion: SKILL.version,
      dependsOn: after.map((other) => ({ stepId: other, strength: 'strong' as const })),
      inputs: {},
      required: true,
      actions: [ACTION],
      budget: SKILL.stepBudget,
      approval: 'none',
    })),
    join: {
      requiredSteps: Object.keys(shape),
      optionalSteps: [],
      completionRule: 'all_terminal',
      successRule: 'all_required_completed',
      onOptionalFailure: 'degraded',
      onRequiredNoData: 'no_data',
      onRequiredFailure: 'failed',
      onLateResult: 'record_only',
      onConflict: 'block',
      conflictDecider: 'person',
    },
    budget: BUDGET,
    claims: [],
  };
}

const PLAN = trivialPlan(SHAPE);

/** Opens the run. `question` opens it blocked. */
export function trivialReceive(at: string, question = false): CommandOf<'receive'> {
  const blocked: BlockedReason = { code: 'GOAL_UNCLEAR', question: 'What is to be done?', wants: 'what', options: [] };
  return {
    kind: 'receive',
    at,
    actor: REQUESTER,
    origin: { level: 'central', requestedBy: REQUESTER, sessionId: GOAL.sessionId, requestDigest: digestOf('trivial') },
    statement: GOAL.statement.text,
    language: GOAL.statement.language,
    intake: question ? { kind: 'question', blocked } : { kind: 'goal', goal: GOAL },
  };
}

/** Answers the question of a run opened with one. */
export function trivialClarify(at: string): CommandOf<'clarify'> {
  return { kind: 'clarify', at, actor: REQUESTER, input: { what: 'nothing' }, intake: { kind: 'goal', goal: GOAL } };
}

/** Plans at once. The snapshot is taken at `at`, so that it has not expired. */
export function trivialPropose(at: string, plan = PLAN): CommandOf<'propose'> {
  const snapshot: CapabilitySnapshot = {
    snapshotId: PLAN.snapshotId,
    tenant: TRIVIAL_TENANT,
    takenAt: at,
    expiresAt: '2099-01-01T00:00:00.000Z',
    cards: [
      {
        team: SKILL.team,
        cardName: SKILL.team,
        cardVersion: '1.0.0',
        protocolVersion: '1.0',
        verifiedBy: 'k'.repeat(43),
        cardDigest: digestOf(SKILL.team),
        interfaces: [{ url: AUDIENCE, binding: 'INPROCESS' }],
        audience: AUDIENCE,
        workload: WORKLOAD,
        toolAudiences: {},
      },
    ],
    skills: [SKILL],
    teamPolicyDigests: {},
    policy: {
      digest: digestOf('policy'),
      tenants: [TRIVIAL_TENANT],
      purposes: [PURPOSE],
      userActions: [ACTION],
      workloadActions: [ACTION],
    },
    unavailable: [],
  };
  return {
    kind: 'propose',
    at,
    actor: 'supervisor',
    plan,
    proposer: { kind: 'scripted', name: 'trivial' },
    snapshot,
  };
}

/** A dispatch with its lease row. */
export function trivialDispatch(
  ref: RunRef,
  todo: Extract<JobTodo, { readonly kind: 'dispatch' }>,
  by: { readonly at: string; readonly ids: Ids },
): Prepared {
  const { stepId, attempt } = todo;
  const leaseId = by.ids.next('lse');
  const issuedAt = Math.floor(Date.parse(by.at) / 1_000);
  const command: Command = {
    kind: 'dispatch',
    at: by.at,
    actor: 'supervisor',
    stepId,
    attempt,
    planVersion: PLAN.version,
    dispatchId: by.ids.next('dsp'),
    leaseId,
    audience: AUDIENCE,
    deadlineAt: '2099-01-01T00:00:00.000Z',
  };
  const row = {
    leaseId,
    tenant: ref.tenant,
    runId: ref.runId,
    stepId,
    attempt,
    subject: REQUESTER,
    actor: 'supervisor',
    audience: AUDIENCE,
    actions: [ACTION],
    resources: ['nothing:N-1'],
    purpose: PURPOSE,
    depth: 0,
    use: 'single',
    issuedAt,
    expiresAt: issuedAt + 120,
  };
  return { command, records: [{ table: 'lease', row }] };
}

/** What the team delivers for an attempt that is in flight; `text` makes one result differ from another. */
export function trivialDeliver(
  state: RunState,
  todo: Extract<JobTodo, { readonly kind: 'send' }>,
  by: { readonly at: string; readonly ids: Ids; readonly text?: string },
): CommandOf<'deliver'> {
  const { stepId, attempt, dispatchId } = todo;
  const leaseId = state.steps.get(stepId)?.attempts[attempt - 1]?.leaseId ?? 'lse_unknown';
  const taskId = `task-${dispatchId}`;
  const open: Omit<Artifact, 'contentDigest'> = {
    contractVersion: '1.0.0',
    artifactId: by.ids.next('art'),
    binding: { dispatchId, stepId, planVersion: PLAN.version, attempt, taskId, contextId: 'context', leaseId },
    producer: { team: SKILL.team, workload: WORKLOAD, worker: 'nobody' },
    skillId: SKILL.skillId,
    skillVersion: SKILL.version,
    schemaId: SKILL.artifact.schemaId,
    schemaVersion: SKILL.artifact.schemaVersion,
    status: 'completed',
    data: { done: by.text ?? stepId },
    evidence: [],
    records: {},
    toolCalls: [],
    missing: [],
    errors: [],
    producedAt: by.at,
  };
  const artifact: Artifact = { ...open, contentDigest: digestOf(open) };
  return {
    kind: 'deliver',
    at: by.at,
    actor: WORKLOAD,
    stepId,
    planVersion: PLAN.version,
    attempt,
    dispatchId,
    artifact,
    artifactRef: artifact.contentDigest,
    sizeBytes: 512,
    usage: NOTHING_USED,
  };
}
