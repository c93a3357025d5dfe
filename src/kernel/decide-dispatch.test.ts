import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atMs, goalOf, type Setup, skillOf, startBody, stepOf } from './trial-contracts.test.ts';
import { plannedTrial, TrialRun } from './trial-run.test.ts';

const ONE: Setup = { steps: [stepOf('s1')] };

test('a dispatch reserves the share of the step and carries the time that is left', () => {
  const trial = plannedTrial(ONE);
  assert.deepEqual(trial.ok('dispatch', trial.dispatchBody('s1')), ['budget.reserved', 'step.dispatched']);
  assert.equal(trial.state.phase, 'running');
  assert.equal(trial.state.budget?.toolCallCountReserved, 1);
  assert.equal(trial.step('s1').attempts[0]?.deadlineAt, atMs(2_000));
});

test('a step that may use nothing reserves nothing, and settles only what it used all the same', () => {
  const free = { ...stepOf('s1').budget, toolCallCountMax: 0, modelTokenCountMax: 0 };
  const trial = plannedTrial({ steps: [{ ...stepOf('s1'), budget: free }] });
  assert.deepEqual(trial.ok('dispatch', trial.dispatchBody('s1')), ['step.dispatched']);
  assert.ok(!trial.deliver('s1', { toolCallCount: 0 }).includes('budget.settled'));
  const greedy = plannedTrial({ steps: [{ ...stepOf('s1'), budget: free }] });
  greedy.ok('dispatch', greedy.dispatchBody('s1'));
  assert.ok(greedy.deliver('s1', { toolCallCount: 1 }).includes('budget.settled'));
  assert.equal(greedy.state.budget?.toolCallCountUsed, 0);
});

test('a dispatch never outlives the run, and keeps a shorter time of its own', () => {
  const trial = plannedTrial({ steps: [stepOf('s1'), stepOf('s2')] });
  trial.nowMs = 8_000;
  trial.ok('dispatch', trial.dispatchBody('s1'));
  assert.equal(trial.step('s1').attempts[0]?.deadlineAt, atMs(9_000));
  trial.ok('dispatch', trial.dispatchBody('s2', { deadlineAt: atMs(8_500) }));
  assert.equal(trial.step('s2').attempts[0]?.deadlineAt, atMs(8_500));
});

test('a step whose dependencies are not satisfied is never dispatched: INV-02', () => {
  const trial = plannedTrial({ steps: [stepOf('s1'), stepOf('s2', ['s1'])] });
  const error = trial.refusal('dispatch', trial.dispatchBody('s2'));
  assert.equal(error.code, 'ERR_INVARIANT');
  assert.equal(error.detail?.['invariant'], 'INV-02');
});

test('nothing is dispatched after cancellation was requested: INV-07', () => {
  const trial = plannedTrial({ steps: [stepOf('s1'), stepOf('s2')] });
  trial.dispatch('s1');
  trial.ok('cancel', { reason: 'Not needed.' });
  assert.equal(trial.refusal('dispatch', trial.dispatchBody('s2')).detail?.['invariant'], 'INV-07');
  trial.ok('settleCancel', { unresolved: [] });
  assert.equal(trial.refusal('dispatch', trial.dispatchBody('s2')).code, 'ERR_STATE');
});

test('what is not ready, of another version, another attempt or no step at all is refused', () => {
  const trial = plannedTrial(ONE);
  assert.equal(trial.refusal('dispatch', trial.dispatchBody('s9')).code, 'ERR_STATE');
  assert.equal(trial.refusal('dispatch', trial.dispatchBody('s1', { planVersion: 2 })).code, 'ERR_STATE');
  assert.equal(trial.refusal('dispatch', trial.dispatchBody('s1', { attempt: 2 })).code, 'ERR_STATE');
  trial.dispatch('s1');
  assert.equal(trial.refusal('dispatch', trial.dispatchBody('s1')).code, 'ERR_STATE');
});

test('a retry before its time is refused', () => {
  const trial = plannedTrial(ONE);
  trial.dispatch('s1');
  trial.fail('s1', 'ERR_TEAM_FAILED');
  assert.match(trial.refusal('dispatch', trial.dispatchBody('s1')).message, /before its time/);
  trial.nowMs = 10;
  trial.dispatch('s1');
});

