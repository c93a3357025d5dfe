import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atMs, goalOf, stepOf } from './trial-contracts.test.ts';
import { plannedTrial, TrialRun } from './trial-run.test.ts';

const CLAIMS = [{ key: 'status', kind: 'fact' as const, sentence: { en: 'It is so.' }, slots: {} }];

test('a tick before anything is due changes nothing', () => {
  const trial = plannedTrial({ steps: [stepOf('s1')] });
  assert.deepEqual(trial.tick(1_000), []);
  trial.dispatch('s1');
  assert.deepEqual(trial.tick(1_500), []);
});

test('an attempt past its deadline fails for good, and counts as having used all that it held', () => {
  const trial = plannedTrial({ steps: [stepOf('s1'), stepOf('s2')] });
  trial.dispatch('s1');
  assert.deepEqual(trial.tick(2_000), ['budget.settled', 'step.attempt_failed', 'step.settled']);
  assert.equal(trial.step('s1').result?.errors[0]?.code, 'ERR_DEADLINE');
  assert.equal(trial.state.budget?.toolCallCountUsed, 1);
  assert.equal(trial.state.phase, 'running');
});

test("at the run's deadline every open step fails; with an answer to give, the facts are kept", () => {
  const trial = plannedTrial({
    steps: [stepOf('s1'), stepOf('s2?'), stepOf('s3?', ['s2']), stepOf('s4?')],
    goal: { claims: CLAIMS },
    budget: { concurrencyMax: 2 },
  });
  trial.dispatch('s1');
  trial.deliver('s1');
  trial.nowMs = 8_500;
  trial.dispatch('s2');
  trial.tick(9_000);
  assert.equal(trial.state.openStepCount, 0);
  assert.equal(trial.step('s2').result?.errors[0]?.code, 'ERR_DEADLINE');
  assert.equal(trial.step('s3').phase, 'skipped');
  assert.equal(trial.step('s4').result?.attempt, 1);
  assert.deepEqual(trial.todos(), [{ kind: 'compose' }]);
  assert.deepEqual(trial.tick(9_500), []);
});

test('a run that has no plan by its deadline has failed', () => {
  const trial = new TrialRun();
  trial.receive({ kind: 'goal', goal: goalOf() });
  assert.deepEqual(trial.tick(8_999), []);
  assert.deepEqual(trial.tick(9_000), ['run.ended']);
  assert.equal(trial.state.result, 'failed');
  assert.deepEqual(trial.tick(9_500), []);
});

test('a run without a goal has no deadline', () => {
  const trial = new TrialRun();
  const blocked = { code: 'GOAL_UNCLEAR' as const, question: 'Which?', wants: 'claim_id', options: [] };
  trial.receive({ kind: 'question', blocked });
  assert.deepEqual(trial.tick(1_000_000), []);
});

const blockedRun = (deadlineAt?: string): TrialRun => {
  const goal = deadlineAt === undefined ? {} : { deadlineAt };
  const trial = plannedTrial({ steps: [stepOf('s1'), stepOf('s2')], goal });
  trial.dispatch('s1');
  trial.deliver('s1');
  trial.deliver('s1', { value: 'other' });
  return trial;
};

test('running time stands still while the run is blocked; an absolute deadline does not', () => {
  assert.deepEqual(blockedRun().todos(), []);
  assert.deepEqual(blockedRun().tick(100_000), []);
  const bound = blockedRun(atMs(20_000));
  assert.deepEqual(bound.todos(), [{ kind: 'wake', at: atMs(20_000) }]);
  assert.deepEqual(bound.tick(20_000), ['step.settled', 'run.ended']);
  assert.equal(bound.state.result, 'failed');
  assert.equal(bound.state.needsHuman, true);
});

