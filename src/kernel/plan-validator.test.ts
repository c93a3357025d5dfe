import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finding, type Plan } from '#contracts/plan.ts';
import { card, changed, GOAL, PLAN, skill, type SKILLS, SNAPSHOT, step } from './claims-world.test.ts';
import { ANSWER_CASES } from './plan-checks/answer-cases.test.ts';
import type { PlanAgainst } from './plan-checks/context.ts';
import { LIMIT_CASES } from './plan-checks/limit-cases.test.ts';
import { AGAINST, goalWith, nth, planWith, said, sending, snapshotWith } from './plan-checks/plan-world.test.ts';
import { STRUCTURE_CASES } from './plan-checks/structure-cases.test.ts';
import { FINDING_COUNT_MAX, validatePlan } from './plan-validator.ts';

test('a lawful plan has no findings and comes back as it was', () => {
  const { findings, plan } = validatePlan(PLAN, AGAINST);
  assert.deepEqual(findings, []);
  assert.deepEqual(plan, PLAN);
});

test('a plan that breaks its schema gets PLAN_SCHEMA with pointers, and nothing else', () => {
  assert.deepEqual(said({ ...PLAN, extra: 1 }), [['PLAN_SCHEMA', '']]);
  assert.deepEqual(said(planWith((plan) => (nth(plan.steps, 1).budget.toolCallCountMax = -1))), [
    ['PLAN_SCHEMA', '/steps/1/budget/toolCallCountMax'],
  ]);
  assert.deepEqual(said('do it'), [['PLAN_SCHEMA', '']]);
  assert.deepEqual(said(null), [['PLAN_SCHEMA', '']]);
});

test('every finding code has a case', () => {
  const seen = new Set(
    [...STRUCTURE_CASES, ...LIMIT_CASES, ...ANSWER_CASES].flatMap(([, , , expected]) => expected.map(([code]) => code)),
  );
  seen.add('PLAN_SCHEMA');
  assert.deepEqual(
    [...finding.shape.code.options].filter((code) => !seen.has(code)),
    [],
  );
});

test('a cycle is named by its steps, without those that only wait for it', () => {
  const plan = planWith((p) => nth(p.steps, 0).dependsOn.push({ stepId: 's2', strength: 'weak' }));
  const cycle = validatePlan(plan, AGAINST).findings.find(({ code }) => code === 'DEPENDENCY_CYCLE');
  assert.equal(cycle?.got, 's1 ← s2 ← s1');
  const behind = planWith((p) => {
    p.steps.reverse();
    nth(p.steps, 2).dependsOn.push({ stepId: 's1', strength: 'weak' });
  });
  assert.equal(validatePlan(behind, AGAINST).findings.find(({ code }) => code === 'DEPENDENCY_CYCLE')?.got, 's1 ← s1');
});

test('a plan with several faults gets all of them at once', () => {
  const plan = planWith((p) => {
    sending(p);
    nth(p.steps, 0).inputs = {};
    p.budget.toolCallCountMax = 9;
    p.join.optionalSteps = ['s2', 's3'];
  });
  const codes = said(plan).map(([code]) => code);
  for (const code of ['ACTION_PROHIBITED', 'INPUT_UNMAPPED', 'BUDGET_WIDENED', 'JOIN_STEP_MISSING'] as const)
    assert.ok(codes.includes(code), `${code} is missing in ${codes.join()}`);
});

test('a team that did not answer discovery is named as such', () => {
  const against = snapshotWith((s) => {
    s.cards = s.cards.filter(({ team }) => team !== 'knowledge');
    s.unavailable = [{ team: 'knowledge', reason: 'no answer in 500 ms' }];
  });
  const found = validatePlan(PLAN, against).findings.find(({ code }) => code === 'TEAM_UNKNOWN');
  assert.equal(found?.got, 'knowledge, which did not answer: no answer in 500 ms');
});

