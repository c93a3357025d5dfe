/** The plan of a shape with its goal, skills and contracts, as the events with which an explored run begins. */
import type { EventBody, EventDraft } from '#contracts/event.ts';
import type { GoalContract } from '#contracts/goal.ts';
import type { Plan, PlanStep } from '#contracts/plan.ts';
import type { SchemaDocument, SkillContract } from '#contracts/skill.ts';
import { digestOf } from '#kernel/digest.ts';
import { goalDigest } from '#kernel/goal-digest.ts';
import { timestampOf } from '#kernel/time.ts';
import { type PlanShape, shapeName, symmetriesOf } from './plan-shapes.ts';

/** Time goes in units: nothing in an explored plan is due between two of them. */
export const UNIT_MS = 1_000;
export const START_MS = Date.parse('2026-07-22T15:00:00.000Z');
export const REF = { tenant: 't9', runId: 'run_explored' } as const;
export const REQUESTER = 'requester@t9';
export const APPROVER = 'approver@t9';
export const WORKLOAD = 'spiffe://caseops.test/team/claims';
export const AUDIENCE = 'http://127.0.0.1:9000/claims';
export const POLICY = digestOf('approval policy');

/**
 * How closely a plan is looked at. `close`: time in units (an attempt has one, a retry waits one, the run has three), calls for one attempt
 * of each step and one more, and every command that there is, also such as nobody should send. `wide`: one unit for all, calls enough, and
 * the commands of the world that the issue lists.
 */
export type Scope = 'close' | 'wide';

const ATTEMPT_TIMEOUT = 1;
const ATTEMPT_COUNT_MAX = 2;
/** In units. */
const RUN_DEADLINE = { close: 3, wide: 1 } as const;
const RETRY_BACKOFF = { close: 1, wide: 0 } as const;

export interface ExploredPlan {
  readonly name: string;
  readonly scope: Scope;
  /** Whether what has been used can keep a step from starting. */
  readonly scarce: boolean;
  readonly shape: PlanShape;
  readonly stepIds: readonly string[];
  readonly symmetries: readonly (readonly number[])[];
  readonly goal: GoalContract;
  readonly plan: Plan;
  readonly skills: ReadonlyMap<string, SkillContract>;
  readonly opening: readonly EventDraft[];
}

export interface PlanVariation {
  readonly scope: Scope;
  readonly join?: Partial<Plan['join']>;
  readonly concurrencyMax?: number;
  /** Whether the goal declares a sentence, over every read: then the run ends with an answer. */
  readonly answered?: boolean;
}

export function exploredPlan(shape: PlanShape, variation: PlanVariation): ExploredPlan {
  const stepIds = shape.steps.map((_, index) => `s${index + 1}`);
  const goal = goalOf(stepIds, variation);
  const plan = planOf(shape, goal, { stepIds, variation });
  const { scope } = variation;
  const skills = skillsOf(scope);
  return {
    name: shapeName(shape),
    scope,
    scarce: scope === 'close',
    shape,
    stepIds,
    symmetries: symmetriesOf(shape),
    goal,
    plan,
    skills: new Map(
      plan.steps.map(({ stepId, skillId }) => [stepId, skillId === SEND.skillId ? skills.send : skills.read]),
    ),
    opening: openingOf(goal, plan, [skills.read, skills.send]),
  };
}

function openingOf(goal: GoalContract, plan: Plan, skills: SkillContract[]): readonly EventDraft[] {
  return [
    {
      kind: 'run.received',
      body: {
        origin: {
          level: 'central',
          requestedBy: REQUESTER,
          sessionId: 'ses_1',
          requestDigest: digestOf('request'),
        },
        statement: goal.statement.text,
        language: goal.statement.language,
      },
    },
    { kind: 'goal.frozen', body: { goal, goalDigest: goalDigest(goal) } },
    { kind: 'plan.accepted', body: acceptedBody(plan, skills) },
  ];
}

function acceptedBody(plan: Plan, skills: SkillContract[]): EventBody<'plan.accepted'> {
  return {
    planId: plan.planId,
    plan,
    planDigest: digestOf(plan),
    snapshotId: plan.snapshotId,
    skills,
    cards: [
      {
        team: 'claims',
        cardName: 'claims',
        cardVersion: '1.0.0',
        protocolVersion: '1.0',
        verifiedBy: 'k'.repeat(43),
        cardDigest: digestOf('claims'),
        interfaces: [{ url: AUDIENCE, binding: 'HTTP+JSON' }],
        audience: AUDIENCE,
        toolAudiences: {},
        workload: WORKLOAD,
      },
    ],
    teamPolicyDigests: { claims: digestOf('policy') },
  };
}

const times = new Map<number, string>();

/** The time so many ms after the epoch. An exploration knows few of them. */
export function timeAt(ms: number): string {
  const known = times.get(ms) ?? timestampOf(ms);
  times.set(ms, known);
  return known;
}

function document(schemaId: string, schema: SchemaDocument['schema']): SchemaDocument {
  return { schemaId, schemaVersion: '1.0.0', digest: digestOf(schema), schema };
}

