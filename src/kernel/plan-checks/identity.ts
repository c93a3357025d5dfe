/** Is this the plan that was asked for: goal, snapshot, version, tenant, unique step ids. */
import type { PlanCheck } from './context.ts';

export const checkIdentity: PlanCheck = (
  { plan, goal, goalDigest, snapshot, at, planVersion, planned, byId },
  report,
) => {
  if (plan.goalId !== goal.goalId) report('PLAN_GOAL_MISMATCH', '/goalId', { expected: goal.goalId, got: plan.goalId });
  if (plan.goalDigest !== goalDigest)
    report('PLAN_GOAL_MISMATCH', '/goalDigest', { expected: goalDigest, got: plan.goalDigest });
  if (plan.snapshotId !== snapshot.snapshotId)
    report('PLAN_SNAPSHOT_MISMATCH', '/snapshotId', { expected: snapshot.snapshotId, got: plan.snapshotId });
  if (Date.parse(at) >= Date.parse(snapshot.expiresAt))
    report('PLAN_SNAPSHOT_EXPIRED', '/snapshotId', { expected: `before ${snapshot.expiresAt}`, got: at });
  if (plan.version !== planVersion)
    report('PLAN_VERSION_MISMATCH', '/version', { expected: String(planVersion), got: String(plan.version) });
  if (goal.tenant !== snapshot.tenant || !snapshot.policy.tenants.includes(goal.tenant))
    report('PERMISSION_TENANT', '', {
      expected: `the snapshot's tenant ${snapshot.tenant}, permitted by policy`,
      got: `goal of tenant ${goal.tenant}`,
    });
  for (const entry of planned)
    if (byId.get(entry.step.stepId) !== entry)
      report('STEP_ID_DUPLICATE', `${entry.at}/stepId`, { expected: 'each step id once', got: entry.step.stepId });
};
