/** What the tests of the plan checks share: one lawful plan, ways to change one thing, and what is then said of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CapabilitySnapshot } from '#contracts/capability-snapshot.ts';
import type { GoalContract } from '#contracts/goal.ts';
import { finding, type FindingCode, type Plan } from '#contracts/plan.ts';
import { AT, changed, GOAL, PLAN, SNAPSHOT, step } from '../claims-world.test.ts';
import { goalDigest } from '../goal-digest.ts';
import { validatePlan } from '../plan-validator.ts';
import type { PlanAgainst } from './context.ts';

export const AGAINST: PlanAgainst = {
  goal: GOAL,
  goalDigest: goalDigest(GOAL),
  snapshot: SNAPSHOT,
  at: AT,
  planVersion: 1,
};

export type Said = readonly [code: FindingCode, pointer: string];

export function said(proposed: unknown, against: PlanAgainst = AGAINST): readonly Said[] {
  const { findings, plan } = validatePlan(proposed, against);
  assert.equal(plan === undefined, findings.length > 0, 'a plan comes back exactly when nothing was found');
  for (const one of findings) assert.deepEqual(finding.parse(one), one);
  return findings.map(({ code, pointer }) => [code, pointer]);
}

export const planWith = (change: (plan: Plan) => void): Plan => changed(PLAN, change);
export const goalWith = (change: (goal: GoalContract) => void): PlanAgainst => {
  const goal = changed(GOAL, change);
  return { ...AGAINST, goal };
};
export const snapshotWith = (change: (snapshot: CapabilitySnapshot) => void): PlanAgainst => ({
  ...AGAINST,
  snapshot: changed(SNAPSHOT, change),
});

/** The nth of a list that has it. */
export function nth<T>(list: readonly T[], index: number): T {
  const value = list[index];
  assert.ok(value !== undefined, `no element ${index}`);
  return value;
}

/** A step that sends, as a scripted planner would slip it in. */
export const sending = (plan: Plan): void => {
  plan.steps.push(
    step({
      stepId: 's4',
      team: 'notification',
      skillId: 'send-notice',
      actions: ['notify:draft'],
      approval: 'person',
      dependsOn: [{ stepId: 's3', strength: 'strong' }],
      inputs: { draft: { from: 'step', stepId: 's3', pointer: '/notification_draft' } },
    }),
  );
  plan.join.optionalSteps.push('s4');
};

/** One change in plan, goal or snapshot, and exactly what must be said of it. */
export type PlanCase = readonly [sentence: string, plan: Plan, against: PlanAgainst, expected: readonly Said[]];

export function testCases(cases: readonly PlanCase[]): void {
  for (const [sentence, plan, against, expected] of cases)
    test(`${expected.length === 0 ? 'permits' : 'refuses'} ${sentence}`, () => {
      // A changed goal has another digest; the plan under test is made for it unless the digest is the subject.
      const fitting = against.goal === GOAL ? plan : { ...plan, goalDigest: AGAINST.goalDigest };
      assert.deepEqual(said(fitting, against), expected);
    });
}

test('the plan that the cases change is lawful', () => {
  assert.deepEqual(said(PLAN), []);
});
