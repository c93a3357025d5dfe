/** Identity, teams and skills, dependencies, inputs. */
import { changed, document, GOAL, PLAN, SNAPSHOT } from '../claims-world.test.ts';
import { goalDigest } from '../goal-digest.ts';
import { AGAINST, goalWith, nth, planWith, snapshotWith, testCases, type PlanCase } from './plan-world.test.ts';

export const STRUCTURE_CASES: readonly PlanCase[] = [
  ['another goal', planWith((p) => (p.goalId = 'goal_2')), AGAINST, [['PLAN_GOAL_MISMATCH', '/goalId']]],
  [
    'another digest of the goal',
    PLAN,
    { ...AGAINST, goalDigest: goalDigest(changed(GOAL, (g) => (g.purpose = 'x'))) },
    [['PLAN_GOAL_MISMATCH', '/goalDigest']],
  ],
  ['another snapshot', planWith((p) => (p.snapshotId = 'cap_2')), AGAINST, [['PLAN_SNAPSHOT_MISMATCH', '/snapshotId']]],
  [
    'a snapshot that expires now',
    PLAN,
    { ...AGAINST, at: SNAPSHOT.expiresAt },
    [['PLAN_SNAPSHOT_EXPIRED', '/snapshotId']],
  ],
  ['another version', PLAN, { ...AGAINST, planVersion: 2 }, [['PLAN_VERSION_MISMATCH', '/version']]],
  ['a snapshot of another tenant', PLAN, snapshotWith((s) => (s.tenant = 't8')), [['PERMISSION_TENANT', '']]],
  [
    'a tenant the policy does not permit',
    PLAN,
    snapshotWith((s) => (s.policy.tenants = ['t8'])),
    [['PERMISSION_TENANT', '']],
  ],
  [
    'two steps of one id',
    planWith((p) => {
      nth(p.steps, 2).stepId = 's2';
      nth(p.steps, 2).dependsOn = [{ stepId: 's1', strength: 'strong' }];
      nth(p.steps, 2).inputs = { next_action: { from: 'step', stepId: 's1', pointer: '/cause' } };
      p.join.optionalSteps = ['s2'];
    }),
    AGAINST,
    [
      ['STEP_ID_DUPLICATE', '/steps/2/stepId'],
      ['INPUT_KIND', '/steps/2/inputs/next_action/pointer'],
    ],
  ],
  [
    'an unknown team',
    planWith((p) => (nth(p.steps, 2).team = 'billing')),
    AGAINST,
    [
      ['TEAM_UNKNOWN', '/steps/2/team'],
      ['OUTPUT_MISSING', '/steps'],
    ],
  ],
  [
    'a team whose card nobody verified',
    PLAN,
    snapshotWith((s) => delete nth(s.cards, 0).verifiedBy),
    [['TEAM_UNVERIFIED', '/steps/0/team']],
  ],
  [
    'a team of another protocol',
    PLAN,
    snapshotWith((s) => (nth(s.cards, 1).protocolVersion = '0.3')),
    [['TEAM_PROTOCOL', '/steps/1/team']],
  ],
  [
    'a domain service in the same process, which speaks no wire protocol',
    PLAN,
    snapshotWith((s) => {
      nth(s.cards, 1).protocolVersion = '';
      nth(nth(s.cards, 1).interfaces, 0).binding = 'INPROCESS';
    }),
    [],
  ],
  [
    'an unknown skill',
    planWith((p) => (nth(p.steps, 2).skillId = 'write-poem')),
    AGAINST,
    [
      ['SKILL_UNKNOWN', '/steps/2/skillId'],
      ['OUTPUT_MISSING', '/steps'],
    ],
  ],
  [
    'a version of a skill that is not there',
    planWith((p) => (nth(p.steps, 2).skillVersion = '2.0.0')),
    AGAINST,
    [
      ['SKILL_VERSION', '/steps/2/skillVersion'],
      ['OUTPUT_MISSING', '/steps'],
    ],
  ],
  [
    'a skill nobody can run',
    PLAN,
    snapshotWith((s) => (nth(s.skills, 2).available = false)),
    [['SKILL_UNAVAILABLE', '/steps/2/skillId']],
  ],
  [
    'an unknown dependency',
    planWith((p) => nth(p.steps, 0).dependsOn.push({ stepId: 's9', strength: 'weak' })),
    AGAINST,
    [['DEPENDENCY_UNKNOWN', '/steps/0/dependsOn/0']],
  ],
  [
    'a dependency named twice',
    planWith((p) => nth(p.steps, 1).dependsOn.push({ stepId: 's1', strength: 'weak' })),
    AGAINST,
    [['DEPENDENCY_DUPLICATE', '/steps/1/dependsOn/1']],
  ],
  [
    'a cycle',
    planWith((p) => nth(p.steps, 0).dependsOn.push({ stepId: 's2', strength: 'weak' })),
    AGAINST,
    [['DEPENDENCY_CYCLE', '/steps/0/dependsOn']],
  ],
  [
    'a step that waits for itself',
    planWith((p) => nth(p.steps, 2).dependsOn.push({ stepId: 's3', strength: 'weak' })),
    AGAINST,
    [['DEPENDENCY_CYCLE', '/steps/2/dependsOn']],
  ],
  [
    'an unmapped input',
    planWith((p) => (nth(p.steps, 0).inputs = {})),
    AGAINST,
    [['INPUT_UNMAPPED', '/steps/0/inputs']],
  ],
  [
    'an input the skill does not have',
    planWith((p) => (nth(p.steps, 0).inputs['recipient'] = { from: 'goal', pointer: '/entities/claim_id' })),
    AGAINST,
    [['INPUT_UNKNOWN', '/steps/0/inputs/recipient']],
  ],
  ...['/entities/policy_id', '/requestedBy', '/statement/text', '/subject/type', '/entities/claim_id/0', ''].map(
    (pointer): PlanCase => [
      `the goal's ${pointer || 'whole'} as an input`,
      planWith((p) => (nth(p.steps, 0).inputs['claim_id'] = { from: 'goal', pointer })),
      AGAINST,
      [['INPUT_SOURCE_GOAL', '/steps/0/inputs/claim_id/pointer']],
    ],
  ),
  [
    'an entity of another kind',
    planWith((p) => (nth(p.steps, 0).inputs['claim_id'] = { from: 'goal', pointer: '/entities/member_id' })),
    goalWith((g) => (g.entities['member_id'] = 'm42')),
    [['INPUT_KIND', '/steps/0/inputs/claim_id/pointer']],
  ],
  [
    "the subject's id where its type is not the kind",
    planWith((p) => (nth(p.steps, 0).inputs['claim_id'] = { from: 'goal', pointer: '/subject/ids/0' })),
    AGAINST,
    [['INPUT_KIND', '/steps/0/inputs/claim_id/pointer']],
  ],
  [
    'a list where one value is wanted',
    PLAN,
    goalWith((g) => (g.entities['claim_id'] = ['C-102', 'C-103'])),
    [['INPUT_KIND', '/steps/0/inputs/claim_id/pointer']],
  ],
  [
    'an element of a list where one value is wanted',
    planWith((p) => (nth(p.steps, 0).inputs['claim_id'] = { from: 'goal', pointer: '/entities/claim_id/1' })),
    goalWith((g) => (g.entities['claim_id'] = ['C-102', 'C-103'])),
    [],
  ],
  [
    'one value where a list is wanted',
    PLAN,
    snapshotWith((s) => {
      Object.assign(nth(s.skills, 0), {
        input: document('i', { type: 'object', properties: { claim_id: { type: 'array' } } }),
      });
    }),
    [['INPUT_KIND', '/steps/0/inputs/claim_id/pointer']],
  ],
  [
    'a list where the schema leaves it open',
    PLAN,
    {
      ...goalWith((g) => (g.entities['claim_id'] = ['C-102', 'C-103'])),
      snapshot: changed(SNAPSHOT, (s) => {
        Object.assign(nth(s.skills, 0), { input: document('i', { type: 'object' }) });
      }),
    },
    [],
  ],
  [
    'a list where a list is wanted',
    PLAN,
    {
      ...goalWith((g) => (g.entities['claim_id'] = ['C-102', 'C-103'])),
      snapshot: changed(SNAPSHOT, (s) => {
        Object.assign(nth(s.skills, 0), {
          input: document('i', { type: 'object', properties: { claim_id: { type: 'array' } } }),
        });
      }),
    },
    [],
  ],
  [
    'an input from a step that is no dependency',
    planWith((p) => (nth(p.steps, 2).inputs['next_action'] = { from: 'step', stepId: 's1', pointer: '/cause' })),
    AGAINST,
    [['INPUT_SOURCE_STEP', '/steps/2/inputs/next_action/stepId']],
  ],
  [
    'an input from a dependency that does not exist',
    planWith((p) => {
      nth(p.steps, 2).dependsOn = [{ stepId: 's9', strength: 'strong' }];
      nth(p.steps, 2).inputs['next_action'] = { from: 'step', stepId: 's9', pointer: '/cause' };
    }),
    AGAINST,
    [
      ['DEPENDENCY_UNKNOWN', '/steps/2/dependsOn/0'],
      ['INPUT_SOURCE_STEP', '/steps/2/inputs/next_action/stepId'],
    ],
  ],
  [
    'an input from a place that is no output',
    planWith((p) => (nth(p.steps, 1).inputs['cause'] = { from: 'step', stepId: 's1', pointer: '/notes' })),
    AGAINST,
    [['INPUT_SOURCE_STEP', '/steps/1/inputs/cause/pointer']],
  ],
  [
    'an input from an output of another kind',
    planWith((p) => (nth(p.steps, 1).inputs['cause'] = { from: 'step', stepId: 's1', pointer: '/missing_documents' })),
    AGAINST,
    [['INPUT_KIND', '/steps/1/inputs/cause/pointer']],
  ],
  [
    'an input from a weak dependency',
    planWith((p) => (nth(p.steps, 1).dependsOn = [{ stepId: 's1', strength: 'weak' }])),
    AGAINST,
    [['INPUT_WEAK_SOURCE', '/steps/1/inputs/cause/stepId']],
  ],
];

testCases(STRUCTURE_CASES);
