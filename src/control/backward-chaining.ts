/**
 * The planner that needs no model: backward chaining from the requested outputs over the skills' declared inputs and outputs. It proposes
 * like any other planner; the validator decides. Source: DESIGN §3.3.
 */
import type { CapabilitySnapshot } from '#contracts/capability-snapshot.ts';
import type { GoalContract } from '#contracts/goal.ts';
import type { StepId } from '#contracts/ids.ts';
import { PLAN_VERSION, type Plan, type PlanStep } from '#contracts/plan.ts';
import type { Planner, PlannerRequest } from '#ports/model.ts';
import { chainBuilder, type ChainStep, type Focus } from './step-chain.ts';
import { usableSkills } from './usable-skills.ts';

/** Steps it would ever propose; a goal that needs more gets a plan without them, and findings. */
const STEP_COUNT_MAX = 10_000;

/**
 * One step per distinct (skill, inputs); an output wanted per value of an entity becomes one chain per value. A step is required if a
 * required output rests on it. What no skill can produce is left out: whether the plan is then lawful is the validator's to say.
 */
export const rulesPlanner: Planner = {
  propose: (request) =>
    Promise.resolve({ plan: planFor(request), proposer: { kind: 'rules', name: 'backward-chaining' } }),
};

interface Wanted {
  readonly output: string;
  readonly step: ChainStep;
}

function planFor(request: PlannerRequest): Omit<Plan, 'planId'> & { readonly planId: string } {
  const { goal, snapshot } = request;
  const { required, wanted } = chains(goal, snapshot);
  const order = topological(wanted.map(({ step }) => step)).slice(0, STEP_COUNT_MAX);
  const ids = new Map(order.map((step, index) => [step, `s${index + 1}`]));
  const steps = order.map((step) => planStep(step, ids, required.has(step)));
  return {
    contractVersion: PLAN_VERSION,
    planId: request.planId,
    version: request.planVersion,
    goalId: goal.goalId,
    goalDigest: request.goalDigest as Plan['goalDigest'],
    snapshotId: snapshot.snapshotId,
    steps,
    join: {
      requiredSteps: steps.filter((step) => step.required).map(({ stepId }) => stepId),
      optionalSteps: steps.filter((step) => !step.required).map(({ stepId }) => stepId),
      completionRule: 'all_terminal',
      successRule: 'all_required_completed',
      onOptionalFailure: 'degraded',
      onRequiredNoData: 'no_data',
      onRequiredFailure: 'failed',
      onLateResult: 'record_only',
      onConflict: 'block',
      conflictDecider: 'person',
    },
    budget: goal.budget,
    claims: claimsOf(goal, order, ids),
  };
}

/** The chains of all outputs, required ones first, and the steps that a required output rests on. */
function chains(
  goal: GoalContract,
  snapshot: CapabilitySnapshot,
): { readonly wanted: readonly Wanted[]; readonly required: ReadonlySet<ChainStep> } {
  const builder = chainBuilder(goal, usableSkills(goal, snapshot));
  const required = new Set<ChainStep>();
  const wanted: Wanted[] = [];
  for (const output of goal.requestedOutputs.toSorted((a, b) => Number(b.required) - Number(a.required)))
    for (const focus of focuses(goal, output.forEach)) {
      const step = builder.produce(output.kind, focus);
      if (step === undefined) continue;
      wanted.push({ output: output.kind, step });
      if (output.required) for (const needed of topological([step])) required.add(needed);
    }
  return { wanted, required };
}

function focuses(goal: GoalContract, entity: string | undefined): readonly (Focus | undefined)[] {
  if (entity === undefined) return [undefined];
  const values = [goal.entities[entity] ?? []].flat();
  return values.map((_, index) => ({ entity, index }));
}

/** Each step after all that it needs, in the order in which they were asked for. */
function topological(roots: readonly ChainStep[]): readonly ChainStep[] {
  const order = new Set<ChainStep>();
  const visit = (step: ChainStep): void => {
    if (order.has(step)) return;
    for (const input of Object.values(step.inputs)) if (input.from === 'step') visit(input.step);
    order.add(step);
  };
  for (const root of roots) visit(root);
  return [...order];
}

function planStep(step: ChainStep, ids: ReadonlyMap<ChainStep, StepId>, required: boolean): PlanStep {
  const { skill } = step;
  const idOf = (other: ChainStep): StepId => ids.get(other) ?? '';
  const inputs: PlanStep['inputs'] = {};
  const dependencies = new Set<StepId>();
  for (const [name, input] of Object.entries(step.inputs)) {
    if (input.from === 'goal') inputs[name] = input.source;
    else {
      inputs[name] = { from: 'step', stepId: idOf(input.step), pointer: input.pointer };
      dependencies.add(idOf(input.step));
    }
  }
  return {
    stepId: idOf(step),
    team: skill.team,
    skillId: skill.skillId,
    skillVersion: skill.version,
    // A step's inputs are its only dependencies here, and an input needs its source settled with data: strong.
    dependsOn: [...dependencies].map((stepId) => ({ stepId, strength: 'strong' })),
    inputs,
    required,
    actions: [...new Set([...skill.actions, ...(skill.risk === 'effect' ? skill.effectActions : [])])],
    budget: skill.stepBudget,
    approval: skill.approval,
  };
}

/** For each sentence the steps whose skill produces its output and bears its anchors; a sentence that rests on no step has none. */
function claimsOf(
  goal: GoalContract,
  order: readonly ChainStep[],
  ids: ReadonlyMap<ChainStep, StepId>,
): Plan['claims'] {
  return goal.claims.flatMap(({ key, output, slots }) => {
    if (output === undefined) return [{ key, stepIds: [] }];
    const anchors = Object.values(slots).map(({ anchorType }) => anchorType);
    const bearing = order.filter(
      ({ skill }) =>
        skill.produces.some(({ kind }) => kind === output) &&
        anchors.every((anchor) => skill.evidence.anchorTypes.includes(anchor)),
    );
    return bearing.length === 0 ? [] : [{ key, stepIds: bearing.map((step) => ids.get(step) ?? '') }];
  });
}
