/** Which steps may start and which never can, by deltas over dependents; the plan is never rescanned. INV-02. Source: DESIGN §3.3. */
import type { StepId } from '#contracts/ids.ts';
import type { PlanStep } from '#contracts/plan.ts';
import type { StepStatus } from '#contracts/step-result.ts';
import { isEffectStep } from './effect-state.ts';
import type { Dependent, RunState, StepState } from './run-state.ts';
import { millisOf } from './time.ts';

/** How a step is over: its status, or skipped. */
export type StepOutcome = StepStatus | 'skipped';

/** Whether `outcome` of a dependency lets the dependent start: weak takes any, strong takes completed or what the skill accepts. */
export function satisfies(dependent: StepState, strength: Dependent['strength'], outcome: StepOutcome): boolean {
  if (strength === 'weak' || outcome === 'completed') return true;
  return outcome !== 'skipped' && dependent.skill.acceptedResults.includes(outcome);
}

/** How the step is over; undefined while it is open. */
export function outcomeOf(step: StepState): StepOutcome | undefined {
  return step.phase === 'skipped' ? 'skipped' : step.result?.status;
}

/** The steps of these ids, one after the other; an id that is not of the plan has none. */
export function* stepsOf(state: RunState, stepIds: Iterable<StepId>): Generator<StepState, void, undefined> {
  for (const stepId of stepIds) {
    const step = state.steps.get(stepId);
    if (step !== undefined) yield step;
  }
}

/** The earliest time of the step's next attempt, in ms since the epoch; 0 when nothing holds it back. */
export function notBeforeMs(step: StepState): number {
  return step.notBeforeAt === undefined ? 0 : millisOf(step.notBeforeAt);
}

/**
 * The steps of a plan that can never start, given how others are over: each with the dependency that is the reason. A step that is over is none
 * of them. O(plan).
 */
export function impossibleSteps(
  steps: readonly PlanStep[],
  by: {
    readonly outcomes: ReadonlyMap<StepId, StepOutcome>;
    /** Results that the step's skill takes besides completed. */
    readonly takes: (step: PlanStep) => readonly StepStatus[] | undefined;
  },
): ReadonlyMap<StepId, StepId> {
  const planned = new Map(steps.map((step) => [step.stepId, step]));
  const found = new Map<StepId, StepId>();
  const visited = new Set<StepId>();
  const visit = (step: PlanStep): void => {
    if (visited.has(step.stepId) || by.outcomes.has(step.stepId)) return;
    visited.add(step.stepId);
    for (const { stepId, strength } of step.dependsOn) {
      const upstream = planned.get(stepId);
      if (upstream !== undefined) visit(upstream);
      const outcome = found.has(stepId) ? 'skipped' : by.outcomes.get(stepId);
      if (strength === 'weak' || outcome === undefined || outcome === 'completed') continue;
      if (outcome === 'skipped' || by.takes(step)?.includes(outcome) !== true) found.set(step.stepId, stepId);
    }
  };
  steps.forEach(visit);
  return found;
}

/** Unlocks what waited for `closed`, which is over: O(its dependents). Only `evolve` calls it. */
export function unlockDependents(state: RunState, closed: StepState, outcome: StepOutcome): void {
  for (const { step, strength } of closed.dependents) {
    if (step.phase !== 'pending' || !satisfies(step, strength, outcome)) continue;
    step.unsatisfiedCount -= 1;
    if (step.unsatisfiedCount > 0) continue;
    markReady(state, step);
  }
}

/** The step may start: a dispatch is due, or for an effect step a proposal. Only the fold calls it. */
export function markReady(state: RunState, step: StepState): void {
  step.phase = 'ready';
  (isEffectStep(step) ? state.readyEffects : state.ready).add(step.definition.stepId);
}

/**
 * The pending steps that can never start once `closed` is over, transitively, each with the dependency that is the
 * reason; a dependency comes before its dependents. `isOver` says what is already over besides.
 */
export function neverReady(
  closed: { readonly step: StepState; readonly outcome: StepOutcome },
  isOver: (step: StepState) => boolean,
): readonly { readonly step: StepState; readonly because: StepId }[] {
  const skipped = new Map<StepState, StepId>();
  const queue = [closed];
  for (const over of queue) {
    for (const { step, strength } of over.step.dependents) {
      if (skipped.has(step) || isOver(step) || satisfies(step, strength, over.outcome)) continue;
      skipped.set(step, over.step.definition.stepId);
      queue.push({ step, outcome: 'skipped' });
    }
  }
  return [...skipped].map(([step, because]) => ({ step, because }));
}
