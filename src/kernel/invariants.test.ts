/** Each invariant is broken on purpose, by an event that no decider gives, and found by its name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Claim } from '#contracts/claim.ts';
import type { EventDraft } from '#contracts/event.ts';
import type { StepResult } from '#contracts/step-result.ts';
import { digestOf } from './digest.ts';
import { checkInvariants } from './invariants.ts';
import { answerOf, artifactOf, atMs, evidenceOf, goalOf, stepOf } from './trial-contracts.test.ts';
import { acceptedBody, plannedTrial, TrialRun } from './trial-run.test.ts';

const SETUP = { steps: [stepOf('s1'), stepOf('s2', ['s1'])] };

/** Which invariants the draft would break as the run's next event. */
function broken(trial: TrialRun, draft: EventDraft): readonly string[] {
  return checkInvariants(trial.state, trial.seal(draft)).map(({ invariant }) => invariant);
}

function settled(over: Partial<StepResult> = {}): Extract<EventDraft, { kind: 'step.settled' }> {
  const result: StepResult = {
    stepId: 's1',
    planVersion: 1,
    attempt: 1,
    status: 'completed',
    artifactRef: digestOf('artifact'),
    data: { value: 'pending' },
    evidence: [evidenceOf('s1', 'pending')],
    missing: [],
    errors: [],
    usage: { toolCallCount: 0, modelTokenCount: 0, durationMs: 0 },
    producer: 'tester',
    contractVersion: '1.0.0',
    resultHash: digestOf('result'),
    ...over,
  };
  return { kind: 'step.settled', body: { result, dispatchId: 'dsp_s1-1', toolCalls: [] } };
}

function withoutData({ kind, body }: ReturnType<typeof settled>): EventDraft {
  const { data: _data, ...result } = body.result;
  return { kind, body: { ...body, result } };
}

function dispatched(stepId: string, planVersion = 1): EventDraft {
  return {
    kind: 'step.dispatched',
    body: {
      stepId,
      attempt: 1,
      planVersion,
      dispatchId: `dsp_${stepId}-1`,
      leaseId: `lse_${stepId}-1`,
      audience: 'http://127.0.0.1:9000/claims',
      inputDigest: digestOf({}),
      deadlineAt: atMs(1_000),
    },
  };
}

function running(): TrialRun {
  const trial = plannedTrial(SETUP);
  trial.dispatch('s1');
  return trial;
}

test('a lawful next event breaks nothing', () => {
  assert.deepEqual(broken(running(), settled()), []);
  assert.deepEqual(broken(plannedTrial(SETUP), dispatched('s1')), []);
});

test('INV-01: a completed step without conforming data and evidence, and nothing found with data, are found', () => {
  const trial = running();
  assert.deepEqual(broken(trial, settled({ data: { value: 17 } })), ['INV-01']);
  assert.deepEqual(broken(trial, settled({ evidence: [] })), ['INV-01']);
  assert.deepEqual(broken(trial, withoutData(settled())), ['INV-01']);
  assert.deepEqual(broken(trial, settled({ status: 'no_data' })), ['INV-01']);
  assert.deepEqual(broken(trial, withoutData(settled({ status: 'no_data' }))), []);
  const byDigest = { dataDigest: digestOf('large') };
  assert.deepEqual(broken(trial, withoutData(settled(byDigest))), []);
  assert.deepEqual(broken(trial, withoutData(settled({ status: 'no_data', ...byDigest }))), ['INV-01']);
  assert.deepEqual(broken(trial, settled({ stepId: 's9' })), ['INV-01', 'INV-09']);
});

test('INV-02: a step dispatched before its dependencies, and one of no plan, are found', () => {
  assert.deepEqual(broken(plannedTrial(SETUP), dispatched('s2')), ['INV-02']);
  assert.deepEqual(broken(plannedTrial(SETUP), dispatched('s9')), ['INV-02']);
  assert.deepEqual(broken(plannedTrial({ steps: [stepOf('s2', ['ghost'])] }), dispatched('s2')), ['INV-02']);
  const met = running();
  met.deliver('s1');
  assert.deepEqual(broken(met, dispatched('s2')), []);
});

