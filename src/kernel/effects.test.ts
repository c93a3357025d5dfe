import type { EffectRow } from '#contracts/effect-row.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionContentDigest, actionDigest } from './action-digest.ts';
import { digestOf } from './digest.ts';
import { foldEffectRow } from './effect-ledger.ts';
import { atMs, stepOf } from './trial-contracts.test.ts';
import {
  actionOf,
  approve,
  begin,
  confirmedOf,
  effectStep,
  effectTrial,
  HOUR_MS,
  intendBody,
  on,
  POLICY,
  propose,
  proposalOf,
} from './trial-effects.test.ts';
import type { TrialRun } from './trial-run.test.ts';

const retryBody = (attempt = 2) =>
  ({ ...on('e1', attempt), leaseId: 'lse_again', liveVersion: 'v1', policyDigest: POLICY }) as const;
const absent = {
  ...on('e1'),
  finding: 'absent',
  source: 'owner',
  note: 'Nothing there.',
  confirmed: undefined,
} as const;
const refusedError = {
  code: 'ERR_EFFECT_REFUSED',
  kind: 'denied',
  message: 'No.',
  at: 'outbox',
  retryable: false,
} as const;

const effectState = (trial: TrialRun): string | undefined => trial.state.effects.get('eff_e1')?.state;

test('an approved effect is intended under its spent approval, sent, read back, and settles its step', () => {
  const trial = effectTrial();
  propose(trial, 'e1');
  approve(trial, 'e1');
  assert.deepEqual(trial.ok('intendEffect', intendBody(trial, 'e1')), ['approval.spent', 'effect.intended']);
  assert.deepEqual(trial.todos()[0], { kind: 'applyEffect', stepId: 'e1', approvalId: 'apv_e1', attempt: 1 });
  assert.deepEqual(trial.ok('noteSent', { ...on('e1'), outcome: 'applied', note: 'ok' }), ['effect.sent']);
  assert.deepEqual(trial.ok('noteSent', { ...on('e1'), outcome: 'unknown', note: '' }), []);
  assert.deepEqual(trial.ok('confirmEffect', { ...on('e1'), confirmed: confirmedOf('e1') }), [
    'effect.confirmed',
    'step.settled',
    'run.ended',
  ]);
  assert.equal(trial.state.result, 'completed');
  assert.deepEqual(trial.step('e1').result?.data, { value: 'msg-e1' });
  assert.equal(trial.state.evidence.size, 1);
  assert.deepEqual(trial.ok('confirmEffect', { ...on('e1'), confirmed: confirmedOf('e1') }), []);
  trial.assertFold();
});

test('an approval is spent once, on exactly what it is for, in time', () => {
  const trial = effectTrial([effectStep('e1'), effectStep('e2')]);
  const invariant = (over: Parameters<typeof intendBody>[2]): unknown =>
    trial.refusal('intendEffect', intendBody(trial, 'e1', over)).detail?.['invariant'];
  const code = (over: Parameters<typeof intendBody>[2] = {}): string =>
    trial.refusal('intendEffect', intendBody(trial, 'e1', over)).code;
  assert.equal(invariant({}), 'INV-04');
  propose(trial, 'e1');
  assert.equal(code(), 'ERR_APPROVAL_STATE');
  approve(trial, 'e1');
  assert.equal(code({ actionDigest: digestOf('other') }), 'ERR_APPROVAL_DIGEST');
  assert.equal(code({ liveVersion: 'v2' }), 'ERR_APPROVAL_STALE');
  assert.equal(code({ policyDigest: digestOf('other') }), 'ERR_APPROVAL_STALE');
  trial.nowMs = HOUR_MS;
  assert.equal(code(), 'ERR_APPROVAL_EXPIRED');
  trial.nowMs = 0;
  trial.ok('intendEffect', intendBody(trial, 'e1'));
  assert.equal(invariant({ effectId: 'eff_2' }), 'INV-13');
  propose(trial, 'e2', { action: { idempotencyKey: 'send:e1' } });
  approve(trial, 'e2');
  assert.equal(trial.refusal('intendEffect', intendBody(trial, 'e2')).detail?.['invariant'], 'INV-12');
  trial.assertFold();
});

