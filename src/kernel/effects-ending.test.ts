import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atMs, stepOf } from './trial-contracts.test.ts';
import { begin, confirmedOf, effectStep, effectTrial, on, POLICY, propose } from './trial-effects.test.ts';
import type { TrialRun } from './trial-run.test.ts';

const absent = {
  ...on('e1'),
  finding: 'absent',
  source: 'owner',
  note: 'Nothing there.',
  confirmed: undefined,
} as const;
const effectState = (trial: TrialRun): string | undefined => trial.state.effects.get('eff_e1')?.state;

test('a cancellation waits for what is under way, and for nothing else', () => {
  const trial = effectTrial([effectStep('e1'), effectStep('e2')]);
  begin(trial, 'e1');
  propose(trial, 'e2');
  assert.deepEqual(trial.ok('cancel', { reason: 'Stop.' }), ['cancel.requested']);
  assert.deepEqual(
    trial.todos().map((todo) => (todo.kind === 'wake' ? todo.at : todo.kind)),
    ['applyEffect', atMs(2_000)],
  );
  assert.deepEqual(trial.ok('confirmEffect', { ...on('e1'), confirmed: confirmedOf('e1') }), [
    'effect.confirmed',
    'step.settled',
    'approval.withdrawn',
    'step.skipped',
    'cancel.settled',
    'run.ended',
  ]);
  assert.equal(trial.step('e1').result?.status, 'completed');
  trial.assertFold();
});

test('a cancellation ends with an effect’s absence, its doubt, or its time', () => {
  const gone = effectTrial();
  begin(gone, 'e1');
  gone.ok('cancel', { reason: 'Stop.' });
  assert.deepEqual(gone.ok('reconcileEffect', absent), [
    'effect.reconciled',
    'effect.failed',
    'step.settled',
    'cancel.settled',
    'run.ended',
  ]);
  const lost = effectTrial([effectStep('e1'), effectStep('e2')]);
  begin(lost, 'e1');
  begin(lost, 'e2');
  lost.ok('cancel', { reason: 'Stop.' });
  assert.deepEqual(lost.ok('loseEffect', { ...on('e1'), note: '' }), ['effect.unknown']);
  assert.deepEqual(lost.ok('loseEffect', { ...on('e2'), note: '' }).slice(-2), ['cancel.settled', 'run.ended']);
  assert.equal(lost.state.needsHuman, true);
  const late = effectTrial();
  begin(late, 'e1');
  late.ok('cancel', { reason: 'Stop.' });
  assert.deepEqual(late.tick(1_999), []);
  assert.deepEqual(late.tick(2_000), ['effect.unknown', 'step.settled', 'cancel.settled', 'run.ended']);
  late.assertFold();
});

test('two effects under way are both waited for by a cancellation', () => {
  const trial = effectTrial([effectStep('e1'), effectStep('e2')]);
  begin(trial, 'e1');
  begin(trial, 'e2');
  trial.ok('cancel', { reason: 'Stop.' });
  assert.deepEqual(trial.ok('confirmEffect', { ...on('e1'), confirmed: confirmedOf('e1') }), [
    'effect.confirmed',
    'step.settled',
  ]);
  assert.equal(trial.state.phase, 'cancelling');
});

test('an effect that was not started is closed as cancelled', () => {
  const trial = effectTrial([effectStep('e1'), stepOf('s1')]);
  begin(trial, 'e1');
  trial.ok('reconcileEffect', absent);
  trial.dispatch('s1');
  trial.ok('cancel', { reason: 'Stop.' });
  trial.ok('settleCancel', { unresolved: [] });
  assert.equal(trial.step('e1').result?.errors[0]?.code, 'ERR_CANCELLED');
  assert.equal(effectState(trial), 'not_started');
});

test('at the deadline what is under way is waited for; what is in doubt or waits for approval is not', () => {
  const trial = effectTrial([effectStep('e1'), effectStep('e2'), effectStep('e3'), stepOf('s1')]);
  begin(trial, 'e1');
  propose(trial, 'e2');
  begin(trial, 'e3');
  trial.ok('loseEffect', { ...on('e3'), note: '' });
  assert.deepEqual(trial.tick(9_000), ['approval.withdrawn', 'step.skipped', 'step.settled', 'step.settled']);
  assert.equal(trial.state.phase, 'running');
  trial.ok('confirmEffect', { ...on('e1'), confirmed: confirmedOf('e1') });
  assert.deepEqual([trial.state.phase, trial.state.result, trial.state.needsHuman], ['ended', 'failed', true]);
  const found = { ...on('e3'), finding: 'applied', source: 'owner', note: '', confirmed: confirmedOf('e3') } as const;
  assert.deepEqual(trial.ok('reconcileEffect', found), ['effect.reconciled', 'effect.confirmed']);
  trial.assertFold();
});

