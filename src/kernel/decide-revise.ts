/**
 * Another version of a plan under way: asked for as such, or because a person let another result hold than the one that was settled. What is
 * not kept begins anew; results of the version before are stale from then on. INV-05, INV-08, INV-09. Source: DESIGN §3.7, §4 "plan".
 */
import type { CommandOf } from '#contracts/command.ts';
import type { EventBody, EventDraft, Rival } from '#contracts/event.ts';
import type { StepId } from '#contracts/ids.ts';
import type { Plan } from '#contracts/plan.ts';
import type { SkillContract } from '#contracts/skill.ts';
import { needsPeopleBesides } from './conflict-block.ts';
import { type Decision, decided, refused } from './decision.ts';
import { accepted } from './decide-plan.ts';
import { digestOf } from './digest.ts';
import { allOfIt, conclude, type Draft, openDraft, releaseBudget } from './draft.ts';
import { openApproval } from './effect-state.ts';
import type { JoinCounts } from './join.ts';
import { attemptsInFlight } from './next.ts';
import { liftPeopleBlock, waitsForPeople } from './people-block.ts';
import { validatePlan } from './plan-validator.ts';
import { plannedRun, type PlannedRun } from './planned-run.ts';
import { impossibleSteps, outcomeOf, stepsOf, type StepOutcome } from './ready-set.ts';
import type { RunState, StepState } from './run-state.ts';
import { skillKey } from './skill-key.ts';

type Resolve = CommandOf<'decideConflict'>;
type Replan = CommandOf<'replan'>;

const FINDING_COUNT_MAX = 20;
/** A step that gave one of these has a result that another version may build on. */
const GIVEN: ReadonlySet<StepOutcome> = new Set(['completed', 'degraded', 'partial', 'no_data']);

/**
 * Decides which result holds. The settled one: the run goes on. Another one: it takes the settled one's place and what rested on that is done
 * again, in the plan's next version. Refuses (ERR_STATE) while attempts or effects are under way, and where an effect rests on the result
 * that would be replaced; ERR_USAGE for a hash that is none of them.
 */
export function decideConflict(state: RunState, command: Resolve): Decision {
  const { stepId, held, reason, actor } = command;
  const run = plannedRun(state);
  const step = state.steps.get(stepId);
  const rivals = state.conflicts.get(stepId);
  const settled = step?.result?.resultHash;
  if (
    run === undefined ||
    step === undefined ||
    rivals === undefined ||
    settled === undefined ||
    state.phase !== 'blocked'
  )
    return refused('ERR_STATE', `Step ${stepId} of run ${state.ref.runId} has no results to decide between.`);
  if (reason.trim() === '') return refused('ERR_USAGE', `The decision about step ${stepId} needs a written reason.`);
  const hashes = [settled, ...rivals.map(({ result }) => result.resultHash)];
  if (!hashes.includes(held))
    return refused('ERR_USAGE', `Expected one of ${hashes.join(', ')} as the result that holds, got ${held}.`);
  const adopted = rivals.find(({ result }) => result.resultHash === held);
  const body: EventBody<'conflict.decided'> = {
    stepId,
    planVersion: run.accepted.plan.version,
    held,
    refused: hashes.filter((hash) => hash !== held),
    by: actor,
    reason: reason.slice(0, 1_000),
  };
  if (adopted === undefined) {
    const draft = openDraft(state, run, command.at);
    const leftCount = state.conflicts.size - 1;
    draft.events.push({ kind: 'conflict.decided', body }, ...liftConflict(state, command, leftCount));
    return concludeLifted(draft, leftCount);
  }
  return adoptRival(state, command, { run, step, body, adopted });
}

/**
 * Takes a lawful plan in place of the one under way. Steps that gave a result and are planned the same, with all they rest on, stand; attempts
 * under way are given up, and what they still send is stale. Refuses (ERR_STATE) without a plan under way, while an effect is, when nothing
 * would change, or when an applied effect would be planned away; ERR_PLAN_REFUSED with the findings when the plan is not lawful.
 */