test('more than may be in flight is refused, and so is a dispatch while the run is blocked or unplanned', () => {
  const trial = plannedTrial({ steps: [stepOf('s1'), stepOf('s2'), stepOf('s3')], budget: { concurrencyMax: 1 } });
  trial.dispatch('s1');
  assert.equal(trial.refusal('dispatch', trial.dispatchBody('s2')).code, 'ERR_BUDGET');
  trial.deliver('s1');
  trial.deliver('s1', { value: 'other' });
  assert.equal(trial.refusal('dispatch', trial.dispatchBody('s2')).code, 'ERR_STATE');
  const unplanned = new TrialRun();
  unplanned.receive({ kind: 'goal', goal: goalOf() });
  assert.equal(unplanned.refusal('dispatch', unplanned.dispatchBody('s1')).code, 'ERR_STATE');
});

test('a step whose time is too short is settled as failed, with what depends on it', () => {
  const trial = plannedTrial({ steps: [stepOf('s1'), stepOf('s2', ['s1'])] });
  trial.nowMs = 8_950;
  const events = trial.ok('dispatch', trial.dispatchBody('s1'));
  assert.deepEqual(events, ['step.settled', 'step.skipped', 'run.ended']);
  assert.equal(trial.step('s1').result?.errors[0]?.code, 'ERR_DEADLINE');
  assert.equal(trial.state.errors.length, 1);
});

test('a step that needs no time at all is not begun at the very deadline', () => {
  const trial = plannedTrial({ ...ONE, skills: [skillOf({ minimumRuntimeMs: 0 })] });
  trial.nowMs = 9_000;
  trial.ok('dispatch', trial.dispatchBody('s1'));
  assert.equal(trial.state.result, 'failed');
});

test('a step whose budget is used up is settled as failed', () => {
  const trial = plannedTrial({ steps: [stepOf('s1'), stepOf('s2?')], budget: { toolCallCountMax: 1 } });
  trial.dispatch('s1');
  trial.deliver('s1');
  trial.ok('dispatch', trial.dispatchBody('s2'));
  assert.equal(trial.step('s2').result?.errors[0]?.code, 'ERR_BUDGET');
  assert.equal(trial.state.result, 'degraded');
});

test('a step whose input is not there is settled as failed', () => {
  const inputs = { claim_id: { from: 'goal', pointer: '/entities/nothing' } } as const;
  const trial = plannedTrial({ steps: [stepOf('s1', [], { inputs })] });
  trial.ok('dispatch', trial.dispatchBody('s1'));
  assert.equal(trial.step('s1').result?.errors[0]?.code, 'ERR_INPUT_UNMAPPED');
});

test('the same task starts a dispatch any number of times; another task never', () => {
  const trial = plannedTrial(ONE);
  trial.dispatch('s1');
  assert.deepEqual(trial.start('s1'), ['step.started']);
  assert.equal(trial.step('s1').phase, 'waiting');
  assert.deepEqual(trial.start('s1'), []);
  assert.equal(trial.refusal('start', { ...startBody('s1'), taskId: 'task-other' }).code, 'ERR_STATE');
  trial.deliver('s1');
  assert.deepEqual(trial.start('s1'), []);
});

test('a task for a dispatch that the run does not have, or that is over, is refused', () => {
  const trial = plannedTrial(ONE);
  assert.equal(trial.refusal('start', startBody('s1')).code, 'ERR_STATE');
  trial.dispatch('s1');
  assert.equal(trial.refusal('start', { ...startBody('s1'), planVersion: 2 }).code, 'ERR_STATE');
  assert.equal(trial.refusal('start', { ...startBody('s1'), dispatchId: 'dsp_other' }).code, 'ERR_STATE');
  trial.fail('s1', 'ERR_TEAM_FAILED');
  assert.match(trial.refusal('start', startBody('s1')).message, /is over/);
  trial.nowMs = 10;
  trial.dispatch('s1');
  assert.match(trial.refusal('start', startBody('s1')).message, /is over/);
});
