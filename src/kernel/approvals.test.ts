import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestOf } from './digest.ts';
import { atMs, evidenceOf, stepOf } from './trial-contracts.test.ts';
import {
  actionOf,
  approve,
  begin,
  decideBody,
  decisionOf,
  effectStep,
  effectTrial,
  HOUR_MS,
  intendBody,
  POLICY,
  propose,
  proposalOf,
  requestBody,
} from './trial-effects.test.ts';

test('an effect step is proposed, never dispatched', () => {
  const trial = effectTrial();
  assert.deepEqual(
    trial.todos().map(({ kind }) => kind),
    ['proposeEffect', 'wake'],
  );
  assert.equal(trial.refusal('dispatch', trial.dispatchBody('e1')).code, 'ERR_STATE');
  assert.deepEqual(propose(trial, 'e1'), ['approval.requested']);
  assert.equal(trial.step('e1').phase, 'waiting');
  assert.equal(trial.state.phase, 'running');
  trial.assertFold();
});

test('a run whose open steps all wait for approvers stands still, and an approval lets it go on', () => {
  const trial = effectTrial();
  propose(trial, 'e1');
  assert.deepEqual(trial.todos()[0], { kind: 'await' });
  assert.deepEqual(trial.ok('awaitPeople', {}), ['run.blocked']);
  assert.equal(trial.state.blocked?.code, 'APPROVAL');
  assert.equal(trial.state.needsHuman, true);
  assert.deepEqual(
    trial.todos().map((todo) => (todo.kind === 'wake' ? todo.at : todo.kind)),
    [atMs(HOUR_MS)],
  );
  assert.deepEqual(approve(trial, 'e1'), ['approval.granted', 'run.unblocked']);
  assert.equal(trial.state.needsHuman, false);
  assert.deepEqual(trial.todos()[0], { kind: 'applyEffect', stepId: 'e1', approvalId: 'apv_e1', attempt: 1 });
  assert.equal(trial.refusal('awaitPeople', {}).code, 'ERR_STATE');
  trial.assertFold();
});

test('while anything else goes on, nobody stands still', () => {
  const trial = effectTrial([effectStep('e1'), effectStep('e2'), stepOf('s1'), stepOf('s2', ['s1'])]);
  propose(trial, 'e1');
  assert.ok(trial.todos().every(({ kind }) => kind !== 'await'));
  propose(trial, 'e2');
  trial.dispatch('s1');
  assert.equal(trial.refusal('awaitPeople', {}).code, 'ERR_STATE');
  trial.deliver('s1');
  trial.dispatch('s2');
  trial.deliver('s2');
  assert.deepEqual(trial.ok('awaitPeople', {}), ['run.blocked']);
  assert.match(trial.state.blocked?.question ?? '', /apv_e1 for e1, apv_e2 for e2/);
});

test('nobody stands still while another action is to be proposed', () => {
  const trial = effectTrial([effectStep('e1'), effectStep('e2')]);
  propose(trial, 'e1');
  assert.equal(trial.refusal('awaitPeople', {}).code, 'ERR_STATE');
});

test('several approvals are decided each by itself, in any order', () => {
  const trial = effectTrial([effectStep('e1?'), effectStep('e2')]);
  propose(trial, 'e1');
  propose(trial, 'e2');
  trial.ok('awaitPeople', {});
  approve(trial, 'e2');
  assert.equal(trial.state.approvals.get('apv_e1')?.state, 'pending');
  approve(trial, 'e1', { disposition: 'rejected', reason: 'Not this one.' });
  assert.equal(trial.step('e1').result?.status, 'failed');
  assert.equal(trial.state.approvals.get('apv_e2')?.state, 'approved');
  assert.equal(trial.state.phase, 'running');
});

