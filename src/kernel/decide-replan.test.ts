/** Another plan while a run is running. INV-08. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StepId } from '#contracts/ids.ts';
import type { Plan } from '#contracts/plan.ts';
import type { SkillContract } from '#contracts/skill.ts';
import { dispatchIdOf, planOf, type Setup, skillOf, snapshotOf, stepOf } from './trial-contracts.test.ts';
import { begin, confirmedOf, effectStep, on, propose, sendSkill } from './trial-effects.test.ts';
import { plannedTrial, TrialRun } from './trial-run.test.ts';

const READS: Partial<SkillContract> = { requires: [{ name: 'claim_id', kind: 'claim_id' }] };

/** A proposal of the plan's second version. */
function proposing(setup: Setup, over: Partial<Plan> = {}) {
  const plan = { ...planOf(setup), planId: 'plan_2', version: 2, ...over };
  const snapshot = snapshotOf(setup);
  return {
    plan,
    proposer: { kind: 'rules', name: 'test' },
    snapshot,
    reason: 'The knowledge team is slow.',
  } as const;
}

const PLANNED: Setup = { steps: [stepOf('s1'), stepOf('s2', ['s1']), stepOf('s3')], skills: [skillOf(READS)] };

test('another plan while running: what gave a result and is planned the same stands, what is under way is given up and stale', () => {
  const trial = plannedTrial(PLANNED);
  trial.dispatch('s1', 's3');
  trial.deliver('s1');
  trial.dispatch('s2');
  const changed: Setup = { ...PLANNED, steps: [stepOf('s1'), stepOf('s2', ['s1']), stepOf('s4?')] };
  const kinds = trial.decideAs('requester@t9', 'replan', proposing(changed));
  assert.deepEqual(kinds, ['budget.settled', 'budget.settled', 'plan.revised']);
  const { revisions, inFlight, budget } = trial.state;
  assert.deepEqual([revisions[0]?.kept, revisions[0]?.by, inFlight.size], [['s1'], 'requester@t9', 0]);
  assert.equal(budget?.toolCallCountReserved, 0);
  assert.deepEqual([...trial.state.ready], ['s2', 's4']);
  assert.deepEqual(trial.deliver('s2'), ['result.stale']);
  assert.deepEqual(trial.deliver('s3'), ['result.stale']);
  trial.ok('dispatch', trial.dispatchBody('s2', { planVersion: 2 }));
  assert.deepEqual(
    trial.ok('fail', { ...retryable('s2', 2), planVersion: 2 }),
    ['budget.settled', 'step.attempt_failed'],
    'an attempt of the version before is no try of this one',
  );
  trial.assertFold();
});

function retryable(stepId: StepId, attempt: number) {
  const error = { code: 'ERR_TEAM_FAILED', kind: 'unavailable', message: 'Gone.', at: 'a2a', retryable: true } as const;
  const usage = { toolCallCount: 0, modelTokenCount: 0, durationMs: 5 };
  return { stepId, attempt, dispatchId: dispatchIdOf(stepId, attempt), error, usage };
}

test('what rests on a step that is planned otherwise is done again with it', () => {
  const trial = plannedTrial(PLANNED);
  trial.dispatch('s1', 's3');
  trial.deliver('s1');
  trial.dispatch('s2');
  trial.deliver('s2');
  const longer = stepOf('s1', [], { budget: { modelTokenCountMax: 10, toolCallCountMax: 1, timeoutMs: 1_500 } });
  trial.ok('replan', proposing({ ...PLANNED, steps: [longer, stepOf('s2', ['s1']), stepOf('s3')] }));
  assert.deepEqual(trial.state.revisions[0]?.kept, []);
  assert.deepEqual([...trial.state.ready], ['s1', 's3']);
});

test('a run that stands still for people takes another plan, which lifts its block and withdraws what was proposed', () => {
  const setup: Setup = {
    steps: [stepOf('s1'), effectStep('e1')],
    skills: [skillOf(READS), sendSkill()],
    goal: { entities: { claim_id: 'C-102', e1: 'N-1' } },
  };
  const trial = plannedTrial(setup);
  trial.dispatch('s1');
  trial.deliver('s1');
  propose(trial, 'e1');
  trial.ok('awaitPeople', {});
  const only = proposing({ ...setup, steps: [stepOf('s1'), stepOf('s2')] });
  const kinds = trial.ok('replan', only);
  assert.deepEqual(kinds, ['approval.withdrawn', 'plan.revised', 'run.unblocked']);
  assert.deepEqual([...trial.state.ready], ['s2']);
  trial.assertFold();
});

test('a plan that is not lawful, changes nothing, plans an applied effect away, or comes without a reason is refused', () => {
  const trial = plannedTrial(PLANNED);
  trial.dispatch('s1');
  trial.deliver('s1');
  const bad = trial.refusal('replan', proposing(PLANNED, { version: 7 }));
  assert.equal(bad.code, 'ERR_PLAN_REFUSED');
  assert.ok(Array.isArray(bad.detail?.['findings']));
  assert.equal(trial.refusal('replan', { ...proposing(PLANNED), reason: ' ' }).code, 'ERR_USAGE');
  assert.match(trial.refusal('replan', proposing({ ...PLANNED, steps: [stepOf('s1')] })).message, /changes nothing/);
  const early = new TrialRun();
  early.receive({ kind: 'question', blocked: { code: 'GOAL_UNCLEAR', question: '?', wants: 'x', options: [] } });
  assert.match(early.refusal('replan', proposing(PLANNED)).message, /is blocked and takes no other plan/);
  const setup: Setup = {
    steps: [stepOf('s1'), effectStep('e1')],
    skills: [skillOf(READS), sendSkill()],
    goal: { entities: { claim_id: 'C-102', e1: 'N-1' } },
  };
  const applied = plannedTrial(setup);
  begin(applied, 'e1');
  assert.match(
    applied.refusal('replan', proposing({ ...setup, steps: [stepOf('s1')] })).message,
    /1 effects under way/,
  );
  applied.ok('confirmEffect', { ...on('e1'), confirmed: confirmedOf('e1') });
  const away = applied.refusal('replan', proposing({ ...setup, steps: [stepOf('s1')] }));
  assert.match(away.message, /Step e1 was applied already/);
});

test('a result without its skill accepting it leaves its dependents impossible in the next version too', () => {
  const steps = [stepOf('s1'), stepOf('s2?', ['s1']), stepOf('s3')];
  const trial = plannedTrial({ ...PLANNED, steps });
  trial.dispatch('s1');
  trial.deliver('s1', { status: 'no_data' });
  assert.equal(trial.step('s2').phase, 'skipped');
  trial.ok('replan', proposing({ ...PLANNED, steps: [...steps, stepOf('s4?')] }));
  assert.deepEqual([trial.step('s1').phase, trial.step('s2').phase], ['settled', 'skipped']);
  assert.deepEqual([...trial.state.ready], ['s3', 's4']);
});

test('of many results that changed nothing the state keeps the last, and counts all', () => {
  const trial = plannedTrial(PLANNED);
  trial.dispatch('s1');
  trial.deliver('s1');
  for (let count = 0; count < 70; count += 1) trial.deliver('s1');
  const { arrivals, arrivalCount } = trial.state;
  assert.deepEqual([arrivals.length, arrivalCount, arrivals[0]?.kind], [64, 70, 'duplicate']);
  trial.assertFold();
});
