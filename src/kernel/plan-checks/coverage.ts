/** For outputs asked for once per value of an entity: which step speaks of which values. */
import type { GoalContract } from '#contracts/goal.ts';
import type { StepId } from '#contracts/ids.ts';
import type { PlanStep } from '#contracts/plan.ts';
import { goalValue } from './goal-value.ts';

export type Coverage = ReadonlyMap<StepId, ReadonlySet<string>>;

/**
 * Step → the values of entity `kind` it speaks of: by an input, or by an input of the step it takes an input from. `order` has
 * dependencies before dependents.
 */
export function coverageOf(goal: GoalContract, order: readonly { readonly step: PlanStep }[], kind: string): Coverage {
  const byStep = new Map<StepId, ReadonlySet<string>>();
  for (const { step } of order) {
    const values = new Set<string>();
    for (const source of Object.values(step.inputs)) {
      if (source.from === 'step') for (const value of byStep.get(source.stepId) ?? []) values.add(value);
      else {
        const found = goalValue(goal, source.pointer);
        if (found?.kind === kind) for (const value of [found.value].flat()) values.add(String(value));
      }
    }
    if (values.size > 0) byStep.set(step.stepId, values);
  }
  return byStep;
}

/** Of `values`, those that none of `steps` speaks of. */
export function uncovered(
  values: readonly string[],
  coverage: Coverage,
  steps: readonly { readonly step: PlanStep }[],
): readonly string[] {
  const reached = new Set<string>();
  for (const { step } of steps) for (const value of coverage.get(step.stepId) ?? []) reached.add(value);
  return values.filter((value) => !reached.has(value));
}
