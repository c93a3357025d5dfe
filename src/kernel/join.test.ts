import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Join } from '#contracts/join.ts';
import { joinOutcome } from './join.ts';
import { skillOf, stepOf, type Made, type Setup } from './trial-contracts.test.ts';
import { plannedTrial, TrialRun } from './trial-run.test.ts';

/** Steps without dependencies, delivered in order with these statuses; a name that ends in `?` is optional. */
function joined(outcomes: Readonly<Record<string, Made['status']>>, join: Partial<Join> = {}): TrialRun {
  const trial = plannedTrial({ steps: Object.keys(outcomes).map((name) => stepOf(name)), join });
  for (const [name, status] of Object.entries(outcomes)) {
    const stepId = name.replace('?', '');
    trial.dispatch(stepId);
    trial.deliver(stepId, status === undefined ? {} : { status });
  }
  return trial;
}

function resultOf(outcomes: Readonly<Record<string, Made['status']>>, join: Partial<Join> = {}): unknown {
  return joined(outcomes, join).state.result;
}

test('the worst required status decides, by failed, cancelled, partial, no_data, completed', () => {
  const all = { a: 'completed', b: 'no_data', c: 'partial', d: 'cancelled', e: 'failed' } as const;
  assert.equal(resultOf(all), 'failed');
  const { e: _e, ...withoutFailed } = all;
  assert.equal(resultOf(withoutFailed), 'cancelled');
  const { d: _d, ...withoutCancelled } = withoutFailed;
  assert.equal(resultOf(withoutCancelled), 'partial');
  const { c: _c, ...withoutPartial } = withoutCancelled;
  assert.equal(resultOf(withoutPartial), 'no_data');
  assert.equal(resultOf({ a: 'completed' }), 'completed');
  assert.equal(resultOf({ a: 'completed', b: 'blocked' }), 'failed');
});

test('a missing optional step degrades a completed or empty run, and never improves a worse one', () => {
  for (const status of ['failed', 'cancelled', 'blocked'] as const) {
    assert.equal(resultOf({ a: 'completed', 'b?': status }), 'degraded');
    assert.equal(resultOf({ a: 'no_data', 'b?': status }), 'degraded');
    assert.equal(resultOf({ a: 'partial', 'b?': status }), 'partial');
  }
  assert.equal(resultOf({ a: 'completed', 'b?': 'no_data' }), 'completed');
});

test('a fallback that was used degrades the run', () => {
  const trial = joined({ a: 'degraded', b: 'completed' });
  assert.equal(trial.state.result, 'degraded');
  assert.match(trial.state.endedReason ?? '', /a fallback was used/);
});

test('the join says what an optional failure means', () => {
  assert.equal(resultOf({ a: 'completed', 'b?': 'failed' }, { onOptionalFailure: 'failed' }), 'failed');
  assert.equal(resultOf({ a: 'completed', 'b?': 'failed' }, { onOptionalFailure: 'ignored' }), 'completed');
});

test('the join says what a required failure and a required no_data mean', () => {
  assert.equal(resultOf({ a: 'completed', b: 'failed' }, { onRequiredFailure: 'partial' }), 'partial');
  assert.equal(resultOf({ a: 'no_data' }, { onRequiredNoData: 'failed' }), 'failed');
});

test('a required step skipped after one that found nothing makes the run no_data, not failed', () => {
  const setup: Setup = { steps: [stepOf('s1'), stepOf('s2', ['s1']), stepOf('s3', ['s2'])] };
  const trial = plannedTrial(setup);
  trial.dispatch('s1');
  trial.deliver('s1', { status: 'no_data' });
  assert.equal(trial.step('s3').phase, 'skipped');
  assert.equal(trial.state.result, 'no_data');
});

test('an optional step skipped for what found nothing is not missed where the whole run found nothing', () => {
  const setup: Setup = { steps: [stepOf('s1'), stepOf('s2?', ['s1']), stepOf('s3?', ['s2'])] };
  const nothing = plannedTrial(setup);
  nothing.dispatch('s1');
  nothing.deliver('s1', { status: 'no_data' });
  assert.equal(nothing.state.result, 'no_data');
  const something = plannedTrial({ steps: [stepOf('s1'), stepOf('s2?', ['s1']), stepOf('s3?', ['s2'])] });
  something.dispatch('s1');
  something.deliver('s1');
  something.dispatch('s2');
  something.deliver('s2', { status: 'no_data' });
  assert.equal(something.state.result, 'degraded');
});

test('where the whole run found nothing, an optional step skipped for a failure is missed all the same', () => {
  const trial = plannedTrial({ steps: [stepOf('s1'), stepOf('s2?'), stepOf('s3?', ['s2'])] });
  trial.dispatch('s1', 's2');
  trial.deliver('s1', { status: 'no_data' });
  trial.deliver('s2', { status: 'failed' });
  assert.equal(trial.state.result, 'degraded');
  assert.match(trial.state.endedReason ?? '', /missing: s2, s3/);
});

test('a skipped required step weighs as much as the worst step that made it impossible, in either order', () => {
  const setup: Setup = { steps: [stepOf('a'), stepOf('b?'), stepOf('c', ['a', 'b'])] };
  const results = [
    ['a', 'b'],
    ['b', 'a'],
  ].map((order) => {
    const trial = plannedTrial(setup);
    trial.dispatch('a', 'b');
    for (const stepId of order) trial.deliver(stepId, { status: stepId === 'a' ? 'no_data' : 'failed' });
    return trial.state.result;
  });
  assert.deepEqual(results, ['failed', 'failed']);
});

