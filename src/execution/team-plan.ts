/**
 * A team run is the same aggregate as a central run: its goal follows from the dispatch, its plan has one step per worker, and the
 * same validator decides. The team asks for nothing that the dispatch does not carry. Source: DESIGN §2 "One kernel, two levels".
 */
import type { CapabilityCard, CapabilitySnapshot } from '#contracts/capability-snapshot.ts';
import type { Dispatch } from '#contracts/dispatch.ts';
import { GOAL_VERSION, type GoalContract } from '#contracts/goal.ts';
import type { Digest, StepId } from '#contracts/ids.ts';
import { PLAN_VERSION, type Plan } from '#contracts/plan.ts';
import type { SkillContract } from '#contracts/skill.ts';
import { digestOf } from '#kernel/digest.ts';
import type { Ids } from '#ports/ids.ts';

/** The step of the skill's worker. */
export const WORKER_STEP: StepId = 'w1';
/** The entity under which the goal commits to the whole input, also to what is too large or too structured for an entity. */
const INPUT_DIGEST = 'input_digest';
const TEXT_LENGTH_MAX = 256;
const LIST_LENGTH_MAX = 64;

/** The goal of a team run. `nowMs` is when it is received: the deadline is what is left then. */
export function teamGoal(
  dispatch: Dispatch,
  skill: SkillContract,
  by: { readonly ids: Ids; readonly nowMs: number },
): GoalContract {
  const leftMs = Math.max(1, Date.parse(dispatch.deadlineAt) - by.nowMs);
  const [resource] = skill.resources;
  const subjects = dispatch.resources.map((named) => named.slice(named.indexOf(':') + 1));
  return {
    contractVersion: GOAL_VERSION,
    goalId: by.ids.next('goal'),
    revision: 1,
    tenant: dispatch.tenant,
    requestedBy: dispatch.subject,
    sessionId: by.ids.next('ses'),
    kind: dispatch.skillId,
    kindVersion: dispatch.skillVersion,
    purpose: dispatch.purpose,
    subject: { type: resource?.type ?? 'none', ids: subjects },
    entities: entitiesOf(dispatch),
    requestedOutputs: [{ kind: outputOf(skill), required: true }],
    prohibitedActions: dispatch.forbiddenActions,
    constraints: [],
    evidencePolicy: { factsNeedEvidence: true, observationAgeMsMax: 0 },
    claims: [],
    budget: {
      stepCountMax: 1,
      modelTokenCountMax: dispatch.budget.modelTokenCountMax,
      toolCallCountMax: dispatch.budget.toolCallCountMax,
      concurrencyMax: 1,
      deadlineMs: Math.min(leftMs, dispatch.budget.timeoutMs),
      replanCountMax: 0,
    },
    deadlineAt: dispatch.deadlineAt,
    statement: { text: `dispatch ${dispatch.dispatchId}`, language: dispatch.language },
  };
}

/** The plan of workers for a goal made by `teamGoal`: the skill's worker, with all that the dispatch grants it. */
export function teamPlan(
  made: { readonly goal: GoalContract; readonly goalDigest: Digest; readonly snapshot: CapabilitySnapshot },
  dispatch: Dispatch,
  ids: Ids,
): Plan {
  const { goal, snapshot } = made;
  return {
    contractVersion: PLAN_VERSION,
    planId: ids.next('plan'),
    version: 1,
    goalId: goal.goalId,
    goalDigest: made.goalDigest,
    snapshotId: snapshot.snapshotId,
    steps: [
      {
        stepId: WORKER_STEP,
        team: dispatch.team,
        skillId: dispatch.skillId,
        skillVersion: dispatch.skillVersion,
        dependsOn: [],
        inputs: Object.fromEntries(
          Object.keys(goal.entities).map((kind) => [kind, { from: 'goal', pointer: `/entities/${kind}` } as const]),
        ),
        required: true,
        actions: dispatch.actions,
        budget: { ...dispatch.budget, timeoutMs: goal.budget.deadlineMs },
        approval: snapshot.skills[0]?.approval ?? 'none',
      },
    ],
    join: {
      requiredSteps: [WORKER_STEP],
      optionalSteps: [],
      completionRule: 'all_terminal',
      successRule: 'all_required_completed',
      onOptionalFailure: 'degraded',
      onRequiredNoData: 'no_data',
      onRequiredFailure: 'failed',
      onLateResult: 'record_only',
      onConflict: 'failed',
      conflictDecider: 'requester',
    },
    budget: goal.budget,
    claims: [],
  };
}

/** The team's own workers as the capabilities of its plan: this one card, and the one skill that was asked for. */
export function teamSnapshot(
  dispatch: Dispatch,
  own: { readonly card: CapabilityCard; readonly skill: SkillContract; readonly policyDigest: Digest },
  by: { readonly ids: Ids; readonly at: string },
): CapabilitySnapshot {
  return {
    snapshotId: by.ids.next('cap'),
    tenant: dispatch.tenant,
    takenAt: by.at,
    expiresAt: dispatch.deadlineAt,
    cards: [{ ...own.card, interfaces: own.card.interfaces.map(({ url }) => ({ url, binding: 'INPROCESS' })) }],
    skills: [workerContract(own.skill, dispatch)],
    teamPolicyDigests: { [own.card.team]: own.policyDigest },
    policy: {
      digest: own.policyDigest,
      tenants: [dispatch.tenant],
      purposes: [dispatch.purpose],
      userActions: dispatch.actions,
      workloadActions: dispatch.actions,
    },
    unavailable: [],
  };
}

/**
 * The skill as its worker sees it: inputs come from the goal's entities under their own names, and a second attempt is the caller's
 * to decide, so that retries of two levels do not multiply.
 */
function workerContract(skill: SkillContract, dispatch: Dispatch): SkillContract {
  const entities = Object.entries(entitiesOf(dispatch));
  const names = entities.map(([name]) => name);
  const schema = {
    type: 'object',
    properties: Object.fromEntries(
      entities.map(([name, value]) => [name, { type: Array.isArray(value) ? 'array' : 'string' }]),
    ),
    required: names,
  };
  return {
    ...skill,
    input: {
      schemaId: `${skill.input.schemaId}:worker`,
      schemaVersion: skill.input.schemaVersion,
      digest: digestOf(schema),
      schema,
    },
    requires: names.map((entity) => ({ name: entity, kind: entity })),
    produces: skill.produces.length > 0 ? skill.produces : [{ kind: outputOf(skill), pointer: '' }],
    retry: { attemptCountMax: 1, backoffMs: 0 },
  };
}

function outputOf(skill: SkillContract): string {
  return skill.produces[0]?.kind ?? skill.skillId;
}

/** Texts and lists of texts, which the plan can point at, and the digest of the whole input. */
function entitiesOf({ input, inputDigest }: Dispatch): GoalContract['entities'] {
  const entities: GoalContract['entities'] = { [INPUT_DIGEST]: inputDigest };
  for (const [name, value] of Object.entries(input)) {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    const texts = values.filter(isEntityText);
    if (texts.length !== values.length || texts.length === 0 || texts.length > LIST_LENGTH_MAX) continue;
    const [only] = texts;
    if (Array.isArray(value)) entities[name] = texts;
    else if (only !== undefined) entities[name] = only;
  }
  return entities;
}

function isEntityText(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= TEXT_LENGTH_MAX;
}
