/** Do dependencies exist, once each, and without a cycle. INV-02 rests on it. */
import { dependenciesOf, type PlanCheck, type PlanContext, type PlannedStep } from './context.ts';

export const checkDependencies: PlanCheck = (context, report) => {
  const { planned, byId, order } = context;
  for (const { step, at } of planned) {
    const seen = new Set<string>();
    for (const [index, { stepId }] of step.dependsOn.entries()) {
      const pointer = `${at}/dependsOn/${index}`;
      if (!byId.has(stepId)) report('DEPENDENCY_UNKNOWN', pointer, { expected: 'a step of the plan', got: stepId });
      if (seen.has(stepId)) report('DEPENDENCY_DUPLICATE', pointer, { expected: 'each dependency once', got: stepId });
      seen.add(stepId);
    }
  }
  const ordered = new Set(order);
  const stuck = planned.find((entry) => !ordered.has(entry));
  if (stuck === undefined) return;
  const cycle = findCycle(stuck, ordered, byId);
  const [first] = cycle;
  report('DEPENDENCY_CYCLE', `${first?.at}/dependsOn`, {
    expected: 'an order in which every step follows its dependencies',
    got: cycle.map(({ step }) => step.stepId).join(' ← '),
  });
};

/** Follows unordered dependencies until one comes back: a step that is not in the order has at least one that is not either. */
function findCycle(
  start: PlannedStep,
  ordered: ReadonlySet<PlannedStep>,
  byId: PlanContext['byId'],
): readonly PlannedStep[] {
  const path: PlannedStep[] = [];
  const seen = new Set<PlannedStep>();
  let current: PlannedStep | undefined = start;
  while (current !== undefined && !seen.has(current)) {
    seen.add(current);
    path.push(current);
    current = [...dependenciesOf(current, byId)].find((dependency) => !ordered.has(dependency));
  }
  const from = path.findIndex((entry) => entry === current);
  return [...path.slice(from), ...path.slice(from, from + 1)];
}
