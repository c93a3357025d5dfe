import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Intake } from '#contracts/command.ts';
import { atMs, goalOf, snapshotOf } from './trial-contracts.test.ts';
import { TrialRun } from './trial-run.test.ts';

const QUESTION: Extract<Intake, { readonly kind: 'question' }> = {
  kind: 'question',
  blocked: { code: 'GOAL_UNCLEAR', question: 'Which claim?', wants: 'claim_id', options: ['C-102', 'C-103'] },
};

function received(): TrialRun {
  const trial = new TrialRun();
  trial.receive(QUESTION);
  return trial;
}

test('a clear request opens a run with its frozen goal; running time begins then', () => {
  const trial = new TrialRun();
  assert.deepEqual(trial.receive({ kind: 'goal', goal: goalOf() }), ['run.received', 'goal.frozen']);
  assert.equal(trial.state.phase, 'received');
  assert.equal(trial.state.admittedAt, atMs(0));
});

test('an unclear request opens a run that is blocked on its question', () => {
  const trial = received();
  assert.deepEqual(trial.kinds(), ['run.received', 'run.blocked']);
  assert.equal(trial.state.blocked?.wants, 'claim_id');
});

test('the answer to the question freezes the goal, and the wait was no running time', () => {
  const trial = received();
  trial.nowMs = 5_000;
  const events = trial.ok('clarify', { input: { claim_id: 'C-102' }, intake: { kind: 'goal', goal: goalOf() } });
  assert.deepEqual(events, ['run.unblocked', 'goal.frozen']);
  assert.equal(trial.state.phase, 'received');
  assert.deepEqual(trial.todos(), [
    { kind: 'plan', round: 0 },
    { kind: 'wake', at: atMs(14_000) },
  ]);
});

test('an answer that leaves a question blocks the run on that one', () => {
  const trial = received();
  const blocked = { ...QUESTION.blocked, question: 'Of which year?', wants: 'year', options: [] };
  trial.ok('clarify', { input: { claim_id: 'C-102' }, intake: { kind: 'question', blocked } });
  assert.equal(trial.state.blocked?.wants, 'year');
  trial.ok('clarify', { input: { year: '2026' }, intake: { kind: 'goal', goal: goalOf() } });
  assert.equal(trial.state.phase, 'received');
});

test('an answer under another name than the one asked for is refused', () => {
  const error = received().refusal('clarify', { input: { claim: 'C-102' }, intake: { kind: 'goal', goal: goalOf() } });
  assert.equal(error.code, 'ERR_USAGE');
});

test('a goal that must wait is queued; its running time begins when its turn comes', () => {
  const trial = new TrialRun();
  const opened = trial.receive({ kind: 'goal', goal: goalOf() }, { aheadCount: 3 });
  assert.deepEqual(opened, ['run.received', 'goal.frozen', 'run.queued']);
  assert.deepEqual([trial.state.phase, trial.state.admittedAt], ['received', undefined]);
  assert.deepEqual(trial.todos(), [{ kind: 'admit' }]);
  assert.deepEqual(trial.tick(60_000), []);
  const proposer = { kind: 'rules', name: 'rules' } as const;
  const early = trial.refusal('propose', { plan: {}, proposer, snapshot: snapshotOf({ steps: [] }) });
  assert.equal(early.code, 'ERR_STATE');
  trial.ok('recover', { pausedMs: 5_000, checked: [], fence: 2 });
  assert.deepEqual(trial.ok('admit', {}), ['run.admitted']);
  assert.deepEqual(trial.state.admittedAt, atMs(60_000));
  assert.deepEqual(trial.todos(), [
    { kind: 'plan', round: 0 },
    { kind: 'wake', at: atMs(69_000) },
  ]);
  assert.equal(trial.refusal('admit', {}).code, 'ERR_STATE');
  trial.assertFold();
});

test('a queued run keeps its absolute deadline and can be cancelled', () => {
  const trial = new TrialRun();
  trial.receive({ kind: 'goal', goal: goalOf({ deadlineAt: atMs(1_000) }) }, { aheadCount: 0 });
  assert.deepEqual(trial.todos(), [{ kind: 'admit' }, { kind: 'wake', at: atMs(1_000) }]);
  assert.deepEqual(trial.tick(1_000), ['run.ended']);
  assert.equal(trial.refusal('admit', {}).code, 'ERR_STATE');
  const cancelled = new TrialRun();
  cancelled.receive({ kind: 'goal', goal: goalOf() }, { aheadCount: 0 });
  cancelled.ok('cancel', { reason: 'enough' });
  assert.equal(cancelled.state.result, 'cancelled');
});

test('an answered run may have to wait for its turn', () => {
  const trial = received();
  const intake = { kind: 'goal', goal: goalOf() } as const;
  const events = trial.ok('clarify', { input: { claim_id: 'C-102' }, intake, queue: { aheadCount: 1 } });
  assert.deepEqual(events, ['run.unblocked', 'goal.frozen', 'run.queued']);
  assert.deepEqual(trial.todos(), [{ kind: 'admit' }]);
});

test('a run that asks nothing takes no answer', () => {
  const trial = new TrialRun();
  trial.receive({ kind: 'goal', goal: goalOf() });
  const error = trial.refusal('clarify', { input: { claim_id: 'C-102' }, intake: { kind: 'goal', goal: goalOf() } });
  assert.equal(error.code, 'ERR_STATE');
});

test("another tenant's goal is refused, at once and as an answer", () => {
  const intake = { kind: 'goal', goal: goalOf({ tenant: 't8' }) } as const;
  const origin = {
    level: 'central',
    requestedBy: 'requester@t8',
    sessionId: 'ses_1',
    requestDigest: `sha256:${'0'.repeat(64)}`,
  } as const;
  const opened = new TrialRun().refusal('receive', { origin, statement: 'Why?', language: 'en', intake });
  assert.equal(opened.code, 'ERR_GOAL_CONTRACT');
  assert.equal(received().refusal('clarify', { input: { claim_id: 'C-1' }, intake }).code, 'ERR_GOAL_CONTRACT');
});

test('a run is received once, and nothing is asked of a run that does not exist', () => {
  const origin = {
    level: 'central',
    requestedBy: 'requester@t9',
    sessionId: 'ses_1',
    requestDigest: `sha256:${'0'.repeat(64)}`,
  } as const;
  const again = received().refusal('receive', { origin, statement: 'Why?', language: 'en', intake: QUESTION });
  assert.equal(again.code, 'ERR_STATE');
  assert.equal(new TrialRun().refusal('tick', {}).code, 'ERR_NOT_FOUND');
});