const WRONG: Readonly<Record<string, readonly [code: string, made: Parameters<typeof proposalOf>[1]]>> = {
  'of another run': ['ERR_STATE', { action: { runId: 'run_2' } }],
  'of another tenant': ['ERR_STATE', { action: { tenant: 't8' } }],
  'of another step': ['ERR_STATE', { action: { stepId: 'e9' } }],
  'asked for by another': ['ERR_STATE', { action: { requestedBy: 'somebody@t9' } }],
  'of another action': ['ERR_DENIED', { action: { action: 'claims:update' } }],
  'on another resource': ['ERR_EFFECT_PARAMETERS', { action: { resource: 'notice:N-9' } }],
  'with a parameter that is shown and applied': ['ERR_EFFECT_PARAMETERS', { presentational: { channel: 'x' } }],
  'too large': ['ERR_EFFECT_PARAMETERS', { action: { parameters: { text: 'x'.repeat(70_000) } } }],
  'without a canonical form': ['ERR_EFFECT_PARAMETERS', { action: { parameters: { text: '\uD800' } } }],
  'under another digest': ['ERR_APPROVAL_DIGEST', { actionDigest: digestOf('other') }],
  'with another view': ['ERR_APPROVAL_DIGEST', { view: { title: 'Nothing much', rows: [] } }],
  'with another view digest': ['ERR_APPROVAL_DIGEST', { viewDigest: digestOf('other') }],
  'that cannot be shown': ['ERR_APPROVAL_DIGEST', { action: { parameters: { text: 'x'.repeat(9_000) } } }],
  'by a weaker rule': ['ERR_POLICY', { rule: { mode: 'policy' } }],
  'by one person of a quorum': ['ERR_POLICY', { rule: { mode: 'quorum' } }],
  'by several without a quorum': ['ERR_POLICY', { rule: { quorumCount: 2 } }],
  'with unknown evidence': ['ERR_CLAIM_UNKNOWN_EVIDENCE', { evidence: [evidenceOf('s1', 'pending')] }],
  'already expired': ['ERR_APPROVAL_EXPIRED', { expiresMs: 0 }],
};

for (const [how, [code, made]] of Object.entries(WRONG))
  test(`a proposal ${how} is refused`, () => {
    const trial = effectTrial();
    assert.equal(trial.refusal('requestApproval', requestBody('e1', made)).code, code);
  });

test('a proposal of a prohibited action, or of one the step may not do, is refused', () => {
  const prohibited = effectTrial([effectStep('e1')], { goal: { prohibitedActions: ['notify:send'] } });
  assert.match(prohibited.refusal('requestApproval', requestBody('e1')).message, /prohibits/);
  const narrow = effectTrial([effectStep('e1', { actions: ['claims:read'] })]);
  assert.match(narrow.refusal('requestApproval', requestBody('e1')).message, /may not notify:send/);
  const unmapped = effectTrial([effectStep('e1', { inputs: { notice: { from: 'goal', pointer: '/entities/none' } } })]);
  assert.equal(unmapped.refusal('requestApproval', requestBody('e1')).code, 'ERR_EFFECT_PARAMETERS');
});

test('only a ready effect step of the plan proposes, and each proposal has an id of its own', () => {
  const trial = effectTrial([effectStep('e1'), effectStep('e2'), stepOf('s1')]);
  assert.equal(trial.refusal('requestApproval', { ...requestBody('e1'), planVersion: 2 }).code, 'ERR_STATE');
  assert.equal(trial.refusal('requestApproval', requestBody('s1')).code, 'ERR_STATE');
  assert.equal(trial.refusal('requestApproval', requestBody('e9')).code, 'ERR_STATE');
  propose(trial, 'e1');
  assert.equal(trial.refusal('requestApproval', requestBody('e1', { approvalId: 'apv_2' })).code, 'ERR_STATE');
  assert.match(trial.refusal('requestApproval', requestBody('e2', { approvalId: 'apv_e1' })).message, /already/);
});

test('the packet carries evidence that the run accepted', () => {
  const trial = effectTrial([effectStep('e1'), stepOf('s1')]);
  trial.dispatch('s1');
  trial.deliver('s1');
  const accepted = [...trial.state.evidence.values()];
  propose(trial, 'e1', { evidence: accepted });
  assert.deepEqual(trial.state.approvals.get('apv_e1')?.proposal.evidence, accepted);
});

test('a decision is refused on another digest or view, without a reason, by the wrong person, or too late', () => {
  const trial = effectTrial();
  propose(trial, 'e1');
  const refused = (over: Parameters<typeof decisionOf>[2]): string =>
    trial.refusal('decideApproval', decideBody(trial, 'apv_e1', over)).code;
  assert.equal(refused({ actionDigest: digestOf('other') }), 'ERR_APPROVAL_DIGEST');
  assert.equal(refused({ viewDigest: digestOf('other') }), 'ERR_APPROVAL_DIGEST');
  assert.equal(refused({ disposition: 'rejected' }), 'ERR_USAGE');
  assert.equal(refused({ disposition: 'overrode', reason: '  ' }), 'ERR_USAGE');
  assert.equal(refused({ by: 'requester@t9' }), 'ERR_APPROVER');
  assert.equal(refused({ role: 'auditor' }), 'ERR_APPROVER');
  assert.equal(refused({ by: `policy:table@${POLICY}`, channel: 'policy' }), 'ERR_APPROVER');
  assert.equal(trial.refusal('decideApproval', decideBody(trial, 'apv_none')).code, 'ERR_NOT_FOUND');
  trial.nowMs = HOUR_MS;
  assert.equal(refused({}), 'ERR_APPROVAL_EXPIRED');
});

