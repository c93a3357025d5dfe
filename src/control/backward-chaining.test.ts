import type { CapabilitySnapshot } from '#contracts/capability-snapshot.ts';
import type { GoalContract } from '#contracts/goal.ts';
import type { Plan } from '#contracts/plan.ts';
import { goalDigest } from '#kernel/goal-digest.ts';
import { validatePlan } from '#kernel/plan-validator.ts';
import { inquiryGoal, inquirySnapshot, INQUIRY_SKILLS, PORTFOLIO_KIND } from '#testing/inquiry-case.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rulesPlanner } from './backward-chaining.ts';

const bounds = { signal: new AbortController().signal, modelTokenCountMax: 0 };
const AT = '2026-07-22T14:00:01.000Z';

async function planned(goal: GoalContract, snapshot: CapabilitySnapshot) {
  const digest = goalDigest(goal);
  const request = { goal, goalDigest: digest, snapshot, planVersion: 1, planId: 'plan_1', findings: [] };
  const { plan } = await rulesPlanner.propose(request, bounds);
  const against = { goal, goalDigest: digest, snapshot, at: AT, planVersion: 1 };
  return { plan: plan as Plan, findings: validatePlan(plan, against).findings };
}

test('the plan goes from the claim to the draft in four steps, each after what it needs', async () => {
  const { plan, findings } = await planned(inquiryGoal(), inquirySnapshot());
  assert.deepEqual(findings, []);
  assert.deepEqual(
    plan.steps.map(({ stepId, skillId, required, dependsOn }) => [
      stepId,
      skillId,
      required,
      dependsOn.map((dependency) => `${dependency.stepId} ${dependency.strength}`),
    ]),
    [
      ['s1', 'resolve-member', true, []],
      ['s2', 'claim-status', true, ['s1 strong']],
      ['s3', 'policy-guidance', false, ['s2 strong']],
      ['s4', 'draft-notice', false, ['s2 strong', 's3 strong']],
    ],
  );
  assert.deepEqual(plan.steps[3]?.inputs, {
    claim_id: { from: 'goal', pointer: '/entities/claim_id' },
    missing_documents: { from: 'step', stepId: 's2', pointer: '/missing_documents' },
    next_action: { from: 'step', stepId: 's3', pointer: '/next_action' },
  });
  assert.deepEqual(plan.join.requiredSteps, ['s1', 's2']);
  assert.deepEqual(plan.join.optionalSteps, ['s3', 's4']);
});

test('three claims are three chains that do not wait for each other', async () => {
  const { kind, purpose, outputs, claims, budget } = PORTFOLIO_KIND;
  const goal = inquiryGoal({
    kind,
    purpose,
    budget,
    claims: [...claims],
    subject: { type: 'claim', ids: ['C-1', 'C-2', 'C-3'] },
    entities: { claim_id: ['C-1', 'C-2', 'C-3'] },
    requestedOutputs: outputs.map((output) => ({ kind: output.kind, required: true, forEach: 'claim_id' })),
  });
  const { plan, findings } = await planned(goal, inquirySnapshot());
  assert.deepEqual(findings, []);
  assert.equal(plan.steps.length, 6);
  const roots = plan.steps.filter(({ dependsOn }) => dependsOn.length === 0);
  assert.deepEqual(
    roots.map(({ inputs }) => inputs['claim_id']),
    [0, 1, 2].map((index) => ({ from: 'goal', pointer: `/entities/claim_id/${index}` })),
  );
  assert.equal(plan.claims.find(({ key }) => key === 'status')?.stepIds.length, 3);
});