test('an optional output whose team is down is not missing, nor is what follows from it', () => {
  const against = snapshotWith((s) => {
    s.cards = s.cards.filter(({ team }) => team !== 'knowledge');
    s.skills = s.skills.filter(({ team }) => team !== 'knowledge');
    s.unavailable = [{ team: 'knowledge', reason: 'no answer' }];
  });
  const plan = planWith((p) => {
    p.steps = p.steps.slice(0, 1);
    p.join.optionalSteps = [];
    p.claims = [nth(p.claims, 0)];
  });
  assert.deepEqual(said(plan, against), []);
  // With the team there, the same plan leaves out what could be had.
  assert.deepEqual(said(plan), [
    ['OUTPUT_MISSING', '/steps'],
    ['OUTPUT_MISSING', '/steps'],
  ]);
});

/** A world in which only this skill gives what is asked for. */
const only = (over: Partial<(typeof SKILLS)[number]>): PlanAgainst => ({
  ...goalWith((g) => g.requestedOutputs.push({ kind: 'verdict', required: false })),
  snapshot: changed(SNAPSHOT, (s) => {
    const verdict = skill({
      team: 'claims',
      skillId: 'judge',
      produces: [{ kind: 'verdict', pointer: '' }],
      ...over,
    });
    s.skills.push(verdict);
    s.cards.push(card('stranger', { verifiedBy: undefined as never }), card('old', { protocolVersion: '0.3' }));
  }),
});

test('an optional output that only an unlawful skill produces is not missing', () => {
  assert.deepEqual(said(PLAN, only({})), [['OUTPUT_MISSING', '/steps']]);
  for (const over of [
    { available: false },
    { team: 'nobody' },
    { team: 'stranger' },
    { team: 'old' },
    { purposes: ['audit'] },
    { effectActions: ['notify:send'] },
    { actions: ['claims:judge'] },
  ])
    assert.deepEqual(said(PLAN, only(over)), [], JSON.stringify(over));
  const workload = only({ actions: ['claims:judge'] });
  workload.snapshot.policy.userActions.push('claims:judge');
  assert.deepEqual(said(PLAN, workload), []);
});

/** Three claims, each with its own status step. */
function portfolio(): { readonly plan: Plan; readonly against: PlanAgainst } {
  const ids = ['C-102', 'C-103', 'C-104'];
  const against = goalWith((g) => {
    g.entities = { claim_id: ids };
    g.requestedOutputs = [{ kind: 'cause', required: true, forEach: 'claim_id' }];
  });
  const plan = planWith((p) => {
    p.steps = ids.map((_, index) => ({
      ...structuredClone(nth(p.steps, 0)),
      stepId: `c${index}`,
      inputs: { claim_id: { from: 'goal', pointer: `/entities/claim_id/${index}` } },
    }));
    p.join = { ...p.join, requiredSteps: ['c0', 'c1', 'c2'], optionalSteps: [] };
    p.claims = [{ key: 'status', stepIds: ['c0', 'c1', 'c2'] }];
  });
  return { plan, against };
}

test('an output asked for per value needs a step for each value', () => {
  const { plan, against } = portfolio();
  assert.deepEqual(said(plan, against), []);
  const twice = changed(
    plan,
    (p) => (nth(p.steps, 2).inputs = { claim_id: { from: 'goal', pointer: '/entities/claim_id/0' } }),
  );
  const { findings } = validatePlan(twice, against);
  assert.deepEqual(
    findings.map(({ code, expected }) => [code, expected]),
    [['OUTPUT_MISSING', 'cause for claim_id C-104']],
  );
});

test('a sentence about an output per value is borne by the step of each value', () => {
  const { plan, against } = portfolio();
  const partly = changed(plan, (p) => (nth(p.claims, 0).stepIds = ['c0', 'c2']));
  const { findings } = validatePlan(partly, against);
  assert.deepEqual(
    findings.map(({ code, expected }) => [code, expected]),
    [['CLAIM_UNDECLARED', 'the step for claim_id C-103']],
  );
});

