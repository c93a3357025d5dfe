/** Each invariant of approvals and effects is broken on purpose, and found by name. */
import type { EventBody, EventDraft } from '#contracts/event.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionContentDigest, actionDigest } from './action-digest.ts';
import { approvalOfEvent, foldApprovalRow } from './approval-inbox.ts';
import { digestOf, digestOfBytes } from './digest.ts';
import { effectOfEvent, foldEffectRow } from './effect-ledger.ts';
import { holdsResource } from './effect-state.ts';
import { checkInvariants } from './invariants.ts';
import { readStoredEffect } from './stored-effect.ts';
import {
  actionOf,
  approve,
  confirmedOf,
  effectStep,
  effectTrial,
  HOUR_MS,
  intendBody,
  on,
  POLICY,
  propose,
} from './trial-effects.test.ts';
import type { TrialRun } from './trial-run.test.ts';

const broken = (trial: TrialRun, draft: EventDraft): readonly string[] =>
  checkInvariants(trial.state, trial.seal(draft)).map(({ invariant }) => invariant);

function intended(over: Partial<EventBody<'effect.intended'>> = {}): EventDraft {
  const action = over.action ?? actionOf('e1');
  return {
    kind: 'effect.intended',
    body: {
      effectId: 'eff_e1',
      attempt: 1,
      approvalId: 'apv_e1',
      stepId: 'e1',
      planVersion: 1,
      action,
      actionDigest: actionDigest(action),
      contentDigest: actionContentDigest(action),
      leaseId: 'lse_e1',
      liveVersion: 'v1',
      policyDigest: POLICY,
      ...over,
    },
  };
}

const spent = (over: Partial<EventBody<'approval.spent'>> = {}): EventDraft => ({
  kind: 'approval.spent',
  body: { approvalId: 'apv_e1', effectId: 'eff_e1', leaseId: 'lse_e1', ...over },
});
const retried = (over: Partial<EventBody<'effect.retried'>> = {}): EventDraft => ({
  kind: 'effect.retried',
  body: { ...on('e1', 2), leaseId: 'lse_2', liveVersion: 'v1', ...over },
});

function approved(): TrialRun {
  const trial = effectTrial([effectStep('e1'), effectStep('e2')]);
  propose(trial, 'e1');
  approve(trial, 'e1');
  return trial;
}

test('a lawful effect breaks nothing', () => {
  const trial = approved();
  assert.deepEqual(broken(trial, spent()), []);
  trial.append(spent());
  assert.deepEqual(broken(trial, intended()), []);
});

test('INV-04: an effect without its spent approval, on another action or version, or after its expiry is found', () => {
  const trial = approved();
  assert.deepEqual(broken(trial, intended()), ['INV-04'], 'not spent');
  assert.deepEqual(broken(trial, intended({ approvalId: 'apv_none' })), ['INV-04']);
  trial.append(spent());
  assert.deepEqual(broken(trial, intended({ effectId: 'eff_other' })), ['INV-04']);
  assert.deepEqual(broken(trial, intended({ action: actionOf('e1', { parameters: { channel: 'fax' } }) })), ['INV-04']);
  assert.deepEqual(broken(trial, intended({ actionDigest: digestOf('other') })), ['INV-04']);
  assert.deepEqual(broken(trial, intended({ liveVersion: 'v2' })), ['INV-04']);
  trial.nowMs = HOUR_MS;
  assert.deepEqual(broken(trial, intended()), ['INV-04']);
  const undecided = effectTrial();
  propose(undecided, 'e1');
  undecided.append(spent());
  assert.deepEqual(broken(undecided, intended()), ['INV-04']);
});

test('INV-04: another attempt without an approval, on another version, or after its expiry is found', () => {
  const trial = approved();
  trial.ok('intendEffect', intendBody(trial, 'e1'));
  trial.ok('reconcileEffect', { ...on('e1'), finding: 'absent', source: 'owner', note: '', confirmed: undefined });
  assert.deepEqual(broken(trial, retried()), []);
  assert.deepEqual(broken(trial, retried({ liveVersion: 'v2' })), ['INV-04']);
  assert.deepEqual(broken(trial, retried({ effectId: 'eff_none' })), ['INV-04', 'INV-12']);
  trial.nowMs = HOUR_MS;
  assert.deepEqual(broken(trial, retried()), ['INV-04']);
  const orphan = effectTrial();
  orphan.append(intended());
  orphan.append({
    kind: 'effect.reconciled',
    body: { ...on('e1'), by: 'x', finding: 'absent', source: 'owner', note: '' },
  });
  assert.deepEqual(broken(orphan, retried()), ['INV-04']);
  const retry = { ...on('e1', 2), leaseId: 'lse_2', liveVersion: 'v1', policyDigest: POLICY } as const;
  assert.equal(orphan.refusal('retryEffect', retry).detail?.['invariant'], 'INV-04');
});

test('INV-12: a second effect under a key, a second send, and a send of nothing are found', () => {
  const trial = approved();
  trial.ok('intendEffect', intendBody(trial, 'e1'));
  assert.deepEqual(broken(trial, intended()), ['INV-12'], 'the same effect again');
  assert.deepEqual(broken(trial, retried()), ['INV-12'], 'under way');
  const sent: EventDraft = { kind: 'effect.sent', body: { ...on('e1'), outcome: 'applied', note: '' } };
  assert.deepEqual(broken(trial, sent), []);
  assert.deepEqual(broken(trial, { kind: 'effect.sent', body: { ...on('e1', 2), outcome: 'applied', note: '' } }), [
    'INV-12',
  ]);
  trial.append(sent);
  assert.deepEqual(broken(trial, sent), ['INV-12']);
  assert.deepEqual(broken(trial, { kind: 'effect.sent', body: { ...on('e2'), outcome: 'applied', note: '' } }), [
    'INV-12',
  ]);
  propose(trial, 'e2');
  approve(trial, 'e2');
  trial.append(spent({ approvalId: 'apv_e2', effectId: 'eff_e2' }));
  const action = actionOf('e2', { idempotencyKey: 'send:e1' });
  const twice = intended({ effectId: 'eff_e2', approvalId: 'apv_e2', stepId: 'e2', action });
  assert.deepEqual(broken(trial, twice), ['INV-04', 'INV-12']);
});

