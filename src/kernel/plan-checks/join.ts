/** Does the join tell every outcome apart: each step named once, on the right side, and a quorum that can be reached. */
import type { StepId } from '#contracts/ids.ts';
import type { PlanCheck, PlanContext, Report } from './context.ts';

export const checkJoin: PlanCheck = (context, report) => {
  const { plan, planned, byId } = context;
  const named = new Map<StepId, boolean>();
  for (const side of ['requiredSteps', 'optionalSteps'] as const) {
    const required = side === 'requiredSteps';
    for (const [index, stepId] of plan.join[side].entries()) {
      const pointer = `/join/${side}/${index}`;
      const step = byId.get(stepId)?.step;
      if (named.has(stepId)) report('JOIN_STEP_TWICE', pointer, { expected: 'each step once', got: stepId });
      named.set(stepId, required);
      if (step === undefined) report('JOIN_STEP_UNKNOWN', pointer, { expected: 'a step of the plan', got: stepId });
      else if (step.required !== required)
        report('JOIN_REQUIRED_MISMATCH', pointer, {
          expected: required ? 'a required step' : 'an optional step',
          got: `${stepId}, ${step.required ? 'required' : 'optional'}`,
        });
    }
  }
  for (const { step, at } of planned)
    if (!named.has(step.stepId))
      report('JOIN_STEP_MISSING', at, { expected: 'a step that the join names', got: step.stepId });
  checkQuorum(context, report);
};

function checkQuorum({ plan: { join } }: PlanContext, report: Report): void {
  const { completionRule, successRule, quorumCount, requiredSteps } = join;
  const byQuorum = successRule === 'quorum_completed';
  // A run that is complete at a quorum cannot be judged by steps that need not have settled.
  if (completionRule === 'quorum' && !byQuorum)
    report('JOIN_QUORUM', '/join/successRule', { expected: 'quorum_completed', got: successRule });
  if (!byQuorum && completionRule !== 'quorum') {
    if (quorumCount !== undefined)
      report('JOIN_QUORUM', '/join/quorumCount', { expected: 'none without a quorum rule', got: String(quorumCount) });
  } else if (quorumCount === undefined || quorumCount > requiredSteps.length)
    report('JOIN_QUORUM', '/join/quorumCount', {
      expected: `1 to ${requiredSteps.length}, the number of required steps`,
      got: String(quorumCount),
    });
}
