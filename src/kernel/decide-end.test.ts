import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '#contracts/answer.ts';
import type { Claim } from '#contracts/claim.ts';
import { answerOf, goalOf, type Setup, stepOf } from './trial-contracts.test.ts';
import { plannedTrial, TrialRun } from './trial-run.test.ts';

const CLAIMS = [{ key: 'status', kind: 'fact' as const, sentence: { en: 'It is so.' }, slots: {} }];
const SETUP: Setup = { steps: [stepOf('s1'), stepOf('s2?')], goal: { claims: CLAIMS } };

function awaiting(): TrialRun {
  const trial = plannedTrial(SETUP);
  trial.dispatch('s1', 's2');
  trial.deliver('s1');
  trial.fail('s2', 'ERR_DENIED');
  return trial;
}

const UNBOUND: Claim = {
  claimId: 'clm_1',
  key: 'status',
  kind: 'fact',
  template: 'It is so.',
  slots: {},
  text: 'It is so.',
  evidenceIds: [],
  confidence: 1,
};

test('an answer that holds ends the run with the result of the join', () => {
  const trial = awaiting();
  const events = trial.ok('compose', { answer: answerOf({ result: 'degraded' }), records: {}, proofEvidence: [] });
  assert.deepEqual(events, ['answer.composed', 'run.ended']);
  assert.equal(trial.state.result, 'degraded');
  assert.match(trial.state.endedReason ?? '', /s2/);
  trial.assertFold();
});

test('an answer that needs a person says so at the end of the run', () => {
  const trial = awaiting();
  const answer = answerOf({ result: 'degraded', needsHuman: true });
  trial.ok('compose', { answer, records: {}, proofEvidence: [] });
  assert.equal(trial.state.needsHuman, true);
});

test('an answer with a claim that rests on nothing, or with another result, is refused with each reason', () => {
  const trial = awaiting();
  const answer = answerOf({ result: 'completed', claims: [UNBOUND] });
  const events = trial.ok('compose', { answer, records: {}, proofEvidence: [] });
  assert.deepEqual(events.slice(-2), ['answer.refused', 'run.ended']);
  assert.ok(events.length >= 3);
  assert.equal(trial.state.result, 'failed');
  assert.equal(trial.state.answer, undefined);
  assert.equal(trial.state.answerError?.code, 'ERR_CLAIM_NO_EVIDENCE');
  assert.equal(trial.state.errors.at(-1)?.code, 'ERR_STATE');
});

test('an answer in other words is taken if it holds; else it is refused, and the run answers in the words of the goal', () => {
  const answer = answerOf({ result: 'degraded' });
  const body = { answer, records: {}, proofEvidence: [] };
  const taken = awaiting();
  const events = taken.ok('compose', { ...body, phrased: { answer: { ...answer }, foreign: {} } });
  assert.deepEqual(events, ['answer.composed', 'run.ended']);
  const cases: readonly (readonly [phrased: Answer, code: string])[] = [
    [{ ...answer, claims: [{ ...UNBOUND, evidenceIds: ['ev_a'] }] }, 'ERR_CLAIM_FOREIGN_TASK'],
    [{ ...answer, claims: [{ ...UNBOUND, evidenceIds: ['ev_b'] }] }, 'ERR_CLAIM_UNKNOWN_EVIDENCE'],
    [{ ...answer, result: 'completed' }, 'ERR_STATE'],
    [{ ...answer, needsHuman: true }, 'ERR_STATE'],
    [{ ...answer, language: '\ud800' }, 'ERR_STATE'],
  ];
  for (const [phrased, code] of cases) {
    const trial = awaiting();
    const given = { ...body, phrased: { answer: phrased, foreign: { ev_a: 'other_task' } } } as const;
    const refused = trial.ok('compose', given);
    assert.equal(refused[0], 'answer.refused');
    assert.deepEqual(refused.slice(-2), ['answer.composed', 'run.ended']);
    assert.equal(trial.state.answerError?.code, code);
    assert.deepEqual([trial.state.result, trial.state.answer], ['degraded', answer]);
    trial.assertFold();
  }
});

test('no answer is taken before the join is decided, without declared sentences, or without a plan', () => {
  const body = { answer: answerOf(), records: {}, proofEvidence: [] };
  const early = plannedTrial(SETUP);
  assert.equal(early.refusal('compose', body).code, 'ERR_STATE');
  const silent = plannedTrial({ steps: [stepOf('s1')] });
  assert.equal(silent.refusal('compose', body).code, 'ERR_STATE');
  const unplanned = new TrialRun();
  unplanned.receive({ kind: 'goal', goal: goalOf({ claims: CLAIMS }) });
  assert.equal(unplanned.refusal('compose', body).code, 'ERR_STATE');
});

test('a cancellation with nothing in flight is settled at once, before or after planning', () => {
  const planned = plannedTrial(SETUP);
  assert.deepEqual(planned.ok('cancel', { reason: 'Not needed.' }), [
    'cancel.requested',
    'step.skipped',
    'step.skipped',
    'cancel.settled',
    'run.ended',
  ]);
  assert.equal(planned.state.result, 'cancelled');
  assert.equal(planned.state.cancelSettled, true);
  planned.assertFold();
  const unplanned = new TrialRun();
  unplanned.receive({ kind: 'goal', goal: goalOf() });
  assert.deepEqual(unplanned.ok('cancel', { reason: 'Not needed.' }), [
    'cancel.requested',
    'cancel.settled',
    'run.ended',
  ]);
});

test('a cancellation with attempts out waits for them; asking again changes nothing', () => {
  const trial = plannedTrial(SETUP);
  trial.dispatch('s1');
  assert.deepEqual(trial.ok('cancel', { reason: 'Not needed.' }), ['cancel.requested']);
  assert.equal(trial.state.phase, 'cancelling');
  assert.deepEqual(trial.ok('cancel', { reason: 'Really not.' }), []);
  const unresolved = [{ stepId: 's1', taskId: 'task-s1-1', reason: 'The team did not say that it stopped.' }];
  trial.ok('settleCancel', { unresolved });
  assert.equal(trial.state.result, 'cancelled');
  assert.equal(trial.step('s1').result?.status, 'cancelled');
  assert.equal(trial.step('s2').phase, 'skipped');
});

test('a run that has ended is not cancelled, and one that nobody cancelled settles none', () => {
  const trial = plannedTrial(SETUP);
  assert.equal(trial.refusal('settleCancel', { unresolved: [] }).code, 'ERR_STATE');
  trial.ok('cancel', { reason: 'Not needed.' });
  assert.equal(trial.refusal('cancel', { reason: 'Again.' }).code, 'ERR_STATE');
});

test('a cancelled run that was blocked is blocked no more', () => {
  const trial = new TrialRun();
  const blocked = { code: 'GOAL_UNCLEAR' as const, question: 'Which?', wants: 'claim_id', options: [] };
  trial.receive({ kind: 'question', blocked });
  trial.nowMs = 5_000;
  trial.ok('cancel', { reason: 'Never mind.' });
  assert.equal(trial.state.blocked, undefined);
  assert.equal(trial.state.pausedMs, 0);
  assert.equal(trial.state.result, 'cancelled');
});