test('nothing is begun in a run that is cancelled or blocked for another reason', () => {
  const cancelling = effectTrial([effectStep('e1'), stepOf('s1')]);
  propose(cancelling, 'e1');
  approve(cancelling, 'e1');
  cancelling.dispatch('s1');
  cancelling.ok('cancel', { reason: 'Stop.' });
  assert.equal(cancelling.refusal('intendEffect', intendBody(cancelling, 'e1')).code, 'ERR_CANCELLED');
  const blocked = effectTrial([effectStep('e1'), stepOf('s1')]);
  propose(blocked, 'e1');
  approve(blocked, 'e1');
  blocked.dispatch('s1');
  blocked.deliver('s1', { value: 'a' });
  blocked.deliver('s1', { value: 'b' });
  assert.equal(blocked.state.blocked?.code, 'RESULT_CONFLICT');
  assert.equal(blocked.refusal('intendEffect', intendBody(blocked, 'e1')).code, 'ERR_STATE');
  assert.ok(blocked.todos().every(({ kind }) => kind !== 'applyEffect'));
});

test('an effect that is not as it was approved is partial, and people are needed', () => {
  const trial = effectTrial();
  begin(trial, 'e1');
  const findings = [{ pointer: '/channel', expected: 'mail', got: 'pigeon' }];
  trial.ok('confirmEffect', { ...on('e1'), confirmed: confirmedOf('e1', { findings }) });
  assert.deepEqual(
    [effectState(trial), trial.state.result, trial.state.needsHuman],
    ['partially_completed', 'partial', true],
  );
  assert.deepEqual(trial.step('e1').result?.missing, ['/channel: expected mail, got pigeon']);
});

test('an effect whose result does not fit its skill is partial without data', () => {
  const trial = effectTrial();
  begin(trial, 'e1');
  trial.ok('confirmEffect', { ...on('e1'), confirmed: confirmedOf('e1', { data: { other: 1 } }) });
  assert.equal(trial.step('e1').result?.status, 'partial');
  assert.equal(trial.step('e1').result?.data, undefined);
});

test('a receipt of another effect confirms nothing', () => {
  const trial = effectTrial();
  begin(trial, 'e1');
  const { receipt } = confirmedOf('e1');
  const confirmed = confirmedOf('e1', { receipt: { ...receipt, actionDigest: digestOf('other') } });
  assert.match(trial.refusal('confirmEffect', { ...on('e1'), confirmed }).message, /names action/);
  trial.ok('loseEffect', { ...on('e1'), note: 'Lost.' });
  assert.equal(trial.refusal('confirmEffect', { ...on('e1'), confirmed: confirmedOf('e1') }).code, 'ERR_STATE');
  const found = { ...absent, finding: 'applied', confirmed } as const;
  assert.match(trial.refusal('reconcileEffect', found).message, /names action/);
});

test('commands about an effect that the run has not are refused', () => {
  const trial = effectTrial();
  assert.equal(trial.refusal('noteSent', { ...on('e1'), outcome: 'applied', note: '' }).code, 'ERR_NOT_FOUND');
  assert.equal(trial.refusal('confirmEffect', { ...on('e1'), confirmed: confirmedOf('e1') }).code, 'ERR_NOT_FOUND');
  assert.equal(trial.refusal('failEffect', { ...on('e1'), error: refusedError }).code, 'ERR_NOT_FOUND');
  assert.equal(trial.refusal('loseEffect', { ...on('e1'), note: '' }).code, 'ERR_NOT_FOUND');
  assert.equal(trial.refusal('reconcileEffect', absent).code, 'ERR_NOT_FOUND');
  assert.equal(trial.refusal('retryEffect', retryBody()).code, 'ERR_NOT_FOUND');
  assert.equal(trial.refusal('compensateEffect', { ...on('e1'), note: '' }).code, 'ERR_NOT_FOUND');
});