export function decideReplan(state: RunState, command: Replan): Decision {
  const { ref, phase, blocked } = state;
  const run = plannedRun(state);
  const goesOn = phase === 'planned' || phase === 'running' || (blocked !== undefined && waitsForPeople(blocked));
  if (run === undefined || !goesOn)
    return refused('ERR_STATE', `Run ${ref.runId} is ${phase} and takes no other plan.`);
  if (command.reason.trim() === '')
    return refused('ERR_USAGE', `Another plan for run ${ref.runId} needs a written reason.`);
  if (state.openEffects.size > 0)
    return refused('ERR_STATE', `Run ${ref.runId} has ${state.openEffects.size} effects under way; plan again after.`);
  const { goal, goalDigest } = run;
  const { snapshot, at } = command;
  const planVersion = run.accepted.plan.version + 1;
  const { plan, findings } = validatePlan(command.plan, { goal, goalDigest, snapshot, at, planVersion });
  if (plan === undefined) {
    const codes = [...new Set(findings.map(({ code }) => code))].join(', ');
    const message = `The plan proposed for run ${ref.runId} is not lawful: ${codes}.`;
    return refused('ERR_PLAN_REFUSED', message, { findings: findings.slice(0, FINDING_COUNT_MAX) });
  }
  const { skills, cards, teamPolicyDigests } = accepted(plan, digestOf(plan), snapshot).body;
  const kept = keptSteps(state, plan, skills);
  const lost = [...state.steps.values()].find(
    (step) => isApplied(state, step) && !kept.includes(step.definition.stepId),
  );
  if (lost !== undefined)
    return refused('ERR_STATE', `Step ${lost.definition.stepId} was applied already and cannot be planned otherwise.`);
  const never = impossible(plan, skills, outcomesOf(state, kept));
  if (kept.length + never.length === plan.steps.length)
    return refused('ERR_STATE', `Nothing of the plan for run ${ref.runId} is left to do; it changes nothing.`);
  const draft = openDraft(state, run, at);
  for (const { step, attempt } of attemptsInFlight(state)) releaseBudget(draft, step, allOfIt(step, attempt, at));
  return decided(
    ...draft.events,
    ...withdrawals(state),
    revision(run, { plan, kept, skills, cards, teamPolicyDigests, command }),
    ...never,
    ...liftPeopleBlock(state, command.actor),
  );
}

function adoptRival(
  state: RunState,
  command: Resolve,
  of: {
    readonly run: PlannedRun;
    readonly step: StepState;
    readonly body: EventBody<'conflict.decided'>;
    readonly adopted: Rival;
  },
): Decision {
  const { run, step, body, adopted } = of;
  const underWayCount = state.inFlight.size + state.openEffects.size;
  if (underWayCount > 0)
    return refused(
      'ERR_STATE',
      `Run ${state.ref.runId} has ${underWayCount} attempts or effects under way; let another result hold after.`,
    );
  const downstream = dependentsOf(step);
  const applied = [...downstream].find((one) => isApplied(state, one));
  if (applied !== undefined)
    return refused(
      'ERR_STATE',
      `The effect of step ${applied.definition.stepId} rests on the result that would be replaced; compensate it and cancel the run.`,
    );
  const { accepted: now } = run;
  const plan: Plan = { ...now.plan, planId: command.planId, version: now.plan.version + 1 };
  // Nothing else of the plan changes: it is as lawful as it was.
  const kept = [...state.steps.values()]
    .filter((one) => !downstream.has(one) && outcomeOf(one) !== undefined)
    .map(({ definition }) => definition.stepId);
  const { cards, teamPolicyDigests } = now;
  const skills = [...now.skills.values()];
  const outcomes = outcomesOf(state, kept).set(body.stepId, adopted.result.status);
  const never = impossible(plan, skills, outcomes);
  // What rests on it begins anew, and with it goes the conflict about what it gave.
  const leftCount = [...stepsOf(state, state.conflicts.keys())].filter(
    (one) => one !== step && !downstream.has(one),
  ).length;
  const draft = openDraft(state, run, command.at);
  draft.events.push(
    { kind: 'artifact.accepted', body: { ...adopted.artifact, evidence: adopted.result.evidence } },
    { kind: 'conflict.decided', body: { ...body, adopted } },
    ...withdrawals(state),
    revision(run, { plan, kept, skills, cards: [...cards], teamPolicyDigests, command }),
    ...never,
    // Whoever was waited for decides nothing of the version before any more.
    ...liftPeopleBlock(state, command.actor),
    ...liftConflict(state, command, leftCount),
  );
  if (kept.length + never.length < plan.steps.length) return { ok: true, events: draft.events };
  // Nothing is left to do: the join is decided by what holds now.
  draft.over.set(step, adopted.result.status);
  for (const one of stepsOf(
    state,
    never.map((event) => event.body.stepId),
  ))
    draft.over.set(one, 'skipped');
  draft.results.set(body.stepId, adopted.result);
  Object.assign(draft.counts, countsOf(state, draft.over));
  return concludeLifted(draft, leftCount);
}

/** The last conflict is decided: behind it the join may have been, too. */
function concludeLifted(draft: Draft, leftCount: number): Decision {
  draft.lifted = leftCount === 0;
  draft.blocked = !draft.lifted;
  draft.needsHuman = needsPeopleBesides(draft.state);
  return conclude(draft);
}

/** As the join will count: every step is over. */
function countsOf(state: RunState, over: ReadonlyMap<StepState, StepOutcome>): JoinCounts {
  const completed = [...state.steps.values()].filter((step) => {
    const outcome = over.get(step) ?? outcomeOf(step);
    return step.definition.required && (outcome === 'completed' || outcome === 'degraded');
  });
  return { openStepCount: 0, openRequiredStepCount: 0, completedRequiredStepCount: completed.length };
}