const READ: SkillContract = {
  skillId: 'claim-status',
  version: '1.0.0',
  team: 'claims',
  description: 'Reads a claim.',
  input: document('claim-status.input', { type: 'object' }),
  artifact: document('claim-status.artifact', {
    type: 'object',
    properties: { value: { type: 'string' } },
    required: ['value'],
    additionalProperties: false,
  }),
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
  timeoutMs: ATTEMPT_TIMEOUT * UNIT_MS,
  minimumRuntimeMs: 1,
  latencySloMs: 500,
  retry: { attemptCountMax: ATTEMPT_COUNT_MAX, backoffMs: 0 },
  stepBudget: { modelTokenCountMax: 0, toolCallCountMax: 1, timeoutMs: ATTEMPT_TIMEOUT * UNIT_MS },
  taskSupport: 'forbidden',
  whichArtifact: 'only',
};

const SEND: SkillContract = {
  ...READ,
  skillId: 'send-notice',
  description: 'Sends a notice.',
  requires: [{ name: 'notice', kind: 'notice' }],
  risk: 'effect',
  actions: ['notify:send'],
  effectActions: ['notify:send'],
  resources: [{ type: 'notice', input: 'notice' }],
  approval: 'person',
  sideEffect: 'external',
};

function skillsOf(scope: Scope): { readonly read: SkillContract; readonly send: SkillContract } {
  const retry = { attemptCountMax: ATTEMPT_COUNT_MAX, backoffMs: RETRY_BACKOFF[scope] * UNIT_MS };
  // In the wide scope an effect that is under way may at any moment have had its time.
  const timeoutMs = scope === 'close' ? SEND.timeoutMs : 0;
  return { read: { ...READ, retry }, send: { ...SEND, retry, timeoutMs } };
}

function goalOf(stepIds: readonly string[], variation: PlanVariation): GoalContract {
  return {
    contractVersion: '1.0.0',
    goalId: 'goal_1',
    revision: 1,
    tenant: REF.tenant,
    requestedBy: REQUESTER,
    sessionId: 'ses_1',
    kind: 'claim_investigation',
    kindVersion: '1.0.0',
    purpose: 'claim_investigation',
    subject: { type: 'claim', ids: ['C-102'] },
    entities: { claim_id: 'C-102', ...Object.fromEntries(stepIds.map((stepId) => [stepId, noticeOf(stepId)])) },
    requestedOutputs: [{ kind: 'value', required: true }],
    prohibitedActions: [],
    constraints: [],
    evidencePolicy: { factsNeedEvidence: true, observationAgeMsMax: 0 },
    claims: variation.answered === true ? [SENTENCE] : [],
    budget: {
      stepCountMax: 16,
      modelTokenCountMax: 0,
      toolCallCountMax: variation.scope === 'close' ? stepIds.length + 1 : stepIds.length * ATTEMPT_COUNT_MAX,
      concurrencyMax: variation.concurrencyMax ?? stepIds.length,
      deadlineMs: RUN_DEADLINE[variation.scope] * UNIT_MS,
      replanCountMax: 0,
    },
    statement: { text: 'Why is C-102 not completed?', language: 'en' },
  };
}

const SENTENCE: GoalContract['claims'][number] = {
  key: 'status',
  kind: 'fact',
  output: 'value',
  sentence: { en: 'The claim is {value}.' },
  slots: { value: { anchorType: 'claim', pointer: '/value', format: 'code' } },
};

/** What an effect step writes. */
export function noticeOf(stepId: string): string {
  return `N-${stepId.slice(1)}`;
}

function planOf(
  shape: PlanShape,
  goal: GoalContract,
  by: { readonly stepIds: readonly string[]; readonly variation: PlanVariation },
): Plan {
  const steps = shape.steps.map(({ required, effect }, index): PlanStep => {
    const stepId = by.stepIds[index] ?? '';
    const skill = effect ? SEND : READ;
    return {
      stepId,
      team: skill.team,
      skillId: skill.skillId,
      skillVersion: skill.version,
      dependsOn: dependenciesOf(shape, index, by.stepIds),
      inputs: {
        claim_id: { from: 'goal', pointer: '/entities/claim_id' },
        ...(effect ? { notice: { from: 'goal', pointer: `/entities/${stepId}` } } : {}),
      },
      required,
      actions: [...skill.actions],
      budget: { modelTokenCountMax: 0, toolCallCountMax: effect ? 0 : 1, timeoutMs: ATTEMPT_TIMEOUT * UNIT_MS },
      approval: skill.approval,
    };
  });
  return {
    contractVersion: '1.0.0',
    planId: 'plan_1',
    version: 1,
    goalId: goal.goalId,
    goalDigest: goalDigest(goal),
    snapshotId: 'cap_1',
    steps,
    join: {
      requiredSteps: steps.filter(({ required }) => required).map(({ stepId }) => stepId),
      optionalSteps: steps.filter(({ required }) => !required).map(({ stepId }) => stepId),
      completionRule: 'all_terminal',
      successRule: 'all_required_completed',
      onOptionalFailure: 'degraded',
      onRequiredNoData: 'no_data',
      onRequiredFailure: 'failed',
      onLateResult: 'record_only',
      onConflict: 'block',
      conflictDecider: 'person',
      ...by.variation.join,
    },
    budget: goal.budget,
    claims:
      by.variation.answered === true
        ? [
            {
              key: SENTENCE.key,
              stepIds: steps.filter(({ skillId }) => skillId === READ.skillId).map(({ stepId }) => stepId),
            },
          ]
        : [],
  };
}

function dependenciesOf(shape: PlanShape, to: number, stepIds: readonly string[]): PlanStep['dependsOn'] {
  return (shape.edges[to] ?? []).flatMap((edge, from) =>
    edge === 'none' ? [] : [{ stepId: stepIds[from] ?? '', strength: edge }],
  );
}
