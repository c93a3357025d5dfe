import type { ErrorRecord } from '#contracts/error.ts';
import type { StepId } from '#contracts/ids.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveInputs } from './inputs.ts';
import { questionOf } from './step-question.ts';
import { failBody, stepOf } from './trial-contracts.test.ts';
import { approve, effectStep, effectTrial, propose } from './trial-effects.test.ts';
import { plannedTrial, type TrialRun } from './trial-run.test.ts';

const QUESTION = 'There is no claim C-102. Which claim is meant?';

function asking(trial: TrialRun, stepId: StepId, error: Partial<ErrorRecord> = {}, attempt = 1) {
  const body = failBody(stepId, 'ERR_STEP_BLOCKED', attempt);
  const asked = { ...body.error, message: QUESTION, detail: { wants: 'claim_id' }, ...error };
  return trial.ok('fail', { ...body, error: asked });
}

const kindsOf = (trial: TrialRun): readonly string[] => trial.todos().map(({ kind }) => kind);

test('a step that asks is not over: the run stands still, and the answer is its input in the next attempt', () => {
  const trial = plannedTrial({ steps: [stepOf('s1'), stepOf('s2', ['s1'])] });
  trial.dispatch('s1');
  assert.deepEqual(asking(trial, 's1'), ['budget.settled', 'step.attempt_failed']);
  assert.equal(trial.step('s1').phase, 'waiting');
  assert.deepEqual(trial.state.errors, [], 'a question is no error of the run');
  assert.deepEqual(trial.todos()[0], { kind: 'await' });
  assert.deepEqual(trial.ok('awaitPeople', {}), ['run.blocked']);
  assert.deepEqual(trial.state.blocked, {
    code: 'STEP_BLOCKED',
    question: `Step s1 (claims/claim-status) asks: ${QUESTION}`,
    wants: 'claim_id',
    options: [],
  });
  assert.equal(trial.state.needsHuman, true);
  assert.deepEqual(kindsOf(trial), [], 'its running time stands still');

  assert.equal(trial.refusal('answerStep', { input: { claim: 'C-103' } }).code, 'ERR_USAGE');
  assert.equal(trial.refusal('answerStep', { input: { claim_id: '' } }).code, 'ERR_USAGE');
  assert.equal(trial.refusal('answerStep', { input: { claim_id: 'x'.repeat(2_001) } }).code, 'ERR_USAGE');
  assert.deepEqual(trial.ok('answerStep', { input: { claim_id: 'C-103', more: 'x' } }), ['run.unblocked']);
  assert.equal(trial.state.needsHuman, false);
  const inputs = resolveInputs(trial.state, 's1');
  assert.deepEqual(inputs.ok && inputs.input, { claim_id: 'C-103' });
  const other = resolveInputs(trial.state, 's2');
  assert.deepEqual(other.ok && other.input, { claim_id: 'C-102' }, 'another step is told nothing');
  assert.deepEqual(trial.todos()[0], { kind: 'dispatch', stepId: 's1', attempt: 2 });
  trial.dispatch('s1');
  trial.deliver('s1', { attempt: 2 });
  trial.dispatch('s2');
  trial.deliver('s2');
  assert.equal(trial.state.result, 'completed');
  assert.equal(trial.refusal('answerStep', { input: { claim_id: 'C-103' } }).code, 'ERR_STATE');
  trial.assertFold();
});

test('what else can go on goes on first, and of two questions one is asked after the other', () => {
  const trial = plannedTrial({ steps: [stepOf('s1'), stepOf('s2'), stepOf('s3')] });
  trial.dispatch('s1', 's2', 's3');
  asking(trial, 's1');
  asking(trial, 's2');
  assert.equal(trial.refusal('awaitPeople', {}).code, 'ERR_STATE');
  trial.deliver('s3');
  trial.ok('awaitPeople', {});
  assert.match(trial.state.blocked?.question ?? '', /^Step s1 /);
  trial.ok('answerStep', { input: { claim_id: 'C-103' } });
  trial.dispatch('s1');
  trial.deliver('s1', { attempt: 2 });
  trial.ok('awaitPeople', {});
  assert.match(trial.state.blocked?.question ?? '', /^Step s2 /);
  trial.assertFold();
});

test('a step may ask again, as long as there is budget for its attempts', () => {
  const trial = plannedTrial({ steps: [stepOf('s1')], budget: { toolCallCountMax: 1 } });
  trial.dispatch('s1');
  asking(trial, 's1');
  trial.ok('awaitPeople', {});
  trial.ok('answerStep', { input: { claim_id: 'C-103' } });
  trial.dispatch('s1');
  asking(trial, 's1', {}, 2);
  trial.ok('awaitPeople', {});
  assert.equal(trial.state.blocked?.code, 'STEP_BLOCKED');
  trial.assertFold();
});

test('while a question is open, an approval can be decided, and it answers nothing', () => {
  const trial = effectTrial([effectStep('e1'), effectStep('e2'), stepOf('s1')]);
  propose(trial, 'e1');
  propose(trial, 'e2');
  trial.dispatch('s1');
  asking(trial, 's1');
  trial.ok('awaitPeople', {});
  assert.equal(trial.state.blocked?.code, 'STEP_BLOCKED');
  approve(trial, 'e1', { disposition: 'rejected', reason: 'Not this one.' });
  assert.equal(trial.state.questions.size, 1);
  assert.equal(trial.state.phase, 'running');
  trial.ok('awaitPeople', {});
  assert.equal(trial.state.blocked?.code, 'STEP_BLOCKED');
  trial.assertFold();
});

test('a cancelled run asks nothing any more', () => {
  const trial = plannedTrial({ steps: [stepOf('s1')] });
  trial.dispatch('s1');
  asking(trial, 's1');
  trial.ok('awaitPeople', {});
  trial.ok('cancel', { reason: 'No longer wanted.' });
  assert.equal(trial.state.result, 'cancelled');
  assert.equal(trial.step('s1').phase, 'skipped');
  assert.equal(trial.state.questions.size, 0);
  trial.assertFold();
});

const NO_QUESTION: Readonly<Record<string, Partial<ErrorRecord>>> = {
  'another error': { code: 'ERR_FINDINGS', kind: 'contract' },
  'a question for nothing': { detail: {} },
  'a question for an input that the step has not': { detail: { wants: 'constructor' } },
  'a question for an input that is no text': { detail: { wants: 'claims' } },
};

for (const [what, error] of Object.entries(NO_QUESTION))
  test(`${what} ends the step`, () => {
    const inputs = {
      claim_id: { from: 'goal', pointer: '/entities/claim_id' },
      claims: { from: 'goal', pointer: '/entities/claim_ids' },
    } as const;
    const trial = plannedTrial({ steps: [stepOf('s1', [], { inputs })] });
    trial.dispatch('s1');
    asking(trial, 's1', error);
    assert.equal(trial.step('s1').result?.status, 'failed');
    assert.equal(trial.state.result, 'failed');
    trial.assertFold();
  });

test("a team's own run asks nobody: the question is how its task ends", () => {
  const trial = plannedTrial({ steps: [stepOf('s1')] });
  const { error } = failBody('s1', 'ERR_STEP_BLOCKED');
  const asked = { ...error, message: QUESTION, detail: { wants: 'claim_id' } };
  assert.equal(questionOf(trial.state, trial.step('s1'), asked)?.wants, 'claim_id');
  assert.equal(questionOf({ ...trial.state, level: 'team' }, trial.step('s1'), asked), undefined);
});