test('a refused effect fails its step with the owner’s words, once', () => {
  const trial = effectTrial();
  begin(trial, 'e1');
  assert.deepEqual(trial.ok('failEffect', { ...on('e1'), error: refusedError }), [
    'effect.failed',
    'step.settled',
    'run.ended',
  ]);
  assert.match(trial.state.endedReason ?? '', /No\./);
  assert.deepEqual(trial.ok('failEffect', { ...on('e1'), error: refusedError }), []);
  assert.equal(trial.refusal('loseEffect', { ...on('e1'), note: '' }).code, 'ERR_STATE');
  assert.equal(trial.refusal('compensateEffect', { ...on('e1'), note: '' }).code, 'ERR_STATE');
  trial.assertFold();
});

test('in doubt nothing is sent again: the run stands still until the owner or a person has looked', () => {
  const trial = effectTrial();
  begin(trial, 'e1');
  assert.deepEqual(trial.ok('loseEffect', { ...on('e1'), note: 'The owner does not answer.' }), ['effect.unknown']);
  assert.deepEqual(trial.ok('loseEffect', { ...on('e1'), note: '' }), []);
  assert.deepEqual(trial.ok('noteSent', { ...on('e1'), outcome: 'applied', note: '' }), []);
  assert.deepEqual(trial.todos()[0], { kind: 'await' });
  trial.ok('awaitPeople', {});
  assert.equal(trial.state.blocked?.code, 'EFFECT_UNKNOWN');
  assert.equal(trial.refusal('retryEffect', retryBody()).detail?.['invariant'], 'INV-12');
  assert.equal(trial.refusal('failEffect', { ...on('e1'), error: refusedError }).code, 'ERR_STATE');
  const applied = { ...absent, finding: 'applied', confirmed: confirmedOf('e1') } as const;
  assert.deepEqual(trial.ok('reconcileEffect', applied), [
    'effect.reconciled',
    'effect.confirmed',
    'step.settled',
    'run.unblocked',
    'run.ended',
  ]);
  assert.deepEqual([trial.state.result, trial.state.needsHuman], ['completed', false]);
  trial.assertFold();
});

test('a person’s finding settles what the owner does not say: applied without a receipt, or not applied for good', () => {
  const said = (finding: 'applied' | 'absent') =>
    ({ ...on('e1'), finding, source: 'person', note: 'Asked by phone.', confirmed: undefined }) as const;
  const applied = effectTrial();
  begin(applied, 'e1');
  assert.equal(applied.refusal('reconcileEffect', said('applied')).code, 'ERR_STATE');
  applied.ok('loseEffect', { ...on('e1'), note: '' });
  applied.ok('reconcileEffect', said('applied'));
  assert.deepEqual([effectState(applied), applied.state.result], ['completed', 'partial']);
  assert.equal(applied.refusal('reconcileEffect', said('applied')).code, 'ERR_STATE');
  const gone = effectTrial();
  begin(gone, 'e1');
  gone.ok('loseEffect', { ...on('e1'), note: '' });
  assert.deepEqual(gone.ok('reconcileEffect', said('absent')), [
    'effect.reconciled',
    'effect.failed',
    'step.settled',
    'run.ended',
  ]);
  assert.match(gone.state.endedReason ?? '', /tester found that effect eff_e1 was not applied/);
  gone.assertFold();
});

