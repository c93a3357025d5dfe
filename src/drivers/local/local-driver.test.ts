import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { seededIds } from '#testing/seeded-ids.ts';
import {
  trivialDeliver,
  trivialDispatch,
  trivialPropose,
  trivialReceive,
  TRIVIAL_STEPS,
} from '#testing/trivial-run.ts';
import { createLocalDriver } from './local-driver.ts';

test('a run goes from its goal to its end, each step settled once', async () => {
  const clock = seededClock(Date.UTC(2026, 6, 22, 14));
  const ids = seededIds(1);
  await using store = openSqliteStore({ path: ':memory:', clock });
  await using driver = createLocalDriver({ store, clock, ids, owner: 'supervisor' });
  driver.register('central', {
    prepare: ({ ref }, todo, at) => {
      if (todo.kind === 'plan') return { command: trivialPropose(at), records: [] };
      return todo.kind === 'dispatch' ? trivialDispatch(ref, todo, { at, ids }) : undefined;
    },
    perform: async ({ ref, todo }, state) => {
      assert.ok(todo.kind === 'send');
      await driver.deliver(ref, trivialDeliver(state, todo, { at: clock.now(), ids }));
    },
  });
  const ref = { tenant: 't9', runId: ids.next('run') };
  assert.ok((await driver.deliver(ref, trivialReceive(clock.now()))).ok);
  const state = await driver.settled(ref);
  assert.equal(state.result, 'completed');
  const settled = (await store.events(ref, 0, 1_000)).flatMap((event) =>
    event.kind === 'step.settled' ? [event.body.result.stepId] : [],
  );
  assert.deepEqual(settled, TRIVIAL_STEPS);
  assert.deepEqual(await store.jobs(ref), []);
});
