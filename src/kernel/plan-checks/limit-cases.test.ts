/** Budgets, permissions, prohibitions, approvals. */
import { PLAN } from '../claims-world.test.ts';
import {
  AGAINST,
  goalWith,
  nth,
  planWith,
  sending,
  snapshotWith,
  testCases,
  type PlanCase,
} from './plan-world.test.ts';

/** What makes a drafting skill one with an effect on one resource. */
const EFFECT = {
  risk: 'effect',
  effectActions: ['notify:draft'],
  resources: [{ type: 'notice', input: 'next_action' }],
} as const;

export const LIMIT_CASES: readonly PlanCase[] = [
  ['too many steps', planWith((p) => (p.budget.stepCountMax = 2)), AGAINST, [['BUDGET_STEPS', '/steps']]],
  [
    'too many tokens',
    planWith((p) => (nth(p.steps, 1).budget.modelTokenCountMax = 12_001)),
    AGAINST,
    [['BUDGET_TOKENS', '/steps']],
  ],
  [
    'too many tool calls',
    PLAN,
    goalWith((g) => (g.budget.toolCallCountMax = 5)),
    [
      ['BUDGET_WIDENED', '/budget/toolCallCountMax'],
      ['BUDGET_TOOL_CALLS', '/steps'],
    ],
  ],
  [
    'a budget wider than the goal',
    planWith((p) => (p.budget.replanCountMax = 3)),
    AGAINST,
    [['BUDGET_WIDENED', '/budget/replanCountMax']],
  ],
  [
    'a chain longer than the deadline',
    planWith((p) => (p.budget.deadlineMs = 299)),
    AGAINST,
    [['BUDGET_DEADLINE', '/budget/deadlineMs']],
  ],
  [
    'an absolute deadline before the chain can end',
    PLAN,
    goalWith((g) => (g.deadlineAt = '2026-07-22T15:00:00.250Z')),
    [['BUDGET_DEADLINE', '/budget/deadlineMs']],
  ],
  ['an absolute deadline with time enough', PLAN, goalWith((g) => (g.deadlineAt = '2026-07-22T15:00:01Z')), []],
  [
    "a step's timeout below its skill's minimum",
    planWith((p) => (nth(p.steps, 1).budget.timeoutMs = 99)),
    AGAINST,
    [['BUDGET_DEADLINE', '/steps/1/budget/timeoutMs']],
  ],
  [
    'independent work that one at a time cannot do in time',
    planWith((p) => {
      p.budget.concurrencyMax = 1;
      p.budget.deadlineMs = 350;
      p.steps.push({ ...structuredClone(nth(p.steps, 0)), stepId: 's4', required: false });
      p.join.optionalSteps.push('s4');
    }),
    AGAINST,
    [['BUDGET_CONCURRENCY', '/budget/concurrencyMax']],
  ],
  [
    'an action that is not of the skill',
    planWith((p) => nth(p.steps, 0).actions.push('policy:read')),
    AGAINST,
    [['PERMISSION_ACTION', '/steps/0/actions/1']],
  ],
  [
    'an action that the skill needs and the step does not ask for',
    PLAN,
    snapshotWith((s) => nth(s.skills, 0).actions.push('claims:list')),
    [['PERMISSION_ACTION', '/steps/0/actions']],
  ],
  [
    'an action the user may not do',
    PLAN,
    snapshotWith((s) => (s.policy.userActions = ['claims:read', 'policy:read'])),
    [['PERMISSION_USER', '/steps/2/actions/0']],
  ],
  [
    'an action the supervisor may not do',
    PLAN,
    snapshotWith((s) => (s.policy.workloadActions = ['claims:read', 'policy:read'])),
    [['PERMISSION_WORKLOAD', '/steps/2/actions/0']],
  ],
  [
    'a purpose the policy does not permit',
    PLAN,
    snapshotWith((s) => (s.policy.purposes = ['audit'])),
    [['PERMISSION_PURPOSE', '']],
  ],
  [
    'a purpose the skill is not for',
    PLAN,
    snapshotWith((s) => (nth(s.skills, 1).purposes = ['audit'])),
    [['PERMISSION_PURPOSE', '/steps/1/skillId']],
  ],
  [
    'a prohibited skill, although the step does not ask for the action',
    planWith(sending),
    AGAINST,
    [
      ['SKILL_UNAVAILABLE', '/steps/3/skillId'],
      ['ACTION_PROHIBITED', '/steps/3/skillId'],
      ['PERMISSION_ACTION', '/steps/3/actions'],
      ['EFFECT_UNASKED', '/steps/3/skillId'],
      ['EFFECT_RESOURCE', '/steps/3/skillId'],
    ],
  ],
  [
    'a prohibited action asked for by a step of an unknown skill',
    planWith((p) => {
      nth(p.steps, 2).skillId = 'write-poem';
      nth(p.steps, 2).actions = ['claims:update'];
    }),
    AGAINST,
    [
      ['SKILL_UNKNOWN', '/steps/2/skillId'],
      ['PERMISSION_USER', '/steps/2/actions/0'],
      ['PERMISSION_WORKLOAD', '/steps/2/actions/0'],
      ['ACTION_PROHIBITED', '/steps/2/skillId'],
      ['OUTPUT_MISSING', '/steps'],
    ],
  ],
  [
    "an approval weaker than the skill's",
    planWith((p) => (nth(p.steps, 0).approval = 'policy')),
    snapshotWith((s) => (nth(s.skills, 0).approval = 'person')),
    [['APPROVAL_MISSING', '/steps/0/approval']],
  ],
  [
    'an effect that nobody approves',
    PLAN,
    snapshotWith((s) => (nth(s.skills, 2).sideEffect = 'external')),
    [['APPROVAL_MISSING', '/steps/2/approval']],
  ],
  [
    'an effect that a quorum approves where a policy would do',
    planWith((p) => (nth(p.steps, 2).approval = 'quorum')),
    snapshotWith((s) => Object.assign(nth(s.skills, 2), EFFECT)),
    [],
  ],
  [
    'an effect that acts twice at once',
    planWith((p) => {
      nth(p.steps, 2).approval = 'person';
      nth(p.steps, 2).actions = ['notify:draft', 'claims:read'];
    }),
    snapshotWith((s) => Object.assign(nth(s.skills, 2), { ...EFFECT, effectActions: ['notify:draft', 'claims:read'] })),
    [['EFFECT_RESOURCE', '/steps/2/skillId']],
  ],
];

testCases(LIMIT_CASES);
