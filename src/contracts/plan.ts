/** The plan: proposed by anyone, decided by the validator, versioned. Source: DESIGN §3.3. */
import { z } from 'zod';
import { budget, stepBudget } from './budget.ts';
import { action, digest, goalId, name, planId, pointer, semver, snapshotId, stepId } from './ids.ts';
import { join } from './join.ts';

export const PLAN_VERSION = '1.0.0';

/** Where an input comes from. There are no literals: a planner can point, it cannot make up values. */
export const inputSource = z.discriminatedUnion('from', [
  /** A value of the frozen goal, e.g. `/entities/claim_id`. */
  z.strictObject({ from: z.literal('goal'), pointer }),
  /** A value of a dependency's settled result data. */
  z.strictObject({ from: z.literal('step'), stepId, pointer }),
]);
export type InputSource = z.infer<typeof inputSource>;

export const dependency = z.strictObject({
  stepId,
  /** strong: needs `completed` or an accepted result of the skill; weak: needs any terminal state. */
  strength: z.enum(['strong', 'weak']),
});

export const planStep = z.strictObject({
  stepId,
  team: name,
  skillId: name,
  skillVersion: semver,
  dependsOn: z.array(dependency).max(1_000),
  inputs: z.record(name, inputSource),
  required: z.boolean(),
  /** The actions this step asks for; must be actions of the skill and of user ∩ workload ∩ task. */
  actions: z.array(action).min(1).max(16),
  budget: stepBudget,
  /** Set on risky steps: who must approve. */
  approval: z.enum(['none', 'policy', 'person', 'quorum']),
});
export type PlanStep = z.infer<typeof planStep>;

export const plan = z.strictObject({
  contractVersion: z.literal(PLAN_VERSION),
  planId,
  version: z.int().min(1),
  goalId,
  goalDigest: digest,
  snapshotId,
  steps: z.array(planStep).min(1).max(100_000),
  join,
  budget,
  /** For each declared sentence: the step that bears its evidence. */
  claims: z.array(z.strictObject({ key: name, stepIds: z.array(stepId).max(64) })).max(64),
});
export type Plan = z.infer<typeof plan>;

/** A reason to refuse a plan: which rule, where in the plan, what was expected and what came. */
export const finding = z.strictObject({
  code: z.enum([
    'PLAN_SCHEMA',
    'PLAN_GOAL_MISMATCH',
    'PLAN_SNAPSHOT_MISMATCH',
    'PLAN_SNAPSHOT_EXPIRED',
    'PLAN_VERSION_MISMATCH',
    'STEP_ID_DUPLICATE',
    'TEAM_UNKNOWN',
    'TEAM_UNVERIFIED',
    'TEAM_PROTOCOL',
    'SKILL_UNKNOWN',
    'SKILL_VERSION',
    'SKILL_UNAVAILABLE',
    'DEPENDENCY_UNKNOWN',
    'DEPENDENCY_DUPLICATE',
    'DEPENDENCY_CYCLE',
    'INPUT_UNMAPPED',
    'INPUT_UNKNOWN',
    'INPUT_SOURCE_GOAL',
    'INPUT_SOURCE_STEP',
    'INPUT_KIND',
    'INPUT_WEAK_SOURCE',
    'BUDGET_STEPS',
    'BUDGET_TOKENS',
    'BUDGET_TOOL_CALLS',
    'BUDGET_CONCURRENCY',
    'BUDGET_DEADLINE',
    'BUDGET_WIDENED',
    'PERMISSION_ACTION',
    'PERMISSION_USER',
    'PERMISSION_WORKLOAD',
    'PERMISSION_PURPOSE',
    'PERMISSION_TENANT',
    'ACTION_PROHIBITED',
    'APPROVAL_MISSING',
    'EFFECT_UNASKED',
    'EFFECT_RESOURCE',
    'JOIN_STEP_UNKNOWN',
    'JOIN_STEP_MISSING',
    'JOIN_STEP_TWICE',
    'JOIN_REQUIRED_MISMATCH',
    'JOIN_QUORUM',
    'OUTPUT_MISSING',
    'CLAIM_UNDECLARED',
    'CLAIM_EVIDENCE',
  ]),
  /** Pointer into the plan. */
  pointer,
  expected: z.string().max(500),
  got: z.string().max(500),
});
export type Finding = z.infer<typeof finding>;
export type FindingCode = Finding['code'];