test('the same decision again changes nothing; another one by the same person is refused', () => {
  const trial = effectTrial([effectStep('e1', { approval: 'quorum' })], { skill: { approval: 'quorum' } });
  propose(trial, 'e1', { rule: { mode: 'quorum', quorumCount: 2 } });
  assert.deepEqual(approve(trial, 'e1'), ['approval.endorsed']);
  assert.deepEqual(approve(trial, 'e1'), []);
  const other = decideBody(trial, 'apv_e1', { disposition: 'overrode', reason: 'Against the rule.' });
  assert.equal(trial.refusal('decideApproval', other).code, 'ERR_APPROVAL_STATE');
  assert.deepEqual(approve(trial, 'e1', { by: 'second@t9' }), ['approval.granted']);
  assert.deepEqual(approve(trial, 'e1', { by: 'second@t9' }), []);
  assert.equal(
    trial.refusal('decideApproval', decideBody(trial, 'apv_e1', { by: 'third@t9' })).code,
    'ERR_APPROVAL_STATE',
  );
  trial.assertFold();
});

test('a policy approves what it is named for, and nothing else', () => {
  const trial = effectTrial([effectStep('e1', { approval: 'policy' })], { skill: { approval: 'policy' } });
  propose(trial, 'e1', { rule: { mode: 'policy' } });
  const by = `policy:table@${POLICY}`;
  const refused = (over: Parameters<typeof decisionOf>[2]): string =>
    trial.refusal('decideApproval', decideBody(trial, 'apv_e1', over)).code;
  assert.equal(refused({ by, channel: 'cli' }), 'ERR_APPROVER');
  assert.equal(refused({ by: 'policy:other@x', channel: 'policy' }), 'ERR_APPROVER');
  assert.equal(refused({ by: 'approver@t9', channel: 'policy' }), 'ERR_APPROVER');
  assert.deepEqual(approve(trial, 'e1', { by, channel: 'policy' }), ['approval.granted']);
});

test('a decision under another policy makes the approval stale, and a new proposal can follow', () => {
  const trial = effectTrial();
  propose(trial, 'e1');
  trial.ok('awaitPeople', {});
  const moved = digestOf('new policy');
  assert.deepEqual(trial.ok('decideApproval', { ...decideBody(trial, 'apv_e1'), policyDigest: moved }), [
    'approval.staled',
    'run.unblocked',
  ]);
  trial.ok('awaitPeople', {});
  assert.match(trial.state.blocked?.question ?? '', /apv_e1 for e1/);
  assert.deepEqual(propose(trial, 'e1', { approvalId: 'apv_new', rule: { policyDigest: moved } }), [
    'approval.requested',
    'run.unblocked',
  ]);
  assert.equal(trial.step('e1').approvalId, 'apv_new');
  trial.assertFold();
});

test('what is pending or approved goes stale, once; what is spent does not', () => {
  const trial = effectTrial();
  const stale = { approvalId: 'apv_e1', field: 'resource_version', expected: 'v1', got: 'v2' } as const;
  assert.equal(trial.refusal('staleApproval', stale).code, 'ERR_NOT_FOUND');
  propose(trial, 'e1');
  approve(trial, 'e1');
  assert.deepEqual(trial.ok('staleApproval', stale), ['approval.staled']);
  assert.deepEqual(trial.ok('staleApproval', stale), []);
  assert.equal(trial.refusal('intendEffect', intendBody(trial, 'e1')).code, 'ERR_APPROVAL_STATE');
  const spent = effectTrial();
  begin(spent, 'e1');
  assert.equal(spent.refusal('staleApproval', stale).code, 'ERR_APPROVAL_STATE');
});

