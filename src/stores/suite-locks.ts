/** The store suite's part about run locks: one live owner at a time, and a fence against the one before. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Store } from '#ports/store.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { commitOf, committed, OWNER, refOf, START_MS } from './suite-samples.ts';
import type { StoreSubject } from './suite-subject.ts';

const LOCK_TTL_MS = 10_000;

/** Registers the tests of run locks. */
export function lockSuite(name: string, subject: () => Promise<StoreSubject>): void {
  const withClock = (
    title: string,
    body: (store: Store, clock: ReturnType<typeof seededClock>) => Promise<void>,
  ): void => {
    test(`${name}: ${title}`, async () => {
      await using place = await subject();
      const clock = seededClock(START_MS);
      await using store = await place.open(clock);
      await body(store, clock);
    });
  };

  withClock(
    'a live owner keeps its run; after its time another takes over and the first can no longer write',
    async (store, clock) => {
      const ref = refOf('lock');
      await store.heartbeat(OWNER, LOCK_TTL_MS);
      const after = await committed(store, commitOf(ref));
      assert.equal(await store.takeLock(ref, 'process-b', LOCK_TTL_MS), undefined);
      await clock.advance(LOCK_TTL_MS);
      const lastSeenAt = new Date(START_MS).toISOString();
      assert.deepEqual(await store.takeLock(ref, 'process-b', LOCK_TTL_MS), { fence: 2, lastSeenAt });
      assert.deepEqual(await store.commit(commitOf(ref, { after })), { ok: false, conflict: 'fence', actualFence: 2 });
      await committed(store, commitOf(ref, { after, fence: 2, owner: 'process-b' }));
      assert.equal(await store.takeLock(ref, OWNER, LOCK_TTL_MS), undefined);
    },
  );

  withClock('a heartbeat keeps every run of its owner; a life of 0 ms gives them all up', async (store, clock) => {
    await store.heartbeat(OWNER, LOCK_TTL_MS);
    await committed(store, commitOf(refOf('beat-1')));
    await committed(store, commitOf(refOf('beat-2')));
    await clock.advance(LOCK_TTL_MS - 1);
    await store.heartbeat(OWNER, LOCK_TTL_MS);
    await clock.advance(LOCK_TTL_MS - 1);
    assert.equal(await store.takeLock(refOf('beat-1'), 'process-b', LOCK_TTL_MS), undefined);
    await store.heartbeat(OWNER, 0);
    assert.equal((await store.takeLock(refOf('beat-1'), 'process-b', LOCK_TTL_MS))?.fence, 2);
    assert.equal((await store.takeLock(refOf('beat-2'), 'process-b', LOCK_TTL_MS))?.fence, 2);
  });

  withClock(
    'an owner that takes its own run again gets a higher fence, so that its older self is fenced off',
    async (store) => {
      const ref = refOf('again');
      await store.heartbeat(OWNER, LOCK_TTL_MS);
      const after = await committed(store, commitOf(ref));
      assert.equal((await store.takeLock(ref, OWNER, LOCK_TTL_MS))?.fence, 2);
      assert.equal((await store.commit(commitOf(ref, { after }))).ok, false);
      await committed(store, commitOf(ref, { after, fence: 2 }));
    },
  );

  withClock('of owners that take an expired lock at once, one gets it', async (store) => {
    const ref = refOf('race');
    await committed(store, commitOf(ref));
    const owners = ['b', 'c', 'd', 'e'];
    const taken = await Promise.all(owners.map((owner) => store.takeLock(ref, owner, LOCK_TTL_MS)));
    assert.equal(taken.filter((lock) => lock !== undefined).length, 1);
  });

  withClock(
    'ready runs are taken oldest first, and neither those of the living nor ended ones',
    async (store, clock) => {
      await store.heartbeat('dead', LOCK_TTL_MS);
      const opened = ['a', 'b', 'c', 'd'].entries();
      for (const [index, run] of opened)
        await committed(
          store,
          commitOf(refOf(run), { owner: 'dead', startedAt: `2026-07-22T14:00:0${9 - index}.000Z` }),
        );
      await committed(store, commitOf(refOf('over'), { owner: 'dead', phase: 'ended' }));
      await committed(store, commitOf(refOf('team'), { owner: 'dead', level: 'team' }));
      const take = (owner: string, limit: number): ReturnType<Store['takeOpenRuns']> =>
        store.takeOpenRuns('central', { owner, ttlMs: LOCK_TTL_MS }, limit);
      assert.deepEqual(await take('process-b', 10), []);
      await clock.advance(LOCK_TTL_MS);
      const taken = await take('process-b', 3);
      assert.deepEqual(
        taken.map(({ head }) => head.ref.runId),
        ['run_d', 'run_c', 'run_b'],
      );
      const [first] = taken;
      assert.deepEqual(first?.lock, { fence: 2, lastSeenAt: new Date(START_MS).toISOString() });
      assert.deepEqual(first?.head, await store.head(refOf('d')));
      assert.deepEqual(
        (await take('process-b', 10)).map(({ head }) => head.ref.runId),
        ['run_a'],
      );
      assert.deepEqual(await take('process-b', 10), [], 'what it holds is not taken again');
      assert.deepEqual(await take('process-c', 10), [], 'who took is alive');
    },
  );

  test(`${name}: of processes that take ready runs at once, each run goes to one`, async () => {
    await using place = await subject();
    const clock = seededClock(START_MS);
    await using one = await place.open(clock);
    await using two = await place.open(clock);
    const names = Array.from({ length: 40 }, (_, index) => `ready-${index}`);
    for (const ready of names) await committed(one, commitOf(refOf(ready), { owner: 'dead' }));
    const takers = [one, two, one, two].map((store, index) => [store, `taker-${index}`] as const);
    const taken = await Promise.all(
      takers.map(async ([store, owner]) => {
        const runs: string[] = [];
        for (;;) {
          const some = await store.takeOpenRuns('central', { owner, ttlMs: LOCK_TTL_MS }, 7);
          if (some.length === 0) return runs;
          runs.push(...some.map(({ head }) => head.ref.runId));
        }
      }),
    );
    assert.deepEqual(taken.flat().toSorted(), names.map((ready) => `run_${ready}`).toSorted());
  });

  withClock('a run that nobody opened can be locked for opening', async (store) => {
    assert.deepEqual(await store.takeLock(refOf('new'), OWNER, LOCK_TTL_MS), { fence: 1, lastSeenAt: undefined });
    await committed(store, commitOf(refOf('new')));
    assert.equal(await store.takeLock(refOf('new'), 'process-b', LOCK_TTL_MS), undefined);
  });
}
