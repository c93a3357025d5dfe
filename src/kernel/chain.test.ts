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
