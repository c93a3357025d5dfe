import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, atMs, goalOf, stepOf } from './trial-contracts.test.ts';
import { plannedTrial, TrialRun } from './trial-run.test.ts';

const CLAIMS = [{ key: 'status', kind: 'fact' as const, sentence: { en: 'It is so.' }, slots: {} }];

test('a run with a goal and no plan asks for one, and wakes at its deadline', () => {
  const trial = new TrialRun();
  trial.receive({ kind: 'goal', goal: goalOf() });
  assert.deepEqual(trial.todos(), [
    { kind: 'plan', round: 0 },
    { kind: 'wake', at: atMs(9_000) },
  ]);
});

test('a run that waits for an answer to its question asks for nothing and wakes never', () => {
  const trial = new TrialRun();
  trial.receive({
    kind: 'question',
    blocked: { code: 'GOAL_UNCLEAR', question: 'Which claim?', wants: 'claim_id', options: [] },
  });
  assert.deepEqual(trial.todos(), []);
});

test('ready steps are dispatched in plan order up to the concurrency bound', () => {
  const trial = plannedTrial({ steps: [stepOf('a'), stepOf('b'), stepOf('c')], budget: { concurrencyMax: 2 } });
  assert.deepEqual(trial.todos(), [
    { kind: 'dispatch', stepId: 'a', attempt: 1 },
    { kind: 'dispatch', stepId: 'b', attempt: 1 },
    { kind: 'wake', at: atMs(9_000) },
  ]);
  trial.dispatch('a');
  assert.deepEqual(trial.todos(), [
    { kind: 'dispatch', stepId: 'b', attempt: 1 },
    { kind: 'send', stepId: 'a', attempt: 1, dispatchId: 'dsp_a-1' },
    { kind: 'wake', at: atMs(2_000) },
  ]);
});

test('a step whose share others hold waits in line; one that can never be paid is offered, to be settled', () => {
  const costly = { budget: { modelTokenCountMax: 0, toolCallCountMax: 3, timeoutMs: 2_000 } };
  const trial = plannedTrial({
    steps: [stepOf('a', [], costly), stepOf('b', [], costly)],
    budget: { toolCallCountMax: 4 },
  });
  const dispatches = () => trial.todos().flatMap((todo) => (todo.kind === 'dispatch' ? [todo.stepId] : []));
  assert.deepEqual(dispatches(), ['a']);
  trial.dispatch('a');
  assert.deepEqual(dispatches(), []);
  assert.equal(trial.refusal('dispatch', trial.dispatchBody('b')).code, 'ERR_BUDGET');
  trial.deliver('a', { toolCallCount: 3 });
  assert.deepEqual(dispatches(), ['b']);
  trial.dispatch('b');
  assert.equal(trial.step('b').result?.errors[0]?.code, 'ERR_BUDGET');
});

test('a retry is offered when its time has come, and until then the run wakes for it', () => {
  const trial = plannedTrial({ steps: [stepOf('a')] });
  trial.dispatch('a');
  trial.fail('a', 'ERR_TEAM_UNREACHABLE');
  assert.deepEqual(trial.todos(), [{ kind: 'wake', at: atMs(10) }]);
  trial.nowMs = 10;
  assert.deepEqual(trial.todos(), [
    { kind: 'dispatch', stepId: 'a', attempt: 2 },
    { kind: 'wake', at: atMs(9_000) },
  ]);
});

test('once the join is decided and sentences are declared, the answer is asked for, again and again, and nothing wakes', () => {
  const trial = plannedTrial({ steps: [stepOf('a')], goal: { claims: CLAIMS } });
  trial.dispatch('a');
  trial.deliver('a');
  assert.deepEqual(trial.todos(), [{ kind: 'compose' }]);
  assert.deepEqual(trial.todos(), [{ kind: 'compose' }]);
  trial.ok('compose', { answer: answerOf(), records: {}, proofEvidence: [] });
  assert.deepEqual(trial.todos(), []);
});

test('a blocked run starts nothing; what is in flight goes on', () => {
  const trial = plannedTrial({ steps: [stepOf('a'), stepOf('b'), stepOf('c')], budget: { concurrencyMax: 2 } });
  trial.dispatch('a', 'b');
  trial.deliver('a');
  trial.deliver('a', { value: 'other' });
  assert.equal(trial.state.phase, 'blocked');
  assert.deepEqual(trial.todos(), [
    { kind: 'send', stepId: 'b', attempt: 1, dispatchId: 'dsp_b-1' },
    { kind: 'wake', at: atMs(2_000) },
  ]);
});

test('a cancelled run asks only that its tasks stop', () => {
  const trial = plannedTrial({ steps: [stepOf('a'), stepOf('b'), stepOf('c')], budget: { concurrencyMax: 2 } });
  trial.dispatch('a', 'b');
  trial.start('a');
  trial.ok('cancel', { reason: 'Not needed.' });
  assert.deepEqual(trial.todos(), [
    { kind: 'cancelTask', stepId: 'a', attempt: 1, dispatchId: 'dsp_a-1', taskId: 'task-a-1' },
    { kind: 'cancelTask', stepId: 'b', attempt: 1, dispatchId: 'dsp_b-1', taskId: undefined },
    { kind: 'wake', at: atMs(2_000) },
  ]);
});

test('a plan of 10,000 independent steps is not walked through to find the next one', () => {
  const steps = Array.from({ length: 10_000 }, (_, index) => stepOf(`s${index}`));
  const trial = plannedTrial({ steps, budget: { concurrencyMax: 2 } });
  let lookups = 0;
  const get = trial.state.steps.get.bind(trial.state.steps);
  trial.state.steps.get = (stepId) => {
    lookups += 1;
    return get(stepId);
  };
  trial.todos();
  assert.ok(lookups <= 4, `${lookups} steps were looked up for 2 slots`);
});
