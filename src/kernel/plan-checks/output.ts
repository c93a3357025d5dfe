/**
 * Is each requested output produced: a required one by a required step, one asked for per value of an entity for each value. An
 * optional output that no lawful plan could produce now (its team is down) is not missing: the run degrades and says so.
 */
import type { PlanCheck } from './context.ts';
import { uncovered } from './coverage.ts';
import { producibleKinds } from './producible.ts';

export const checkOutputs: PlanCheck = (context, report) => {
  for (const { kind, required } of context.goal.requestedOutputs) {
    const producers = context.producers.get(kind) ?? [];
    const counting = required ? producers.filter(({ step }) => step.required) : producers;
    if (counting.length === 0) {
      if (required || producibleKinds(context).has(kind))
        report('OUTPUT_MISSING', '/steps', {
          expected: `a ${required ? 'required ' : ''}step that produces ${kind}`,
          got: producers.length === 0 ? 'none' : 'optional steps only',
        });
      continue;
    }
    const per = context.perValue.get(kind);
    if (per === undefined) continue;
    for (const value of uncovered(per.values, per.coverage, counting))
      report('OUTPUT_MISSING', '/steps', { expected: `${kind} for ${per.entity} ${value}`, got: 'none' });
  }
};
