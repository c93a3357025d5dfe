/** Join, requested outputs, sentences and their evidence. */
import { PLAN } from '../claims-world.test.ts';
import { AGAINST, goalWith, nth, planWith, snapshotWith, testCases, type PlanCase } from './plan-world.test.ts';

export const ANSWER_CASES: readonly PlanCase[] = [
  [
    'a join that names an unknown step',
    planWith((p) => p.join.optionalSteps.push('s9')),
    AGAINST,
    [['JOIN_STEP_UNKNOWN', '/join/optionalSteps/2']],
  ],
  [
    'a join that leaves a step out',
    planWith((p) => (p.join.optionalSteps = ['s2'])),
    AGAINST,
    [['JOIN_STEP_MISSING', '/steps/2']],
  ],
  [
    'a join that names a step on both sides',
    planWith((p) => p.join.optionalSteps.push('s1')),
    AGAINST,
    [
      ['JOIN_STEP_TWICE', '/join/optionalSteps/2'],
      ['JOIN_REQUIRED_MISMATCH', '/join/optionalSteps/2'],
    ],
  ],
  [
    'a join that requires an optional step',
    planWith((p) => {
      p.join.requiredSteps = ['s1', 's2'];
      p.join.optionalSteps = ['s3'];
    }),
    AGAINST,
    [['JOIN_REQUIRED_MISMATCH', '/join/requiredSteps/1']],
  ],
  [
    'a quorum rule without a number',
    planWith((p) => (p.join.successRule = 'quorum_completed')),
    AGAINST,
    [['JOIN_QUORUM', '/join/quorumCount']],
  ],
  [
    'a quorum that cannot be reached',
    planWith((p) =>
      Object.assign(p.join, { successRule: 'quorum_completed', completionRule: 'quorum', quorumCount: 2 }),
    ),
    AGAINST,
    [['JOIN_QUORUM', '/join/quorumCount']],
  ],
  [
    'a quorum that can be reached',
    planWith((p) =>
      Object.assign(p.join, { successRule: 'quorum_completed', completionRule: 'quorum', quorumCount: 1 }),
    ),
    AGAINST,
    [],
  ],
  [
    'a quorum without a quorum rule',
    planWith((p) => (p.join.quorumCount = 1)),
    AGAINST,
    [['JOIN_QUORUM', '/join/quorumCount']],
  ],
  [
    'completion at a quorum and success at all',
    planWith((p) => Object.assign(p.join, { completionRule: 'quorum', quorumCount: 1 })),
    AGAINST,
    [['JOIN_QUORUM', '/join/successRule']],
  ],
  [
    'a required output that only an optional step produces',
    planWith((p) => {
      nth(p.steps, 0).required = false;
      nth(p.steps, 1).required = true;
      Object.assign(p.join, { requiredSteps: ['s2'], optionalSteps: ['s1', 's3'] });
    }),
    AGAINST,
    [['OUTPUT_MISSING', '/steps']],
  ],
  [
    'a required output that no step produces',
    PLAN,
    goalWith((g) => g.requestedOutputs.push({ kind: 'verdict', required: true })),
    [['OUTPUT_MISSING', '/steps']],
  ],
  [
    'an optional output that no skill could produce',
    PLAN,
    goalWith((g) => g.requestedOutputs.push({ kind: 'verdict', required: false })),
    [],
  ],
  [
    'a sentence without steps that bear it',
    planWith((p) => (p.claims = p.claims.filter(({ key }) => key !== 'next'))),
    AGAINST,
    [['CLAIM_UNDECLARED', '/claims']],
  ],
  [
    'a sentence borne by no step at all',
    planWith((p) => (nth(p.claims, 0).stepIds = [])),
    AGAINST,
    [['CLAIM_UNDECLARED', '/claims/0/stepIds']],
  ],
  [
    'a sentence borne by a step of another output',
    planWith((p) => (nth(p.claims, 0).stepIds = ['s1', 's2'])),
    AGAINST,
    [['CLAIM_UNDECLARED', '/claims/0/stepIds/1']],
  ],
  [
    'a proof borne by an unknown step',
    planWith((p) => (nth(p.claims, 2).stepIds = ['s9'])),
    AGAINST,
    [['CLAIM_UNDECLARED', '/claims/2/stepIds/0']],
  ],
  [
    'an unknown skill at the head of everything',
    planWith((p) => {
      nth(p.steps, 0).skillId = 'write-poem';
      nth(p.claims, 2).stepIds = ['s1'];
    }),
    AGAINST,
    [
      ['SKILL_UNKNOWN', '/steps/0/skillId'],
      ['OUTPUT_MISSING', '/steps'],
      ['CLAIM_UNDECLARED', '/claims/0/stepIds/0'],
    ],
  ],
  ['a proof that names a step', planWith((p) => (nth(p.claims, 2).stepIds = ['s3'])), AGAINST, []],
  [
    'a sentence that the goal does not have, and one twice',
    planWith((p) => p.claims.push({ key: 'rumour', stepIds: ['s1'] }, { key: 'next', stepIds: ['s2'] })),
    AGAINST,
    [
      ['CLAIM_UNDECLARED', '/claims/3/key'],
      ['CLAIM_UNDECLARED', '/claims/4/key'],
    ],
  ],
  [
    'a sentence whose step may not carry its evidence',
    PLAN,
    snapshotWith((s) => (nth(s.skills, 1).evidence.anchorTypes = ['faq'])),
    [['CLAIM_EVIDENCE', '/claims/1/stepIds/0']],
  ],
];

testCases(ANSWER_CASES);
