import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { RunRef } from '#contracts/command.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { RunId } from '#contracts/ids.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { createAdmissionQueue, type AdmissionLimits, type AdmissionQueue } from './admission-queue.ts';

const ref = (tenant: string, index: number): RunRef => ({ tenant, runId: `run_${tenant}-${index}` as RunId });
const never = new AbortController().signal;

function opened(limits: Partial<AdmissionLimits>, clock = seededClock(0)): AdmissionQueue {
  const all = { runsInFlightMax: 2, runsInFlightPerTenantMax: 2, queueLengthMax: 100, ...limits };
  const queue = createAdmissionQueue(all, clock);
  queue.open();
  return queue;
}

/** Notes in which order turns come. */
function watch(queue: AdmissionQueue, refs: readonly RunRef[]): string[] {
  const order: string[] = [];
  for (const one of refs) void queue.turn(one, never).then(() => order.push(one.runId));
  return order;
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('turns go round the tenants, and first come first served within one', async () => {
  const queue = opened({ runsInFlightMax: 1 });
  const big = [0, 1, 2, 3].map((index) => ref('big', index));
  const small = [0, 1].map((index) => ref('small', index));
  const all = [...big, ...small];
  const entered = all.map((one) => queue.enter(one).queue?.aheadCount);
  assert.deepEqual(entered, [undefined, 0, 1, 2, 0, 1]);
  const order = watch(queue, all);
  for (let turn = 0; turn < all.length; turn++) {
    await settle();
    const last = all.find(({ runId }) => runId === order.at(-1));
    if (last !== undefined) queue.leave(last);
  }
  await settle();
  assert.deepEqual(order, ['run_big-0', 'run_big-1', 'run_small-0', 'run_big-2', 'run_small-1', 'run_big-3']);
});

test('a tenant has at most its share in flight, and leaves the rest to others', () => {
  const queue = opened({ runsInFlightMax: 4, runsInFlightPerTenantMax: 2 });
  for (let index = 0; index < 4; index++) queue.enter(ref('big', index));
  assert.deepEqual([queue.inFlightCount, queue.waitingCount], [2, 2]);
  assert.equal(queue.enter(ref('small', 0)).queue, undefined);
});

test('a tenant with a share of its own has that one, the others the common one', () => {
  const queue = opened({
    runsInFlightMax: 8,
    runsInFlightPerTenantMax: 1,
    tenants: { big: { runsInFlightMax: 3 }, odd: {} },
  });
  for (let index = 0; index < 4; index++) for (const tenant of ['big', 'small', 'odd']) queue.enter(ref(tenant, index));
  assert.deepEqual([queue.inFlightCount, queue.waitingCount], [5, 7]);
});

test('a full queue refuses with when to come back, and still has a place for a tenant that has none waiting', async () => {
  const clock = seededClock(0);
  const queue = opened({ runsInFlightMax: 1, queueLengthMax: 6 }, clock);
  let taken = 0;
  const refusal = ((): unknown => {
    for (;;)
      try {
        queue.enter(ref('big', taken));
        taken++;
      } catch (error) {
        return error;
      }
  })();
  assert.ok(refusal instanceof CaseOpsError);
  assert.deepEqual([refusal.code, refusal.retryable, refusal.detail['retryAfterMs']], ['ERR_QUEUE_FULL', true, 1_000]);
  assert.deepEqual([queue.inFlightCount, queue.waitingCount], [1, 3]);
  queue.enter(ref('small', 0));
  assert.equal(queue.waitingCount, 4);
  await clock.advance(100_000);
  queue.leave(ref('big', 0));
  await clock.advance(100_000);
  queue.enter(ref('big', 98));
  assert.throws(
    () => queue.enter(ref('big', 99)),
    (error) => {
      assert.ok(error instanceof CaseOpsError);
      return error.detail['retryAfterMs'] === 30_000;
    },
  );
});

test('a place is given back once, by leaving or by the head of a run that ended or waits for a person', async () => {
  const queue = opened({ runsInFlightMax: 1 });
  const [first, second, third] = [ref('t', 0), ref('t', 1), ref('t', 2)];
  for (const one of [first, second, third]) queue.enter(one);
  queue.note({ ref: first, level: 'central', phase: 'running' });
  queue.note({ ref: first, level: 'team', phase: 'ended' });
  assert.equal(queue.waitingCount, 2);
  queue.note({ ref: first, level: 'central', phase: 'blocked' });
  queue.leave(first);
  await queue.turn(second, never);
  assert.deepEqual([queue.inFlightCount, queue.waitingCount], [1, 1]);
  // Unblocked by people it goes on at once, over the bound; nobody else begins until there is room.
  queue.note({ ref: first, level: 'central', phase: 'running' });
  queue.note({ ref: second, level: 'central', phase: 'ended' });
  assert.deepEqual([queue.inFlightCount, queue.waitingCount], [1, 1]);
  queue.note({ ref: first, level: 'central', phase: 'ended' });
  await queue.turn(third, never);
});

test('a run that leaves while it waits is passed over, and a wait ends with its signal', async () => {
  const queue = opened({ runsInFlightMax: 1 });
  const [first, second, third] = [ref('t', 0), ref('t', 1), ref('t', 2)];
  for (const one of [first, second, third]) queue.enter(one);
  const stop = new AbortController();
  const waiting = queue.turn(second, stop.signal);
  stop.abort(new Error('cancelled'));
  await assert.rejects(waiting, /cancelled/);
  queue.leave(second);
  queue.leave(first);
  await queue.turn(third, never);
  assert.deepEqual([queue.inFlightCount, queue.waitingCount], [1, 0]);
});

test('after a restart, the runs that worked are counted before any turn comes', async () => {
  const limits = { runsInFlightMax: 1, runsInFlightPerTenantMax: 1, queueLengthMax: 5 };
  const queue = createAdmissionQueue(limits, seededClock(0));
  const order = watch(queue, [ref('t', 0), ref('t', 1)]);
  assert.deepEqual(queue.enter(ref('u', 2)).queue, { aheadCount: 0 });
  queue.occupy(ref('t', 9));
  queue.open();
  await settle();
  assert.deepEqual(order, []);
  queue.leave(ref('t', 9));
  await settle();
  assert.deepEqual(order, ['run_t-0']);
});

test('whatever comes and goes, the bounds hold and nobody is lost', async () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.boolean()), { maxLength: 200 });
  await fc.assert(
    fc.asyncProperty(steps, async (coming) => {
      const queue = opened({ runsInFlightMax: 3, runsInFlightPerTenantMax: 2, queueLengthMax: 10 });
      const works: RunRef[] = [];
      const taken = new Set<string>();
      for (const [index, [tenant, leaves]] of coming.entries()) {
        const one = ref(tenant, index);
        try {
          queue.enter(one);
          taken.add(one.runId);
          void queue.turn(one, never).then(() => works.push(one));
        } catch (error) {
          assert.ok(error instanceof CaseOpsError && error.code === 'ERR_QUEUE_FULL');
        }
        await settle();
        assert.ok(queue.inFlightCount <= 3 && queue.waitingCount <= 10);
        const first = leaves ? works.shift() : undefined;
        if (first !== undefined) {
          taken.delete(first.runId);
          queue.leave(first);
        }
      }
      while (taken.size > 0) {
        await settle();
        const next = works.shift();
        assert.ok(next !== undefined, `${taken.size} runs never had their turn`);
        taken.delete(next.runId);
        queue.leave(next);
      }
      assert.deepEqual([queue.inFlightCount, queue.waitingCount], [0, 0]);
    }),
    { numRuns: 50 },
  );
});