/** How the steps that stand are over. */
function outcomesOf(state: RunState, kept: readonly StepId[]): Map<StepId, StepOutcome> {
  const stands = new Set(kept);
  const outcomes = new Map<StepId, StepOutcome>();
  for (const [stepId, step] of state.steps) {
    const outcome = outcomeOf(step);
    if (outcome !== undefined && stands.has(stepId)) outcomes.set(stepId, outcome);
  }
  return outcomes;
}

/** In the version that begins: what can never start is skipped at once. */
function impossible(plan: Plan, skills: readonly SkillContract[], outcomes: ReadonlyMap<StepId, StepOutcome>) {
  const contracts = new Map(skills.map((one) => [skillKey({ ...one, skillVersion: one.version }), one]));
  const never = impossibleSteps(plan.steps, {
    outcomes,
    takes: (step) => contracts.get(skillKey(step))?.acceptedResults,
  });
  return [...never].map(([stepId, because]) => ({
    kind: 'step.skipped' as const,
    body: {
      stepId,
      planVersion: plan.version,
      because: [because],
      reason: `Step ${because} did not give what this step needs.`,
    },
  }));
}

/** The block is lifted by the decision about the last conflict. */
function liftConflict(state: RunState, { actor, held }: Resolve, leftCount: number): readonly EventDraft[] {
  if (leftCount > 0 || state.blocked?.code !== 'RESULT_CONFLICT') return [];
  return [{ kind: 'run.unblocked', body: { code: 'RESULT_CONFLICT', by: actor, input: { result_hash: held } } }];
}

/** What is proposed in the version before is proposed by nobody now. */
function withdrawals(state: RunState): readonly EventDraft[] {
  const reason = 'The plan has another version now.';
  return [...stepsOf(state, state.waitingEffects)]
    .map((step) => openApproval(state, step))
    .filter((approval) => approval !== undefined)
    .map(({ approvalId }) => ({ kind: 'approval.withdrawn', body: { approvalId, by: 'kernel', reason } }));
}

function revision(
  { accepted: { plan: before, planDigest } }: PlannedRun,
  of: Pick<EventBody<'plan.revised'>, 'plan' | 'kept' | 'skills' | 'cards' | 'teamPolicyDigests'> & {
    readonly command: Resolve | Replan;
  },
): EventDraft {
  const { command, plan, ...rest } = of;
  return {
    kind: 'plan.revised',
    body: {
      ...rest,
      plan,
      snapshotId: plan.snapshotId,
      from: { planId: before.planId, planVersion: before.version, planDigest },
      to: { planId: plan.planId, planVersion: plan.version, planDigest: digestOf(plan) },
      by: command.actor,
      reason: command.reason.slice(0, 1_000),
    },
  };
}

/** In plan order: what gave a result, is planned to the letter as it was, and rests on nothing that is done again. */
function keptSteps(state: RunState, plan: Plan, skills: readonly SkillContract[]): StepId[] {
  const contracts = new Map(skills.map((one) => [skillKey({ ...one, skillVersion: one.version }), one]));
  const planned = new Map(plan.steps.map((step) => [step.stepId, step]));
  const verdicts = new Map<StepId, boolean>();
  const stands = (stepId: StepId): boolean => {
    const known = verdicts.get(stepId);
    if (known !== undefined) return known;
    const definition = planned.get(stepId);
    const before = state.steps.get(stepId);
    const outcome = before === undefined ? undefined : outcomeOf(before);
    const same =
      definition !== undefined &&
      before !== undefined &&
      outcome !== undefined &&
      GIVEN.has(outcome) &&
      digestOf(definition) === digestOf(before.definition) &&
      sameContract(contracts.get(skillKey(definition)), before.skill);
    const verdict = same && definition.dependsOn.every((dependency) => stands(dependency.stepId));
    verdicts.set(stepId, verdict);
    return verdict;
  };
  return plan.steps.map(({ stepId }) => stepId).filter(stands);
}

function sameContract(now: SkillContract | undefined, before: SkillContract): boolean {
  return now !== undefined && digestOf(now) === digestOf(before);
}

/** Everything that rests on the step, directly or through others. */
function dependentsOf(step: StepState): ReadonlySet<StepState> {
  const found = new Set<StepState>();
  const queue = [step];
  for (const one of queue)
    for (const { step: dependent } of one.dependents)
      if (!found.has(dependent)) {
        found.add(dependent);
        queue.push(dependent);
      }
  return found;
}

/** Whether the step's effect is, or may be, at its target. */
function isApplied(state: RunState, step: StepState): boolean {
  const effect = step.effectId === undefined ? undefined : state.effects.get(step.effectId);
  return effect !== undefined && effect.state !== 'failed' && effect.state !== 'not_started';
}