const CLAIM: Claim = {
  claimId: 'clm_1',
  key: 'status',
  kind: 'fact',
  template: 'It is so.',
  slots: {},
  text: 'It is so.',
  evidenceIds: ['ev_s1-pending'],
  confidence: 1,
};

test('INV-03: claims that are bound to nothing, guess without saying so, or say an unproved absence are found', () => {
  const evidence = [evidenceOf('s1', 'pending')];
  const composed = (claim: Partial<Claim>): EventDraft => ({
    kind: 'answer.composed',
    body: { answer: answerOf({ claims: [{ ...CLAIM, ...claim }], evidence }) },
  });
  assert.deepEqual(broken(running(), composed({})), []);
  assert.deepEqual(broken(running(), composed({ evidenceIds: ['ev_other'] })), ['INV-03']);
  assert.deepEqual(broken(running(), composed({ evidenceIds: [] })), ['INV-03']);
  assert.deepEqual(broken(running(), composed({ kind: 'inference' })), ['INV-03']);
  assert.deepEqual(broken(running(), composed({ kind: 'inference', uncertainty: 'Two days either way.' })), []);
  assert.deepEqual(broken(running(), composed({ kind: 'absence' })), ['INV-03']);
  const proof = {
    action: 'notify:send',
    prohibitedByGoal: true,
    leaseCountExamined: 3,
    leaseCountPermitting: 0,
    dispatchCountCalling: 0,
    effectRowCount: 0,
    holds: true,
  };
  assert.deepEqual(broken(running(), composed({ kind: 'absence', proof })), []);
  assert.deepEqual(broken(running(), composed({ kind: 'absence', proof: { ...proof, holds: false } })), ['INV-03']);
});

test('INV-05: a second end of a step is found', () => {
  const trial = running();
  trial.deliver('s1');
  assert.deepEqual(broken(trial, settled()), ['INV-05']);
  const skip: EventDraft = { kind: 'step.skipped', body: { stepId: 's1', planVersion: 1, because: [], reason: 'No.' } };
  assert.deepEqual(broken(trial, skip), ['INV-05']);
});

const reserved = (toolCallCount: number, modelTokenCount: number): EventDraft => ({
  kind: 'budget.reserved',
  body: { stepId: 's2', attempt: 1, toolCallCount, modelTokenCount },
});

const released = (stepId: string, toolCallCount: number, modelTokenCount: number): EventDraft => ({
  kind: 'budget.settled',
  body: {
    stepId,
    attempt: 1,
    reserved: { toolCallCount, modelTokenCount },
    used: { toolCallCount: 0, modelTokenCount: 0, durationMs: 0 },
  },
});

test('INV-06: a reservation beyond what is left, and a release of something else, are found', () => {
  const trial = running();
  assert.deepEqual(broken(trial, reserved(31, 990)), []);
  assert.deepEqual(broken(trial, reserved(32, 0)), ['INV-06']);
  assert.deepEqual(broken(trial, reserved(0, 991)), ['INV-06']);
  assert.deepEqual(broken(trial, released('s1', 1, 10)), []);
  assert.deepEqual(broken(trial, released('s1', 2, 10)), ['INV-06']);
  assert.deepEqual(broken(trial, released('s1', 1, 11)), ['INV-06']);
  assert.deepEqual(broken(trial, released('s9', 1, 10)), ['INV-06']);
  assert.deepEqual(broken(unclear(), reserved(1, 1)), ['INV-06']);
});

function unclear(): TrialRun {
  const trial = new TrialRun();
  const blocked = { code: 'GOAL_UNCLEAR' as const, question: 'Which?', wants: 'claim_id', options: [] };
  trial.receive({ kind: 'question', blocked });
  return trial;
}

test('INV-07: a dispatch after cancellation was requested is found', () => {
  const trial = plannedTrial({ steps: [stepOf('s1'), stepOf('s2')] });
  trial.dispatch('s1');
  trial.ok('cancel', { reason: 'Not needed.' });
  assert.deepEqual(broken(trial, dispatched('s2')), ['INV-07']);
});