test('a step skipped after a degraded one that it does not accept has failed; one that accepts it runs', () => {
  const strict = plannedTrial({ steps: [stepOf('s1'), stepOf('s2', ['s1'])] });
  strict.dispatch('s1');
  strict.deliver('s1', { status: 'degraded' });
  assert.equal(strict.state.result, 'failed');
  const lenient = plannedTrial({
    steps: [stepOf('s1'), stepOf('s2', ['s1'])],
    skills: [skillOf({ acceptedResults: ['degraded'] })],
  });
  lenient.dispatch('s1');
  lenient.deliver('s1', { status: 'degraded' });
  assert.deepEqual([...lenient.state.ready], ['s2']);
});

test('the cause of a skip is looked for only along dependencies that were not met', () => {
  const trial = plannedTrial({
    steps: [stepOf('a'), stepOf('b?'), stepOf('c', ['~b', 'a']), stepOf('d?', ['~a'])],
  });
  trial.dispatch('a', 'b');
  trial.deliver('b', { status: 'failed' });
  trial.deliver('a', { status: 'no_data' });
  trial.dispatch('d');
  trial.deliver('d');
  // c is skipped for a's no_data; b's failure did not stop it.
  assert.equal(trial.state.result, 'degraded');
  assert.match(trial.state.endedReason ?? '', /gave no_data, and optional steps are missing: b/);
});

test('a required step that was skipped for no recorded reason counts as failed', () => {
  const trial = plannedTrial({ steps: [stepOf('s1')] });
  trial.append({ kind: 'step.skipped', body: { stepId: 's1', planVersion: 1, because: [], reason: 'Unknown.' } });
  assert.equal(joinOutcome(trial.state).result, 'failed');
});

test('when all required steps are over, open optional ones are closed and their late results are recorded only', () => {
  const trial = plannedTrial({
    steps: [stepOf('a'), stepOf('b?'), stepOf('c?', ['b'])],
    join: { completionRule: 'all_required_terminal' },
  });
  trial.dispatch('a', 'b');
  trial.deliver('a');
  assert.equal(trial.state.result, 'degraded');
  assert.equal(trial.step('b').result?.status, 'cancelled');
  assert.equal(trial.step('c').phase, 'skipped');
  assert.deepEqual(trial.deliver('b'), ['result.late']);
});

test('a quorum ends the run when it is reached', () => {
  const quorum: Partial<Join> = { completionRule: 'quorum', successRule: 'quorum_completed', quorumCount: 2 };
  const trial = plannedTrial({ steps: [stepOf('a'), stepOf('b'), stepOf('c')], join: quorum });
  trial.dispatch('a', 'b', 'c');
  trial.deliver('a');
  assert.equal(joinOutcome(trial.state).done, false);
  trial.deliver('b');
  assert.equal(trial.state.result, 'completed');
  assert.equal(resultOf({ a: 'completed', b: 'failed', c: 'failed' }, quorum), 'failed');
});

test('a quorum without a count needs every required step', () => {
  const quorum: Partial<Join> = { completionRule: 'quorum', successRule: 'quorum_completed' };
  assert.equal(resultOf({ a: 'completed', b: 'degraded' }, quorum), 'degraded');
  assert.equal(resultOf({ a: 'completed', b: 'no_data' }, quorum), 'no_data');
});

test('a quorum to complete does not end a run whose success needs every required step', () => {
  const trial = plannedTrial({
    steps: [stepOf('a'), stepOf('b')],
    join: { completionRule: 'quorum', successRule: 'all_required_completed', quorumCount: 1 },
  });
  trial.dispatch('a', 'b');
  trial.deliver('a');
  assert.equal(trial.state.phase, 'running');
});

test('a join that requires nothing waits for the rest', () => {
  const trial = plannedTrial({ steps: [stepOf('a?')], join: { completionRule: 'all_required_terminal' } });
  trial.dispatch('a');
  trial.deliver('a');
  assert.equal(trial.state.result, 'completed');
});

test('before it is done, the outcome says what it would be; without a plan it is failed', () => {
  const trial = plannedTrial({ steps: [stepOf('a'), stepOf('b')] });
  trial.dispatch('a');
  trial.deliver('a', { status: 'no_data' });
  assert.deepEqual(joinOutcome(trial.state), {
    done: false,
    result: 'no_data',
    reason: 'The required result is no_data, by step a.',
  });
  const unplanned = new TrialRun();
  unplanned.receive({
    kind: 'question',
    blocked: { code: 'GOAL_UNCLEAR', question: 'Which claim?', wants: 'claim_id', options: [] },
  });
  assert.equal(joinOutcome(unplanned.state).done, false);
});

test('an optional output that no step of the plan gives degrades the run, and is named', () => {
  const { state } = joined({ a: 'completed' });
  assert.ok(state.goal);
  const asked = [...state.goal.requestedOutputs, { kind: 'notification_draft', required: false }];
  const outcome = joinOutcome({ ...state, goal: { ...state.goal, requestedOutputs: asked } });
  assert.equal(outcome.result, 'degraded');
  assert.match(outcome.reason, /notification_draft/);
  assert.equal(joinOutcome({ ...state, goal: undefined }).result, 'completed');
});