test('INV-13: an approval spent twice, before it is given, after its expiry, or that nobody asked for is found', () => {
  const trial = effectTrial();
  assert.deepEqual(broken(trial, spent()), ['INV-13']);
  propose(trial, 'e1');
  assert.deepEqual(broken(trial, spent()), ['INV-13']);
  approve(trial, 'e1');
  trial.nowMs = HOUR_MS;
  assert.deepEqual(broken(trial, spent()), ['INV-13']);
  trial.nowMs = 0;
  trial.ok('intendEffect', intendBody(trial, 'e1'));
  assert.deepEqual(broken(trial, spent()), ['INV-13']);
});

test('events about approvals and effects that a run has not change nothing of it', () => {
  const trial = effectTrial();
  const before = structuredClone([...trial.state.approvals.values(), ...trial.state.effects.values()]);
  trial.append(spent());
  trial.append({
    kind: 'effect.failed',
    body: { ...on('e1'), error: { code: 'ERR_STATE', kind: 'conflict', message: '', at: '', retryable: false } },
  });
  trial.append({ kind: 'approval.withdrawn', body: { approvalId: 'apv_e1', by: 'x', reason: '' } });
  assert.deepEqual([...trial.state.approvals.values(), ...trial.state.effects.values()], before);
  trial.append(intended({ stepId: 'e9' }));
  assert.equal(trial.state.effects.size, 0);
});

test('ledger and inbox are folded from their own events alone', () => {
  const trial = effectTrial([effectStep('e1', { approval: 'quorum' })], { skill: { approval: 'quorum' } });
  propose(trial, 'e1', { rule: { mode: 'quorum', quorumCount: 2 } });
  approve(trial, 'e1');
  approve(trial, 'e1', { by: 'second@t9' });
  trial.ok('intendEffect', intendBody(trial, 'e1'));
  let row: ReturnType<typeof foldApprovalRow>;
  const states: (string | undefined)[] = [];
  for (const event of trial.log) {
    row = foldApprovalRow(row, event);
    if (approvalOfEvent(event) !== undefined) states.push(row?.state);
  }
  assert.deepEqual(states, ['pending', 'pending', 'approved', 'spent']);
  assert.equal(row?.decisions.length, 2);
  assert.deepEqual(
    trial.log.map(effectOfEvent).filter((id) => id !== undefined),
    ['eff_e1'],
  );
  const [first] = trial.log;
  assert.ok(first !== undefined);
  assert.equal(foldApprovalRow(row, first), row);
  assert.equal(foldEffectRow(undefined, first), undefined);
  assert.equal(foldApprovalRow(undefined, trial.seal(spent())), undefined);
  const closes: readonly (readonly [EventDraft, string])[] = [
    [{ kind: 'approval.expired', body: { approvalId: 'apv_e1', expiresAt: '2026-07-22T15:00:00.000Z' } }, 'expired'],
    [{ kind: 'approval.withdrawn', body: { approvalId: 'apv_e1', by: 'x', reason: 'y' } }, 'withdrawn'],
    [
      { kind: 'approval.staled', body: { approvalId: 'apv_e1', field: 'policy_version', expected: 'a', got: 'b' } },
      'stale',
    ],
  ];
  for (const [draft, state] of closes) assert.equal(foldApprovalRow(row, trial.seal(draft))?.state, state);
  const rejecting = effectTrial();
  propose(rejecting, 'e1');
  approve(rejecting, 'e1', { disposition: 'rejected', reason: 'No.' });
  let rejected: ReturnType<typeof foldApprovalRow>;
  for (const event of rejecting.log) rejected = foldApprovalRow(rejected, event);
  assert.deepEqual([rejected?.state, rejected?.closedReason], ['rejected', 'approver@t9 rejected it: No.']);
});

test('an effect holds its resource while it is under way or in doubt', () => {
  assert.deepEqual(
    (
      ['in_progress', 'unknown', 'not_started', 'completed', 'failed', 'partially_completed', 'compensated'] as const
    ).map(holdsResource),
    [true, true, false, false, false, false, false],
  );
});

test('a kept record is believed by its digests alone', () => {
  const { receipt, evidence, data } = confirmedOf('e1');
  const record = { contractVersion: '1.0.0', receipt, evidence, record: { reference: 'msg-e1' }, data };
  const bytes = new TextEncoder().encode(JSON.stringify(record));
  const ref = digestOfBytes(bytes);
  assert.deepEqual(readStoredEffect(bytes, ref)?.data, data);
  assert.equal(readStoredEffect(undefined, ref), undefined);
  assert.equal(readStoredEffect(bytes, digestOf('other')), undefined);
  const other = new TextEncoder().encode(JSON.stringify({ ...record, record: { reference: 'forged' } }));
  assert.equal(readStoredEffect(other, digestOfBytes(other)), undefined);
  const forged = {
    ...record,
    evidence: { ...evidence, digest: digestOf({ reference: 'forged' }) },
    record: { reference: 'forged' },
  };
  const half = new TextEncoder().encode(JSON.stringify(forged));
  assert.equal(readStoredEffect(half, digestOfBytes(half)), undefined);
  const text = new TextEncoder().encode('{');
  assert.equal(readStoredEffect(text, digestOfBytes(text)), undefined);
});
