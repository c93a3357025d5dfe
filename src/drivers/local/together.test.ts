import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunRef } from '#contracts/command.ts';
import type { RunEvent } from '#contracts/event.ts';
import { verifyChain } from '#kernel/chain.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { seededIds } from '#testing/seeded-ids.ts';
import {
  TRIVIAL_STEPS,
  trivialDeliver,
  trivialDispatch,
  trivialPropose,
  trivialReceive,
} from '#testing/trivial-run.ts';
import { createLocalDriver } from './local-driver.ts';
import { createMailboxes } from './mailbox.ts';

const REF: RunRef = { tenant: 't9', runId: 'run_together' };

test('what is queued one after the other is handed over together and answered one by one, in order', async () => {
  const boxes = createMailboxes();
  const handed: string[] = [];
  const put = (item: string): Promise<string> =>
    boxes.enqueueTogether('run', item, async (items: readonly string[]) => {
      handed.push(items.join(''));
      return items.map((one) => one.toUpperCase());
    });
  const answers = [put('a'), put('b'), boxes.enqueue('run', async () => handed.push('-')), put('c'), put('d')];
  assert.deepEqual(await Promise.all(answers), ['A', 'B', 2, 'C', 'D']);
  assert.deepEqual(handed, ['ab', '-', 'cd']);
  await Promise.all(Array.from({ length: 130 }, (_, index) => put(`${index % 10}`)));
  assert.deepEqual(
    handed.slice(3).map((items) => items.length),
    [64, 64, 2],
  );
});

test('a failure is that of all that were handed over together, and of nobody after them', async () => {
  const boxes = createMailboxes();
  let failing = true;
  const put = (item: string): Promise<string> =>
    boxes.enqueueTogether('run', item, async (items: readonly string[]) => {
      if (failing) throw new Error('no');
      return items;
    });
  const first = await Promise.allSettled([put('a'), put('b')]);
  assert.deepEqual(
    first.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  failing = false;
  assert.equal(await put('c'), 'c');
});

test('results that come side by side share one commit, and the log is that of one after the other', async () => {
  const clock = seededClock(Date.parse('2026-07-22T14:00:00.000Z'));
  const ids = seededIds(7);
  await using store = openSqliteStore({ path: ':memory:', clock });
  await using driver = createLocalDriver({ store, clock, ids, owner: 'together' });
  const commits: (readonly RunEvent[])[] = [];
  store.onCommit((events) => commits.push(events));
  driver.register('central', {
    prepare: ({ ref }, todo, at) => {
      if (todo.kind === 'plan') return { command: trivialPropose(at), records: [] };
      return todo.kind === 'dispatch' ? trivialDispatch(ref, todo, { at, ids }) : undefined;
    },
    perform: async ({ ref, todo }, state) => {
      if (todo.kind !== 'send') return;
      const delivered = await driver.deliver(ref, trivialDeliver(state, todo, { at: clock.now(), ids }));
      assert.ok(delivered.ok);
      const settled = delivered.events.filter(({ kind }) => kind === 'step.settled');
      assert.deepEqual(
        settled.map(({ body }) => (body as { result: { stepId: string } }).result.stepId),
        [todo.stepId],
        'each is answered with its own events',
      );
    },
  });
  await driver.deliver(REF, trivialReceive(clock.now()));
  assert.equal((await driver.settled(REF)).result, 'completed');
  const settledIn = commits.map((events) => events.filter(({ kind }) => kind === 'step.settled').length);
  assert.ok(Math.max(...settledIn) > 1, `settled in each commit: ${settledIn.join(', ')}`);
  assert.equal(
    settledIn.reduce((sum, count) => sum + count),
    TRIVIAL_STEPS.length,
  );
  const events = await store.events(REF, 0, 1_000);
  assert.deepEqual(events, commits.flat());
  assert.ok(verifyChain({ ref: REF, seq: 0, hash: '' }, events).ok);
  assert.equal(events.filter(({ kind }) => kind === 'artifact.accepted').length, TRIVIAL_STEPS.length);
});

test('of commands that come together one may be refused without harm to the others', async () => {
  const clock = seededClock(Date.parse('2026-07-22T14:00:00.000Z'));
  await using store = openSqliteStore({ path: ':memory:', clock });
  await using driver = createLocalDriver({ store, clock, ids: seededIds(8), owner: 'together' });
  const at = clock.now();
  const [first, again, cancelled, nothing] = await Promise.all([
    driver.deliver(REF, trivialReceive(at, true)),
    driver.deliver(REF, trivialReceive(at, true)),
    driver.deliver(REF, { kind: 'cancel', at, actor: 'requester@t9', reason: 'Enough.' }),
    driver.deliver({ ...REF, runId: 'run_none' }, { kind: 'tick', at, actor: 'time' }),
  ]);
  assert.deepEqual(first.ok && first.events.map(({ kind }) => kind), ['run.received', 'run.blocked']);
  assert.equal(!again.ok && again.error.code, 'ERR_STATE');
  assert.ok(cancelled.ok && cancelled.events.some(({ kind }) => kind === 'run.ended'));
  assert.equal(!nothing.ok && nothing.error.code, 'ERR_NOT_FOUND');
  assert.equal((await driver.state(REF))?.phase, 'ended');
});