/** The guidance step that follows the nth status step. */
const guide = (index: number): Plan['steps'][number] =>
  step({
    stepId: `g${index}`,
    team: 'knowledge',
    skillId: 'policy-guidance',
    required: true,
    actions: ['policy:read'],
    budget: { modelTokenCountMax: 0, toolCallCountMax: 0, timeoutMs: 2_000 },
    dependsOn: [{ stepId: `c${index}`, strength: 'strong' }],
    inputs: { cause: { from: 'step', stepId: `c${index}`, pointer: '/cause' } },
  });

test('a value reached through an upstream step counts', () => {
  const { plan, against } = portfolio();
  const goal = changed(against.goal, (g) => {
    g.requestedOutputs = [
      { kind: 'next_action', required: true, forEach: 'claim_id' },
      { kind: 'cause', required: true, forEach: 'member_id' },
    ];
  });
  const chained = changed(plan, (p) => {
    p.steps.push(...[0, 1, 2].map(guide));
    p.join.requiredSteps.push('g0', 'g1', 'g2');
    p.claims.push({ key: 'next', stepIds: ['g0', 'g1', 'g2'] });
  });
  assert.deepEqual(said(chained, { ...against, goal }), []);
});

test('findings are cut at what one event holds', () => {
  const plan = planWith((p) => {
    for (let index = 0; index < 2 * FINDING_COUNT_MAX; index += 1) p.join.optionalSteps.push('s9');
  });
  assert.equal(validatePlan(plan, AGAINST).findings.length, FINDING_COUNT_MAX);
});

test('texts and pointers of findings fit their contract however long what came was', () => {
  const key = `/${'k'.repeat(600)}`;
  const { findings } = validatePlan({ ...PLAN, join: { ...PLAN.join, [key]: 1 } }, AGAINST);
  for (const one of findings) assert.deepEqual(finding.parse(one), one);
  const deep = {
    ...PLAN,
    steps: [{ ...nth(PLAN.steps, 0), inputs: { ['n'.repeat(600)]: { from: 'goal', pointer: 1 } } }],
  };
  const [first] = validatePlan(deep, AGAINST).findings;
  assert.equal(first?.pointer, '/steps/0/inputs');
});

test('ten thousand steps in a chain and in a fan are decided', () => {
  const count = 10_000;
  const goal = changed(GOAL, (g) => {
    g.budget = { ...g.budget, stepCountMax: count, toolCallCountMax: 0 };
    g.requestedOutputs = [{ kind: 'cause', required: true }];
    g.claims = [];
  });
  const snapshot = changed(SNAPSHOT, (s) => (nth(s.skills, 0).minimumRuntimeMs = 0));
  for (const shape of ['chain', 'fan'] as const) {
    const steps = Array.from({ length: count }, (_, index) =>
      step({
        ...nth(PLAN.steps, 0),
        stepId: `s${index}`,
        budget: { modelTokenCountMax: 0, toolCallCountMax: 0, timeoutMs: 2_000 },
        dependsOn: index === 0 ? [] : [{ stepId: shape === 'chain' ? `s${index - 1}` : 's0', strength: 'strong' }],
      }),
    );
    const join = { ...PLAN.join, requiredSteps: steps.map(({ stepId }) => stepId), optionalSteps: [] };
    const plan: Plan = { ...PLAN, steps, join, claims: [], budget: goal.budget };
    assert.deepEqual(said(plan, { ...AGAINST, goal, snapshot }), [], shape);
    const knotted = changed(plan, (p) => nth(p.steps, 0).dependsOn.push({ stepId: 's9999', strength: 'weak' }));
    assert.deepEqual(said(knotted, { ...AGAINST, goal, snapshot }), [['DEPENDENCY_CYCLE', '/steps/0/dependsOn']]);
  }
});