test('only after the owner’s own word is an effect tried again, within bounds, on the approved version', () => {
  const trial = effectTrial();
  begin(trial, 'e1');
  trial.ok('loseEffect', { ...on('e1'), note: '' });
  trial.ok('awaitPeople', {});
  assert.deepEqual(trial.ok('reconcileEffect', absent), ['effect.reconciled', 'run.unblocked']);
  assert.equal(effectState(trial), 'not_started');
  assert.deepEqual(trial.todos()[0], { kind: 'applyEffect', stepId: 'e1', approvalId: 'apv_e1', attempt: 2 });
  assert.equal(trial.refusal('retryEffect', { ...retryBody(), liveVersion: 'v2' }).code, 'ERR_APPROVAL_STALE');
  assert.equal(trial.refusal('retryEffect', retryBody(3)).code, 'ERR_ATTEMPTS');
  trial.nowMs = HOUR_MS;
  assert.equal(trial.refusal('retryEffect', retryBody()).code, 'ERR_APPROVAL_EXPIRED');
  trial.nowMs = 0;
  assert.deepEqual(trial.ok('retryEffect', retryBody()), ['effect.retried']);
  assert.deepEqual(trial.ok('noteSent', { ...on('e1'), outcome: 'applied', note: '' }), []);
  trial.ok('noteSent', { ...on('e1', 2), outcome: 'applied', note: '' });
  trial.ok('reconcileEffect', { ...absent, ...on('e1', 2) });
  assert.equal(trial.refusal('retryEffect', retryBody(3)).code, 'ERR_ATTEMPTS');
  trial.ok('failEffect', { ...on('e1', 2), error: refusedError });
  trial.assertFold();
});

test('a retry that cannot be made is given up: not applied is failed, under way is in doubt', () => {
  const todo = { kind: 'applyEffect', stepId: 'e1', approvalId: 'apv_e1', attempt: 2 } as const;
  const waiting = effectTrial();
  begin(waiting, 'e1');
  waiting.ok('reconcileEffect', absent);
  assert.deepEqual(waiting.ok('giveUp', { todo, error: refusedError }), ['effect.failed', 'step.settled', 'run.ended']);
  const under = effectTrial();
  begin(under, 'e1');
  assert.deepEqual(under.ok('giveUp', { todo: { ...todo, attempt: 1 }, error: refusedError }), ['effect.unknown']);
  assert.equal(under.refusal('giveUp', { todo, error: refusedError }).code, 'ERR_STATE');
});

const firstRow = (over: Partial<EffectRow> = {}): EffectRow => ({
  effectId: 'eff_first',
  tenant: 't9',
  runId: 'run_0',
  stepId: 'e1',
  action: 'notify:send',
  target: 'outbox',
  resource: 'notice:N-1',
  idempotencyKey: 'send:e1',
  actionDigest: actionDigest(actionOf('e1')),
  contentDigest: actionContentDigest(actionOf('e1')),
  expectedVersion: 'v1',
  approvalId: 'apv_first',
  leaseId: 'lse_first',
  attempt: 1,
  state: 'completed',
  receipt: null,
  artifactRef: null,
  history: [],
  updatedAt: atMs(0),
  ...over,
});

test('a key that has its effect in another run is answered with the first record', () => {
  const replay = { stepId: 'e1', planVersion: 1, first: firstRow(), confirmed: confirmedOf('e1') } as const;
  const ready = effectTrial();
  assert.deepEqual(ready.ok('replayEffect', replay), ['effect.replayed', 'step.settled', 'run.ended']);
  assert.equal(ready.state.result, 'completed');
  assert.equal(ready.state.evidence.size, 1);
  const approved = effectTrial();
  propose(approved, 'e1');
  approve(approved, 'e1');
  const used = { ...replay, first: firstRow({ contentDigest: digestOf('other') }) };
  assert.equal(approved.refusal('replayEffect', used).code, 'ERR_IDEMPOTENCY_KEY_REUSED');
  assert.deepEqual(approved.ok('replayEffect', replay), [
    'effect.replayed',
    'approval.withdrawn',
    'step.settled',
    'run.ended',
  ]);
  approved.assertFold();
});