test('a run blocked by a conflict at its deadline waits for the effect under way first', () => {
  const trial = effectTrial([effectStep('e1'), stepOf('s1'), stepOf('s2')], { goal: { deadlineAt: atMs(9_000) } });
  begin(trial, 'e1');
  trial.dispatch('s1');
  trial.deliver('s1', { value: 'a' });
  trial.deliver('s1', { value: 'b' });
  assert.deepEqual(trial.tick(9_000), ['step.settled']);
  assert.equal(trial.state.phase, 'blocked');
  trial.ok('confirmEffect', { ...on('e1'), confirmed: confirmedOf('e1') });
  assert.deepEqual(trial.tick(9_001), ['run.ended']);
});

test('a join that is decided still waits for an effect that is not over', () => {
  const join = { completionRule: 'all_required_terminal' } as const;
  const trial = effectTrial([effectStep('e1?'), stepOf('s1')], { join: { ...join } });
  begin(trial, 'e1');
  trial.dispatch('s1');
  trial.deliver('s1');
  assert.equal(trial.state.phase, 'running');
  trial.ok('confirmEffect', { ...on('e1'), confirmed: confirmedOf('e1') });
  assert.equal(trial.state.result, 'completed');
});

test('after the end what became of an effect is only recorded', () => {
  const trial = effectTrial();
  begin(trial, 'e1');
  trial.ok('loseEffect', { ...on('e1'), note: '' });
  trial.ok('cancel', { reason: 'Stop.' });
  assert.equal(trial.state.phase, 'ended');
  assert.deepEqual(trial.ok('reconcileEffect', { ...absent, source: 'person' }), [
    'effect.reconciled',
    'effect.failed',
  ]);
  const applied = effectTrial();
  begin(applied, 'e1');
  applied.ok('loseEffect', { ...on('e1'), note: '' });
  applied.ok('cancel', { reason: 'Stop.' });
  const byPerson = { ...absent, finding: 'applied', source: 'person' } as const;
  assert.deepEqual(applied.ok('reconcileEffect', byPerson), ['effect.reconciled']);
  assert.deepEqual(applied.ok('compensateEffect', { ...on('e1'), note: 'Taken back.' }), ['effect.compensated']);
  assert.deepEqual(applied.ok('compensateEffect', { ...on('e1'), note: '' }), []);
  assert.equal(effectState(applied), 'compensated');
  applied.assertFold();
});

test('an effect whose step the deadline closed is over with the word of its owner that it is absent: not tried again, not failed twice', () => {
  const closed = (): ReturnType<typeof effectTrial> => {
    const trial = effectTrial([effectStep('e1'), effectStep('e2')]);
    begin(trial, 'e1');
    begin(trial, 'e2');
    trial.ok('loseEffect', { ...on('e1'), note: '' });
    assert.deepEqual(trial.tick(9_000), ['step.settled']);
    return trial;
  };
  const running = closed();
  assert.deepEqual(running.ok('reconcileEffect', absent), ['effect.reconciled', 'effect.failed']);
  assert.equal(running.state.phase, 'running');
  const cancelling = closed();
  assert.deepEqual(cancelling.ok('cancel', { reason: 'Stop.' }), ['cancel.requested']);
  assert.deepEqual(cancelling.ok('reconcileEffect', absent), ['effect.reconciled', 'effect.failed']);
  assert.equal(cancelling.state.phase, 'cancelling');
  cancelling.assertFold();
});

test('what the owner found absent before its step was closed is not tried again after', () => {
  const trial = effectTrial([effectStep('e1'), effectStep('e2')]);
  begin(trial, 'e1');
  begin(trial, 'e2');
  trial.ok('loseEffect', { ...on('e1'), note: '' });
  trial.ok('reconcileEffect', absent);
  trial.tick(9_000);
  const again = { ...on('e1', 2), leaseId: 'lse_again', liveVersion: 'v1', policyDigest: POLICY } as const;
  assert.equal(trial.refusal('retryEffect', again).code, 'ERR_STATE');
});