test('a rejection ends the run with the words of who rejected it', () => {
  const trial = effectTrial();
  propose(trial, 'e1');
  trial.ok('awaitPeople', {});
  assert.deepEqual(approve(trial, 'e1', { disposition: 'rejected', reason: 'The wording is wrong.' }), [
    'approval.rejected',
    'run.unblocked',
    'step.settled',
    'run.ended',
  ]);
  assert.equal(trial.state.result, 'failed');
  assert.match(trial.state.endedReason ?? '', /approver@t9 rejected approval apv_e1: The wording is wrong\./);
  assert.equal(trial.refusal('decideApproval', decideBody(trial, 'apv_e1')).code, 'ERR_APPROVAL_STATE');
});

test('a rejection in a goal with sentences is the reason of the join that the answer is composed for', () => {
  const claims = [{ key: 'sent', kind: 'fact', output: 'value', sentence: { en: 'Sent.' }, slots: {} } as const];
  const trial = effectTrial([effectStep('e1')], { goal: { claims: [...claims] } });
  propose(trial, 'e1');
  approve(trial, 'e1', { disposition: 'rejected', reason: 'No.' });
  assert.deepEqual(trial.todos(), [{ kind: 'compose' }]);
});

test('an approval that nobody gave in time ends its step, also when it was given and nothing was begun', () => {
  const trial = effectTrial([effectStep('e1'), effectStep('e2')]);
  propose(trial, 'e1', { expiresMs: 1_000 });
  propose(trial, 'e2', { expiresMs: 2_000 });
  approve(trial, 'e1');
  assert.deepEqual(trial.tick(500), []);
  assert.deepEqual(trial.tick(1_000), ['approval.expired', 'step.settled']);
  trial.ok('awaitPeople', {});
  assert.deepEqual(trial.tick(2_000), ['approval.expired', 'run.unblocked', 'step.settled', 'run.ended']);
  assert.match(trial.state.endedReason ?? '', /expired/);
  trial.assertFold();
});

test('the requester withdraws until the approval is spent; nobody else does', () => {
  const trial = effectTrial();
  const body = { approvalId: 'apv_e1', reason: 'No longer needed.' } as const;
  assert.equal(trial.refusal('withdrawApproval', body).code, 'ERR_NOT_FOUND');
  propose(trial, 'e1');
  assert.equal(trial.refusal('withdrawApproval', body).code, 'ERR_APPROVER');
  const decided = trial.decideAs('requester@t9', 'withdrawApproval', body);
  assert.deepEqual(decided, ['approval.withdrawn', 'step.settled', 'run.ended']);
  assert.equal(trial.refusal('withdrawApproval', body).code, 'ERR_APPROVAL_STATE');
});

test('cancelling withdraws what waits, and nothing is proposed or decided any more', () => {
  const trial = effectTrial();
  propose(trial, 'e1');
  trial.ok('awaitPeople', {});
  assert.deepEqual(trial.ok('cancel', { reason: 'Stop.' }), [
    'cancel.requested',
    'approval.withdrawn',
    'step.skipped',
    'cancel.settled',
    'run.ended',
  ]);
  assert.equal(trial.state.approvals.get('apv_e1')?.state, 'withdrawn');
  assert.equal(trial.state.needsHuman, false);
  assert.equal(trial.refusal('requestApproval', requestBody('e1')).code, 'ERR_STATE');
  trial.assertFold();
});

test('an absolute deadline does not wait for approvers', () => {
  const trial = effectTrial([effectStep('e1')], { goal: { deadlineAt: atMs(5_000) } });
  propose(trial, 'e1');
  trial.ok('awaitPeople', {});
  assert.deepEqual(trial.tick(5_000), ['run.unblocked', 'approval.withdrawn', 'step.skipped', 'run.ended']);
  assert.equal(trial.state.result, 'failed');
});

test('what cannot be proposed or begun ends its step with the reason', () => {
  const error = {
    code: 'ERR_EFFECT_TARGET',
    kind: 'unavailable',
    message: 'No target.',
    at: 'writer',
    retryable: false,
  } as const;
  const proposing = effectTrial();
  assert.deepEqual(proposing.ok('giveUp', { todo: { kind: 'proposeEffect', stepId: 'e1' }, error }), [
    'step.settled',
    'run.ended',
  ]);
  assert.match(proposing.state.endedReason ?? '', /No target\./);
  const applying = effectTrial();
  propose(applying, 'e1');
  approve(applying, 'e1');
  const todo = { kind: 'applyEffect', stepId: 'e1', approvalId: 'apv_e1', attempt: 1 } as const;
  assert.deepEqual(applying.ok('giveUp', { todo, error }), ['approval.withdrawn', 'step.settled', 'run.ended']);
  assert.equal(actionOf('e1').stepId, 'e1');
});
