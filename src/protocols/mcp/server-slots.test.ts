import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededClock } from '#testing/seeded-clock.ts';
import { createServerSlots } from './server-slots.ts';

const patient = { msMax: 1_000, signal: new AbortController().signal };
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('calls over the bound wait in order of coming, each server for itself', async () => {
  const slots = createServerSlots({ callsInFlightMax: 1, perServer: {}, callsWaitingMax: 2 }, seededClock(0));
  const order: string[] = [];
  const taking = ['a', 'b', 'c'].map((name) =>
    slots.take('one', patient).then((taken) => order.push(`${name} ${taken}`)),
  );
  assert.equal(await slots.take('two', patient), true);
  await settle();
  assert.deepEqual(order, ['a true']);
  slots.give('one');
  await settle();
  assert.deepEqual(order, ['a true', 'b true']);
  slots.give('one');
  await Promise.all(taking);
  assert.deepEqual(order, ['a true', 'b true', 'c true']);
});

test('who finds the line full, or waits too long, is told so; an aborted wait leaves the line', async () => {
  const clock = seededClock(0);
  const slots = createServerSlots({ callsInFlightMax: 1, perServer: {}, callsWaitingMax: 2 }, clock);
  await slots.take('one', patient);
  const stop = new AbortController();
  const aborted = slots.take('one', { msMax: 500, signal: stop.signal });
  const late = slots.take('one', patient);
  assert.equal(await slots.take('one', patient), false);
  stop.abort(new Error('no longer needed'));
  await assert.rejects(aborted, /no longer needed/);
  await clock.advance(1_000);
  assert.equal(await late, false);
  await assert.rejects(slots.take('one', { msMax: 500, signal: stop.signal }), /no longer needed/);
  slots.give('one');
  assert.equal(await slots.take('one', patient), true);
});

test('a server has the bound that is named for it, the others the common one', async () => {
  const limits = { callsInFlightMax: 1, perServer: { big: 3 }, callsWaitingMax: 0 };
  const slots = createServerSlots(limits, seededClock(0));
  const taken = async (server: string): Promise<readonly boolean[]> =>
    Promise.all([1, 2, 3, 4].map(() => slots.take(server, patient)));
  assert.deepEqual(await taken('big'), [true, true, true, false]);
  assert.deepEqual(await taken('constructor'), [true, false, false, false]);
});
