import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEvent } from '#contracts/event.ts';
import { bodyText, type ChainHead, sealEvent, verifyChain } from './chain.ts';
import { digestOf } from './digest.ts';

const HEAD: ChainHead = { ref: { tenant: 't9', runId: 'run_1' }, seq: 0, hash: '' };
const BY = { at: '2026-07-22T15:00:00.000Z', actor: 'tester' };

function chain(): RunEvent[] {
  const first = sealEvent(HEAD, { kind: 'cancel.requested', body: { by: 'requester@t9', reason: 'One.' } }, BY);
  const head: ChainHead = { ...HEAD, seq: first.seq, hash: first.hash };
  return [first, sealEvent(head, { kind: 'cancel.settled', body: { unresolved: [] } }, BY)];
}

/** The place and the reason at which the chain with `change` on its second event breaks. */
function brokenBy(change: Partial<Record<keyof RunEvent, unknown>>): string {
  const [first, second] = chain();
  assert.ok(first !== undefined && second !== undefined);
  const verdict = verifyChain(HEAD, [first, { ...second, ...change } as RunEvent]);
  assert.ok(!verdict.ok);
  assert.equal(verdict.seq, 2);
  return verdict.got;
}

test('a chain as it was sealed holds, and its head is its last event', () => {
  const events = chain();
  const verdict = verifyChain(HEAD, events);
  assert.deepEqual(verdict.ok && verdict.head, { ...HEAD, seq: 2, hash: events[1]?.hash });
  assert.deepEqual(verifyChain(HEAD, []), { ok: true, head: HEAD });
});

test('any change to an event is found, named by its place and by what does not hold', () => {
  assert.match(brokenBy({ tenant: 't8' }), /^t8\/run_1/);
  assert.match(brokenBy({ runId: 'run_2' }), /^t9\/run_2/);
  assert.match(brokenBy({ seq: 3 }), /^seq 3/);
  assert.match(brokenBy({ prev: '' }), /^prev /);
  assert.match(brokenBy({ body: { unresolved: [{ stepId: 's1', reason: 'Planted.' }] } }), /^body /);
  assert.match(brokenBy({ actor: 'other' }), /^hash /);
  assert.match(brokenBy({ at: '2026-07-22T15:00:01.000Z' }), /^hash /);
  assert.match(brokenBy({ kind: 'cancel.requested' }), /^hash /);
  assert.match(brokenBy({ bodyDigest: digestOf('other') }), /^body /);
});

test('an event that is missing, repeated or in another order is found', () => {
  const [first, second] = chain();
  assert.ok(first !== undefined && second !== undefined);
  for (const events of [[second], [first, first], [second, first]]) assert.equal(verifyChain(HEAD, events).ok, false);
});

test('a sealed event verifies whatever its actor is called, also where no canonical form exists', () => {
  for (const actor of ['"quoted" \\ é\n', 'ops@t9', '\ud800']) {
    const event = sealEvent(HEAD, { kind: 'cancel.settled', body: { unresolved: [] } }, { ...BY, actor });
    assert.deepEqual(verifyChain(HEAD, [event]).ok, true);
  }
});

test('the text of a body is the same whether this process sealed the event or read it, and says what the body says', () => {
  for (const reason of ['One.', '\ud800']) {
    const event = sealEvent(HEAD, { kind: 'cancel.requested', body: { reason, by: 'requester@t9' } }, BY);
    const read = structuredClone(event);
    assert.equal(bodyText(event), bodyText(read));
    assert.deepEqual(JSON.parse(bodyText(event)), event.body);
    assert.deepEqual(verifyChain(HEAD, [read]).ok, true);
  }
});

const TOMBSTONE = {
  tombstoneId: 'tmb_1',
  scope: 'run',
  cause: { kind: 'policy', policyDigest: digestOf('policy'), olderThanDays: 30 },
  by: 'custodian@t9',
  uptoSeq: 2,
  artifacts: [],
  claims: [],
} as const;

/** The chain without its bodies, and with the tombstone that says so. */
function erased(uptoSeq = 2): RunEvent[] {
  const events = chain();
  const last = events.at(-1);
  assert.ok(last !== undefined);
  const body = { ...TOMBSTONE, uptoSeq, artifacts: [], claims: [] };
  const tombstone = sealEvent({ ...HEAD, seq: last.seq, hash: last.hash }, { kind: 'run.erased', body }, BY);
  const gone = events.map((event): RunEvent => {
    const { kind } = event;
    return { ...event, kind: 'body.erased', body: { kind, tombstoneId: 'tmb_1' } };
  });
  return [...gone, tombstone];
}

test('a chain whose bodies a tombstone took holds; without the tombstone, or beyond it, they are missing: INV-11', () => {
  assert.equal(verifyChain(HEAD, erased()).ok, true);
  const without = verifyChain(HEAD, erased().slice(0, 2));
  assert.deepEqual([without.ok, !without.ok && without.seq], [false, 1]);
  const beyond = verifyChain(HEAD, erased(1));
  assert.ok(!beyond.ok && beyond.seq === 2 && /no tombstone/.test(beyond.got));
});

test('an erased event is still the one that was sealed: its kind, time and place cannot be changed: INV-11', () => {
  const [first, second, tombstone] = erased();
  assert.ok(first?.kind === 'body.erased' && second !== undefined && tombstone !== undefined);
  const other = { ...first, body: { ...first.body, kind: 'run.ended' } };
  assert.equal(verifyChain(HEAD, [other, second, tombstone]).ok, false);
  assert.equal(verifyChain(HEAD, [{ ...first, at: '2026-07-22T15:00:09.000Z' }, second, tombstone]).ok, false);
});
