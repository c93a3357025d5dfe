import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absenceProof, type AbsenceProof } from '#contracts/claim.ts';
import { evidence as evidenceSchema } from '#contracts/evidence.ts';
import { proofFrom, proveAbsence, type AbsenceQuestion } from './absence-proof.ts';
import { AT, changed, GOAL, SKILLS } from './claims-world.test.ts';
import { digestOf } from './digest.ts';
import { resolvePointer } from './pointer.ts';

type Lease = AbsenceQuestion['leases'][number];
type Row = AbsenceQuestion['effects'][number];

const LEASE: Lease = { tenant: 't9', runId: 'run_1', actions: ['claims:read'] };
export const ROW: Row = { tenant: 't9', runId: 'run_1', action: 'notify:send' };

export const ASKED: AbsenceQuestion = {
  goal: GOAL,
  runId: 'run_1',
  leases: [LEASE, { ...LEASE, actions: ['policy:read'] }],
  dispatched: SKILLS.slice(0, 3),
  effects: [],
  at: AT,
  evidenceId: (anchor) => `ev_${anchor.replace(/[^a-z0-9]+/g, '-')}`,
};

function proofOf(over: Partial<AbsenceQuestion>): AbsenceProof | undefined {
  return proveAbsence({ ...ASKED, ...over }).proofs['notify:send'];
}

test('nothing was sent: forbidden, not permitted, not called, not applied', () => {
  const { proofs, evidence, records } = proveAbsence(ASKED);
  assert.deepEqual(proofs['notify:send'], {
    action: 'notify:send',
    prohibitedByGoal: true,
    leaseCountExamined: 2,
    leaseCountPermitting: 0,
    dispatchCountCalling: 0,
    effectRowCount: 0,
    holds: true,
  });
  assert.deepEqual(Object.keys(proofs), ['claims:update', 'notify:send']);
  assert.deepEqual(
    evidence.map(({ anchor, version }) => `${anchor}@${version}`),
    ['goal:goal_1@v1', 'lease-registry:run_1@n2', 'effect-ledger:run_1@n0'],
  );
  for (const item of evidence) {
    assert.deepEqual(evidenceSchema.parse(item), item);
    assert.equal(digestOf(records[item.evidenceId]), item.digest);
  }
});

test('each count above none makes the proof fail', () => {
  const cases: readonly (readonly [keyof AbsenceProof, Partial<AbsenceQuestion>])[] = [
    ['effectRowCount', { effects: [ROW] }],
    ['leaseCountPermitting', { leases: [LEASE, { ...LEASE, actions: ['claims:read', 'notify:send'] }] }],
    ['dispatchCountCalling', { dispatched: SKILLS }],
  ];
  for (const [count, over] of cases) {
    const proof = proofOf(over);
    assert.deepEqual([proof?.[count], proof?.holds], [1, false], count);
  }
  const acting = proofOf({ dispatched: SKILLS.map((skill) => ({ ...skill, actions: ['notify:send'] })) });
  assert.deepEqual([acting?.dispatchCountCalling, acting?.holds], [4, false]);
});

test('what the goal did not forbid is not proved by being absent', () => {
  const goal = changed(GOAL, (g) => (g.prohibitedActions = []));
  const proof = proofOf({ goal });
  assert.deepEqual([proof?.prohibitedByGoal, proof?.holds], [false, false]);
});

test('rows of other runs, other tenants and other actions do not count', () => {
  const effects = [
    { ...ROW, runId: 'run_2' as const },
    { ...ROW, tenant: 't8' },
    { ...ROW, action: 'notify:draft' },
  ];
  const leases = [LEASE, { ...LEASE, tenant: 't8', actions: ['notify:send'] }];
  const { proofs, evidence } = proveAbsence({ ...ASKED, effects, leases });
  assert.ok(proofs['notify:send']?.holds);
  assert.deepEqual(
    evidence.map(({ version }) => version),
    ['v1', 'n1', 'n1'],
  );
});

test('a proof can be made again from its records alone', () => {
  for (const over of [{}, { effects: [ROW] }]) {
    const { proofs, evidence, records } = proveAbsence({ ...ASKED, ...over });
    const read = (type: string, pointer: string): unknown => {
      const item = evidence.find(({ anchor }) => anchor.startsWith(`${type}:`));
      const found = resolvePointer(item === undefined ? undefined : records[item.evidenceId], pointer);
      return found.found ? found.value : undefined;
    };
    const again = proofFrom('notify:send', read);
    assert.deepEqual(again, proofs['notify:send']);
    assert.deepEqual(absenceProof.parse(again), again);
    assert.equal(proofFrom('notify:shout', read), undefined);
  }
  assert.equal(
    proofFrom('notify:send', () => 0),
    undefined,
  );
});