test('a run that is blocked with nothing open still ends at its absolute deadline', () => {
  const trial = plannedTrial({ steps: [stepOf('s1'), stepOf('s2')], goal: { deadlineAt: atMs(20_000) } });
  trial.dispatch('s1', 's2');
  trial.deliver('s1');
  trial.deliver('s1', { value: 'other' });
  trial.deliver('s2');
  assert.deepEqual(trial.todos(), [{ kind: 'wake', at: atMs(20_000) }]);
  assert.deepEqual(trial.tick(20_000), ['run.ended']);
});

test('an absolute deadline before the running time is up comes first', () => {
  const trial = plannedTrial({ steps: [stepOf('s1')], goal: { deadlineAt: atMs(1_000) } });
  assert.deepEqual(trial.todos().at(-1), { kind: 'wake', at: atMs(1_000) });
  trial.tick(1_000);
  assert.equal(trial.state.result, 'failed');
});

test('the time between a crash and its recovery is no running time; what was in flight is sent again', () => {
  const trial = plannedTrial({ steps: [stepOf('s1'), stepOf('s2')] });
  trial.dispatch('s1');
  trial.nowMs = 1_000;
  trial.ok('recover', { pausedMs: 700, checked: ['deadline', 'budget'], fence: 3 });
  trial.deliver('s1');
  assert.deepEqual(trial.todos().at(-1), { kind: 'wake', at: atMs(9_700) });
  trial.dispatch('s2');
  assert.deepEqual(
    trial.todos().filter(({ kind }) => kind === 'send'),
    [{ kind: 'send', stepId: 's2', attempt: 1, dispatchId: 'dsp_s2-1' }],
  );
});

test('an attempt that was out while the run stood still has so much longer to come back, and no longer', () => {
  const trial = plannedTrial({ steps: [stepOf('s1')] });
  trial.dispatch('s1');
  const deadlineMs = Date.parse(trial.step('s1').attempts[0]?.deadlineAt ?? '') - Date.parse(atMs(0));
  trial.nowMs = deadlineMs + 500;
  trial.ok('recover', { pausedMs: 700, checked: [], fence: 3 });
  assert.deepEqual(trial.tick(deadlineMs + 699), []);
  assert.ok(trial.tick(deadlineMs + 700).includes('step.attempt_failed'));
});

test('a crash while the run was blocked is not paused twice', () => {
  const trial = plannedTrial({ steps: [stepOf('s1'), stepOf('s2')] });
  trial.dispatch('s1');
  trial.deliver('s1');
  trial.deliver('s1', { value: 'other' });
  trial.nowMs = 1_000;
  trial.ok('recover', { pausedMs: 700, checked: [], fence: 3 });
  assert.equal(trial.state.pausedMs, 0);
  trial.ok('cancel', { reason: 'Not needed.' });
  assert.equal(trial.state.pausedMs, 1_000);
});

test('a run that has ended is not recovered', () => {
  const trial = plannedTrial({ steps: [stepOf('s1')] });
  trial.ok('cancel', { reason: 'Not needed.' });
  assert.equal(trial.refusal('recover', { pausedMs: 0, checked: [], fence: 1 }).code, 'ERR_STATE');
});

test('a cancellation that no task answers is settled when the time of the last attempt is over', () => {
  const trial = plannedTrial({ steps: [stepOf('s1'), stepOf('s2')] });
  trial.dispatch('s1');
  trial.start('s1');
  trial.nowMs = 500;
  trial.dispatch('s2');
  trial.ok('cancel', { reason: 'Not needed.' });
  assert.deepEqual(trial.tick(2_000), []);
  trial.tick(2_500);
  assert.equal(trial.state.result, 'cancelled');
  const settled = trial.log.find(({ kind }) => kind === 'cancel.settled');
  assert.deepEqual(
    settled?.kind === 'cancel.settled' && settled.body.unresolved.map(({ stepId, taskId }) => [stepId, taskId]),
    [
      ['s1', 'task-s1-1'],
      ['s2', undefined],
    ],
  );
});