test('a replay of what failed, of another tenant, or of what is open settles nothing as done', () => {
  const replay = { stepId: 'e1', planVersion: 1, confirmed: undefined } as const;
  const trial = effectTrial();
  const refused = (first: EffectRow): string => trial.refusal('replayEffect', { ...replay, first }).code;
  assert.equal(refused(firstRow({ tenant: 't8' })), 'ERR_DENIED');
  assert.equal(refused(firstRow({ state: 'unknown' })), 'ERR_EFFECT_LOCKED');
  assert.equal(trial.refusal('replayEffect', { ...replay, stepId: 'e9', first: firstRow() }).code, 'ERR_STATE');
  trial.ok('replayEffect', { ...replay, first: firstRow({ state: 'failed' }) });
  assert.equal(trial.state.result, 'failed');
  const stale = effectTrial();
  propose(stale, 'e1');
  approve(stale, 'e1', { disposition: 'rejected', reason: 'No.' });
  assert.equal(stale.refusal('replayEffect', { ...replay, first: firstRow() }).code, 'ERR_STATE');
  const skipped = effectTrial([effectStep('e1'), effectStep('e2')]);
  skipped.ok('giveUp', { todo: { kind: 'proposeEffect', stepId: 'e1' }, error: refusedError });
  assert.equal(skipped.refusal('replayEffect', { ...replay, first: firstRow() }).code, 'ERR_STATE');
});

test('the ledger row is the fold of the effect’s events', () => {
  const trial = effectTrial();
  begin(trial, 'e1');
  trial.ok('noteSent', { ...on('e1'), outcome: 'unknown', note: 'timeout' });
  trial.ok('loseEffect', { ...on('e1'), note: 'hidden' });
  trial.ok('reconcileEffect', absent);
  trial.ok('retryEffect', retryBody());
  trial.ok('reconcileEffect', { ...absent, ...on('e1', 2), finding: 'applied', confirmed: confirmedOf('e1') });
  trial.ok('compensateEffect', { ...on('e1', 2), note: 'Taken back.' });
  let row: EffectRow | undefined;
  for (const event of trial.log) row = foldEffectRow(row, event);
  assert.deepEqual(
    row?.history.map(({ state, attempt }) => [state, attempt]),
    [
      ['in_progress', 1],
      ['in_progress', 1],
      ['unknown', 1],
      ['not_started', 1],
      ['in_progress', 2],
      ['completed', 2],
      ['completed', 2],
      ['compensated', 2],
    ],
  );
  assert.deepEqual([row?.state, row?.leaseId, row?.receipt?.reference], ['compensated', 'lse_again', 'msg-e1']);
  const failing = effectTrial();
  begin(failing, 'e1');
  const before = failing.log.length;
  failing.ok('failEffect', { ...on('e1'), error: refusedError });
  const [failedEvent] = failing.log.slice(before);
  assert.ok(failedEvent !== undefined && row !== undefined);
  assert.equal(foldEffectRow(row, failedEvent)?.state, 'failed');
  assert.equal(foldEffectRow(undefined, failedEvent), undefined);
  const spoiled = effectTrial();
  begin(spoiled, 'e1');
  const findings = [{ pointer: '', expected: 'a', got: 'b' }];
  spoiled.ok('confirmEffect', { ...on('e1'), confirmed: confirmedOf('e1', { findings }) });
  let partial: EffectRow | undefined;
  for (const event of spoiled.log) partial = foldEffectRow(partial, event);
  assert.equal(partial?.state, 'partially_completed');
});

test('the digest of an action changes with the run, that of its content does not', () => {
  const other = actionOf('e1', { runId: 'run_2', stepId: 'e2', requestedBy: 'other@t9' });
  assert.notEqual(actionDigest(other), actionDigest(actionOf('e1')));
  assert.equal(actionContentDigest(other), actionContentDigest(actionOf('e1')));
  assert.notEqual(actionContentDigest(actionOf('e1', { expectedVersion: null })), actionContentDigest(actionOf('e1')));
  assert.equal(proposalOf('e1').actionDigest, actionDigest(actionOf('e1')));
});
