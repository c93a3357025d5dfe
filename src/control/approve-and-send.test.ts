import { hasCode } from '#testing/refused.ts';
import { INQUIRY_GRANT } from '#testing/inquiry-case.ts';
import { FOREIGN_GRANT, inquiryWorld, type InquiryWorld } from '#testing/inquiry-world.ts';
import { createMemoryTarget, type MemoryTarget } from '#testing/memory-effect-target.ts';
import { APPROVER, NOTICE_TEXT } from '#testing/notice-case.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';

interface Sending {
  readonly world: InquiryWorld;
  readonly target: MemoryTarget;
}

async function sending(): Promise<Sending & AsyncDisposable> {
  let target: MemoryTarget | undefined;
  const world = await inquiryWorld({
    targets: (clock) => {
      target = createMemoryTarget({ clock });
      return [target];
    },
  });
  assert.ok(target !== undefined);
  return { world, target, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

const pendingOf = async ({ world }: Sending) => {
  const [row] = await world.desk.approvals(APPROVER, { state: 'pending', runId: undefined, limit: 10 });
  assert.ok(row !== undefined, 'something waits for approval');
  return row;
};

test('a notice is drafted, waits for approval, and is sent once', async () => {
  await using at = await sending();
  const waiting = await at.world.ask(NOTICE_TEXT);
  assert.equal(waiting.state, 'blocked', JSON.stringify(waiting.steps.flatMap(({ errors }) => errors)));
  assert.equal(waiting.blocked?.code, 'APPROVAL');
  assert.equal(waiting.needsHuman, true);
  assert.equal(at.target.sendCount, 0);
  const row = await pendingOf(at);
  assert.equal(row.proposal.action.resource, 'notice-draft:D-1');
  assert.deepEqual(
    row.proposal.evidence.map(({ anchor }) => anchor),
    ['notice-draft:D-1', 'claim:C-102', 'policy-rule:motor-7', 'member:m42'],
  );
  const decided = await at.world.desk.decide(APPROVER, {
    approvalId: row.approvalId,
    digest: row.proposal.actionDigest,
    disposition: 'approved',
    reason: null,
    evidenceInView: undefined,
    channel: 'cli',
  });
  assert.equal(decided.decisions[0]?.by, 'approver@t9');
  const view = await at.world.settle(waiting.runId);
  assert.equal(view.result, 'completed', view.reason ?? '');
  assert.equal(view.needsHuman, false);
  assert.deepEqual(
    view.claims.map(({ key }) => key),
    ['sent'],
  );
  assert.equal(view.claims[0]?.evidence[0]?.anchor.startsWith('sent-notice:'), true);
  assert.equal(at.target.appliedCount(), 1);
  assert.equal(at.target.sendCount, 1);
  const [effect] = view.effects;
  assert.deepEqual([view.effects.length, effect?.state, effect?.approvalId], [1, 'completed', row.approvalId]);
  assert.equal((await at.world.desk.approval(APPROVER, row.approvalId)).state, 'spent');
});

test('the wait costs no running time', async () => {
  await using at = await sending();
  const waiting = await at.world.ask(NOTICE_TEXT);
  await at.world.clock.advance(30 * 60_000);
  const row = await pendingOf(at);
  await at.world.desk.decide(APPROVER, {
    approvalId: row.approvalId,
    digest: row.proposal.actionDigest,
    disposition: 'approved',
    reason: null,
    evidenceInView: undefined,
    channel: 'http',
  });
  assert.equal((await at.world.settle(waiting.runId)).result, 'completed');
});

test('a rejection ends the run with the words of who rejected it, and nothing is sent', async () => {
  await using at = await sending();
  const waiting = await at.world.ask(NOTICE_TEXT);
  const row = await pendingOf(at);
  const rejecting = {
    approvalId: row.approvalId,
    digest: row.proposal.actionDigest,
    disposition: 'rejected',
    evidenceInView: undefined,
    channel: 'cli',
  } as const;
  await assert.rejects(at.world.desk.decide(APPROVER, { ...rejecting, reason: null }), hasCode('ERR_USAGE'));
  await at.world.desk.decide(APPROVER, { ...rejecting, reason: 'The wording is wrong.' });
  const view = await at.world.settle(waiting.runId);
  assert.equal(view.result, 'failed');
  assert.match(view.reason ?? '', /approver@t9 rejected .*The wording is wrong\./);
  assert.equal(at.target.sendCount, 0);
});

test('who asked, who has no role, and another tenant do not decide', async () => {
  await using at = await sending();
  await at.world.ask(NOTICE_TEXT);
  const row = await pendingOf(at);
  const request = {
    approvalId: row.approvalId,
    digest: row.proposal.actionDigest,
    disposition: 'approved',
    reason: null,
    evidenceInView: undefined,
    channel: 'cli',
  } as const;
  const { desk } = at.world;
  await assert.rejects(desk.decide(INQUIRY_GRANT, request), hasCode('ERR_APPROVER'));
  const both = { ...INQUIRY_GRANT, roles: ['requester', 'approver'] };
  await assert.rejects(desk.decide(both, request), hasCode('ERR_APPROVER'));
  await assert.rejects(desk.decide({ ...FOREIGN_GRANT, roles: ['approver'] }, request), hasCode('ERR_NOT_FOUND'));
  const forged = { ...request, digest: `sha256:${'0'.repeat(64)}` };
  await assert.rejects(desk.decide(APPROVER, forged), hasCode('ERR_APPROVAL_DIGEST'));
  assert.equal(at.target.sendCount, 0);
});

test('an idempotency key is for one decision', async () => {
  await using at = await sending();
  await at.world.ask(NOTICE_TEXT);
  const row = await pendingOf(at);
  const request = {
    approvalId: row.approvalId,
    digest: row.proposal.actionDigest,
    disposition: 'approved',
    reason: null,
    evidenceInView: undefined,
    channel: 'http',
    idempotencyKey: 'k1',
  } as const;
  const { desk } = at.world;
  assert.equal((await desk.decide(APPROVER, request)).approvalId, row.approvalId);
  assert.equal((await desk.decide(APPROVER, request)).approvalId, row.approvalId);
  const other = { ...request, disposition: 'rejected', reason: 'No.' } as const;
  await assert.rejects(desk.decide(APPROVER, other), hasCode('ERR_IDEMPOTENCY_KEY_REUSED'));
});