test('a skill that is prohibited, unavailable, of an unverified team or not permitted is not used', async () => {
  const goal = inquiryGoal({
    requestedOutputs: [
      { kind: 'cause', required: true },
      { kind: 'notice_sent', required: false },
    ],
  });
  const send = await planned(goal, inquirySnapshot());
  assert.ok(send.plan.steps.every(({ skillId }) => skillId !== 'send-notice'));
  const without = (change: Partial<CapabilitySnapshot>) => planned(goal, inquirySnapshot(change));
  const snapshot = inquirySnapshot();
  const cases: readonly Partial<CapabilitySnapshot>[] = [
    { skills: snapshot.skills.map((s) => (s.skillId === 'claim-status' ? { ...s, available: false } : s)) },
    {
      cards: snapshot.cards.map(({ verifiedBy, ...card }) =>
        card.team === 'claims' ? card : { ...card, verifiedBy },
      ) as never,
    },
    { policy: { ...snapshot.policy, userActions: ['members:read'] } },
  ];
  for (const change of cases) {
    const { plan, findings } = await without(change);
    assert.ok(plan.steps.every(({ skillId }) => skillId !== 'claim-status'));
    assert.ok(findings.some(({ code }) => code === 'OUTPUT_MISSING' || code === 'PLAN_SCHEMA'));
  }
});

test('of two skills that give the same, the one with fewer tool calls is taken, every time', async () => {
  const cheap = INQUIRY_SKILLS.filter(({ skillId }) => skillId === 'policy-guidance').map((skill) => ({
    ...skill,
    skillId: 'policy-index',
    stepBudget: { ...skill.stepBudget, toolCallCountMax: 1 },
  }));
  for (const skills of [
    [...cheap, ...INQUIRY_SKILLS],
    [...INQUIRY_SKILLS, ...cheap],
  ]) {
    const { plan } = await planned(inquiryGoal(), inquirySnapshot({ skills }));
    assert.equal(plan.steps[2]?.skillId, 'policy-index');
  }
});

test('skills that need each other make no plan and no endless search', async () => {
  const base = INQUIRY_SKILLS[0];
  assert.ok(base !== undefined);
  const loop = (skillId: string, needs: string, gives: string) => ({
    ...base,
    skillId,
    requires: [{ name: 'claim_id', kind: needs }],
    produces: [{ kind: gives, pointer: '/member_id' }],
  });
  const skills = [loop('a', 'y', 'x'), loop('b', 'x', 'y')];
  const goal = inquiryGoal({ requestedOutputs: [{ kind: 'x', required: true }], claims: [] });
  const { plan, findings } = await planned(goal, inquirySnapshot({ skills }));
  assert.deepEqual(plan.steps, []);
  assert.ok(findings.length > 0);
});

const SENDING = { requestedOutputs: [{ kind: 'notice_sent', required: true }], prohibitedActions: [], claims: [] };

function offering(available = true): CapabilitySnapshot {
  const { policy } = inquirySnapshot();
  const workloadActions = [...policy.workloadActions, 'notify:send'];
  const skills = INQUIRY_SKILLS.map((skill) => (skill.risk === 'effect' ? { ...skill, available } : skill));
  return inquirySnapshot({ skills, policy: { ...policy, workloadActions } });
}

test('an effect is planned when the goal asks for its outcome, under the approval that its skill says', async () => {
  const { plan, findings } = await planned(inquiryGoal(SENDING), offering());
  assert.deepEqual(findings, []);
  const send = plan.steps.at(-1);
  assert.deepEqual([send?.skillId, send?.approval, send?.actions], ['send-notice', 'person', ['notify:send']]);
});

test('an effect is not planned on the way, where it is prohibited, or where nothing applies it', async () => {
  const skillsOf = async (goal: Partial<GoalContract>, snapshot: CapabilitySnapshot): Promise<readonly string[]> =>
    (await planned(inquiryGoal(goal), snapshot)).plan.steps.map(({ skillId }) => skillId);
  const unasked = await skillsOf(
    { ...SENDING, requestedOutputs: [{ kind: 'notice_draft', required: true }] },
    offering(),
  );
  assert.ok(!unasked.includes('send-notice'));
  assert.deepEqual(await skillsOf({ ...SENDING, prohibitedActions: ['notify:send'] }, offering()), []);
  assert.deepEqual(await skillsOf(SENDING, offering(false)), []);
});