test('INV-08: what would change a run by another plan version, or after its end, is found; records are not', () => {
  assert.deepEqual(broken(running(), settled({ planVersion: 2 })), ['INV-08']);
  assert.deepEqual(broken(plannedTrial(SETUP), dispatched('s1', 2)), ['INV-08']);
  assert.deepEqual(broken(unclear(), dispatched('s1')), ['INV-02', 'INV-08']);
  const ended = running();
  ended.fail('s1', 'ERR_DENIED');
  assert.equal(ended.state.phase, 'ended');
  assert.deepEqual(broken(ended, { kind: 'run.recovered', body: { pausedMs: 0, checked: [], fence: 1 } }), ['INV-08']);
  const arrival = { stepId: 's1', attempt: 1, planVersion: 2, dispatchId: 'dsp_s1-1', reason: 'Late.' } as const;
  for (const kind of ['result.stale', 'result.late', 'result.duplicate'] as const)
    assert.deepEqual(broken(ended, { kind, body: arrival }), []);
});

test('INV-08: a stale, late or repeated result leaves the state as it was but for its position', () => {
  const arrival = { stepId: 's1', attempt: 1, planVersion: 1, dispatchId: 'dsp_s1-1', reason: 'Late.' } as const;
  for (const kind of ['result.stale', 'result.late', 'result.duplicate'] as const) {
    const trial = running();
    const position = { seq: 0, hash: '', updatedAt: '', arrivals: [], arrivalCount: 0 };
    const before = structuredClone({ ...trial.state, ...position });
    trial.append({ kind, body: arrival });
    assert.deepEqual({ ...trial.state, ...position }, before);
    assert.deepEqual(
      trial.state.arrivals.map((own) => `result.${own.kind}`),
      [kind],
    );
  }
});

test('INV-09: a second writer of what is written once is found', () => {
  const trial = running();
  const origin = { level: 'central', requestedBy: 'r', sessionId: 'ses_1', requestDigest: digestOf(1) } as const;
  assert.deepEqual(broken(trial, { kind: 'run.received', body: { origin, statement: '', language: 'en' } }), [
    'INV-09',
  ]);
  const frozen: EventDraft = { kind: 'goal.frozen', body: { goal: goalOf(), goalDigest: digestOf(1) } };
  assert.deepEqual(broken(trial, frozen), ['INV-09']);
  assert.deepEqual(broken(unclear(), frozen), []);
  const plan: EventDraft = { kind: 'plan.accepted', body: acceptedBody(SETUP) };
  assert.deepEqual(broken(trial, plan), ['INV-09']);
  const answer: EventDraft = { kind: 'answer.composed', body: { answer: answerOf() } };
  assert.deepEqual(broken(trial, answer), []);
  trial.append(answer);
  assert.deepEqual(broken(trial, answer), ['INV-09']);
});

test("INV-09: a result by anyone but the executor of the step's current attempt is found", () => {
  const trial = running();
  const { body } = settled();
  assert.deepEqual(broken(trial, { kind: 'step.settled', body: { ...body, dispatchId: 'dsp_other' } }), ['INV-09']);
  assert.deepEqual(broken(trial, settled({ attempt: 2 })), ['INV-09']);
  assert.deepEqual(broken(plannedTrial(SETUP), settled()), ['INV-09']);
});

test('INV-11: an event that does not continue the chain is found', () => {
  const trial = running();
  const event = trial.seal(settled());
  const found = checkInvariants(trial.state, { ...event, prev: '' });
  assert.deepEqual(
    found.map(({ invariant, seq }) => [invariant, seq]),
    [['INV-11', event.seq]],
  );
  assert.match(found[0]?.message ?? '', /expected prev/);
});

test('the artifact of these tests is the one its step may deliver', () => {
  const trial = running();
  trial.deliver('s1');
  assert.deepEqual(trial.step('s1').result?.data, artifactOf('s1').data);
});
