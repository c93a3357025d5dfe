/** A run that has what it needs to work: goal, plan and account at once, so that nobody asks for each again. */
import type { GoalContract } from '#contracts/goal.ts';
import type { Digest } from '#contracts/ids.ts';
import type { AcceptedPlan, BudgetState, RunState } from './run-state.ts';

export interface PlannedRun {
  readonly goal: GoalContract;
  readonly goalDigest: Digest;
  readonly accepted: AcceptedPlan;
  readonly account: Readonly<BudgetState>;
}

/** Undefined until a plan is accepted. */
export function plannedRun(state: RunState): PlannedRun | undefined {
  const { goal, goalDigest, accepted, budget } = state;
  if (goal === undefined || goalDigest === undefined || accepted === undefined || budget === undefined)
    return undefined;
  return { goal, goalDigest, accepted, account: budget };
}
