import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CaseOpsError } from '#contracts/error.ts';
import type { Store } from '#ports/store.ts';
import { trivialReceive } from '#testing/trivial-run.ts';
import { openWorld } from '../suite-world.ts';
import { localSubject } from './suite-subject.ts';

/** The nth commit is durable, and whoever asked for it is told of an error. */
const losingAnswer =
  (nth: number) =>
  (store: Store): Store => {
    let count = 0;
    return {
      ...store,
      commit: async (commit) => {
        const outcome = await store.commit(commit);
        if (++count === nth) throw new CaseOpsError('ERR_STORE', 'The answer was lost.', { at: 'store' });
        return outcome;
      },
    };
  };

it('finds the runs again that it took when the taking was durable and answered with an error', async () => {
  await using place = await localSubject();
  const first = await openWorld(place, { owner: 'process-a', perform: () => new Promise(() => undefined) });
  const ref = await first.open();
  let lost = false;
  const store = (of: Store): Store => ({
    ...of,
    takeOpenRuns: async (level, by, limit) => {
      const taken = await of.takeOpenRuns(level, by, limit);
      if (taken.length === 0 || lost) return taken;
      lost = true;
      throw new CaseOpsError('ERR_STORE', 'The answer was lost.', { at: 'store' });
    },
  });
  await using second = await openWorld(place, { owner: 'process-b', store, clock: first.clock });
  await first.store[Symbol.asyncDispose]();
  await second.driver.resume('central');
  for (let turn = 0; turn < 300; turn++) await second.clock.advance(100);
  assert.equal(lost, true);
  assert.equal((await second.driver.state(ref))?.phase, 'ended');
});

describe('a write that is durable and was answered with an error', () => {
  it('opens a run that goes on here without another command', async () => {
    await using place = await localSubject();
    await using world = await openWorld(place, { store: losingAnswer(1) });
    const ref = { tenant: 't9', runId: world.ids.next('run') };
    await assert.rejects(world.driver.deliver(ref, trivialReceive(world.clock.now())), { code: 'ERR_STORE' });
    for (let turn = 0; turn < 30; turn++) await world.clock.advance(100);
    assert.equal((await world.driver.state(ref))?.phase, 'ended');
  });

  it('is not looked at by a process that has shut down', async () => {
    await using place = await localSubject();
    const world = await openWorld(place, { store: losingAnswer(1) });
    const ref = { tenant: 't9', runId: world.ids.next('run') };
    await assert.rejects(world.driver.deliver(ref, trivialReceive(world.clock.now())));
    await world.driver.drain();
    assert.equal(world.clock.armedCount, 0);
    await world[Symbol.asyncDispose]();
  });
});
