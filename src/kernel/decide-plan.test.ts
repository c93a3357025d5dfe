import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectedPlanVersion } from './decide-plan.ts';
import { type Body, goalOf, planOf, type Setup, skillOf, snapshotOf, stepOf } from './trial-contracts.test.ts';
import { TrialRun } from './trial-run.test.ts';

const SKILL = skillOf({
  requires: [{ name: 'claim_id', kind: 'claim_id' }],
  input: skillOf().artifact,
  produces: [{ kind: 'value', pointer: '/value' }],
});
const SETUP: Setup = { steps: [stepOf('s1')], skills: [SKILL, skillOf({ skillId: 'unused' })] };

function admitted(): TrialRun {
  const trial = new TrialRun();
  trial.receive({ kind: 'goal', goal: goalOf() });
  return trial;
}

function proposal(plan: unknown): Body<'propose'> {
  return { plan, proposer: { kind: 'scripted', name: 'test', modelTokenCount: 100 }, snapshot: snapshotOf(SETUP) };
}

test('a lawful plan is accepted with the contracts, cards and policy digests that it uses and no others', () => {
  const trial = admitted();
  const snapshot = snapshotOf(SETUP);
  const unused = snapshot.cards.map((card) => ({ ...card, team: 'other' }));
  assert.deepEqual(
    trial.ok('propose', {
      ...proposal(planOf(SETUP)),
      snapshot: {
        ...snapshot,
        cards: [...snapshot.cards, ...unused],
        teamPolicyDigests: { ...snapshot.teamPolicyDigests, other: snapshot.policy.digest },
      },
    }),
    ['plan.proposed', 'plan.accepted'],
  );
  const { accepted } = trial.state;
  assert.deepEqual([...(accepted?.skills.keys() ?? [])], ['claims/claim-status@1.0.0']);
  assert.deepEqual(
    accepted?.cards.map(({ team }) => team),
    ['claims'],
  );
  assert.deepEqual(Object.keys(accepted?.teamPolicyDigests ?? {}), ['claims']);
  assert.equal(trial.state.phase, 'planned');
  assert.equal(trial.state.budget?.modelTokenCountUsed, 100);
  trial.assertFold();
});

test('an unlawful plan is rejected with its findings and another round is asked for; its version is not used up', () => {
  const trial = admitted();
  const events = trial.ok('propose', proposal({ ...planOf(SETUP), steps: [], planId: 'plan_x' }));
  assert.deepEqual(events, ['plan.proposed', 'plan.rejected']);
  assert.ok(trial.state.lastFindings.length > 0);
  assert.deepEqual(trial.todos()[0], { kind: 'plan', round: 1 });
  assert.equal(expectedPlanVersion(trial.state), 1);
  trial.ok('propose', proposal(planOf(SETUP)));
  assert.equal(expectedPlanVersion(trial.state), 2);
});

test('the rejection after the last round ends the run as refused, whatever was proposed', () => {
  const trial = admitted();
  for (const plan of [17, { planId: 17 }]) trial.ok('propose', proposal(plan));
  const events = trial.ok('propose', proposal({}));
  assert.deepEqual(events, ['plan.proposed', 'plan.rejected', 'run.ended']);
  assert.equal(trial.state.result, 'refused');
  assert.match(trial.state.endedReason ?? '', /3 rounds.*PLAN_SCHEMA/);
});

test('a run that has a plan, or no goal yet, takes none', () => {
  const planned = admitted();
  planned.ok('propose', proposal(planOf(SETUP)));
  assert.equal(planned.refusal('propose', proposal(planOf(SETUP))).code, 'ERR_STATE');
  const unclear = new TrialRun();
  unclear.receive({
    kind: 'question',
    blocked: { code: 'GOAL_UNCLEAR', question: 'Which?', wants: 'claim_id', options: [] },
  });
  assert.equal(unclear.refusal('propose', proposal(planOf(SETUP))).code, 'ERR_STATE');
});
