/** The driver suite's part about several processes: one holds a run, another takes over when the first gives no sign of life. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { RunRef } from '#contracts/command.ts';
import type { RunId } from '#contracts/ids.ts';
import {
  assertCompleted,
  clockOf,
  type DriverSubject,
  LOCK_TTL_MS,
  ofKind,
  openWorld,
  START_MS,
  until,
  untilAborted,
  type WorldOptions,
} from './suite-world.ts';

type On = (title: string, body: (place: DriverSubject) => Promise<void>) => void;

const SETTLED_COUNT_BEFORE_KILL = 150;
/** Works until it is told to stop, and then says nothing. */
const stuck: NonNullable<WorldOptions['perform']> = (_, __, ___, signal) => untilAborted(signal);

/** Registers the tests under the suite's name. */
export function takeoverSuite(on: On): void {
  holdTests(on);
  crashTests(on);
}

function holdTests(on: On): void {
  on('a run of a live process can be read and waited for, and not written, by another', async (place) => {
    const clock = clockOf(place);
    let stopped = false;
    await using one = await openWorld(place, {
      clock,
      perform: async (own, { ref, todo }, state) => {
        await until(() => stopped);
        if (todo.kind === 'send') await own.finish(ref, todo, state);
      },
    });
    await using two = await openWorld(place, { owner: 'process-b', clock });
    const ref = await one.open();
    assert.equal((await two.driver.state(ref))?.phase, 'running');
    const refused = await two.driver.deliver(ref, { kind: 'tick', at: clock.now(), actor: 'supervisor' });
    assert.equal(!refused.ok && refused.error.code, 'ERR_FENCE');
    assert.equal(await two.driver.resume('central'), 0);
    const seen = two.driver.settled(ref);
    stopped = true;
    await one.driver.settled(ref);
    await clock.advance(300);
    assert.equal((await seen).result, 'completed');
  });

  on('a process that was silent too long loses its run and its jobs; the other goes on', async (place) => {
    const clock = clockOf(place);
    await using one = await openWorld(place, { clock, perform: stuck });
    const ref = await one.open();
    // Nothing is called back: as if the process had been stopped.
    clock.jump(LOCK_TTL_MS);
    await using two = await openWorld(place, { owner: 'process-b', clock });
    assert.equal(await two.driver.resume('central'), 1);
    const refused = await one.driver.deliver(ref, { kind: 'tick', at: clock.now(), actor: 'supervisor' });
    assert.equal(!refused.ok && refused.error.code, 'ERR_FENCE');
    await two.driver.settled(ref);
    await assertCompleted(two, ref);
    const [recovered] = ofKind(await two.log(ref), 'run.recovered');
    assert.equal(recovered?.body.pausedMs, LOCK_TTL_MS);
    assert.equal(recovered?.body.fence, 2);
  });

  on(
    'a drained process gives its runs up at once; their jobs are performed again under the same dispatch',
    async (place) => {
      const clock = clockOf(place);
      const one = await openWorld(place, { clock, perform: stuck });
      const ref = await one.open();
      await one[Symbol.asyncDispose]();
      await using two = await openWorld(place, { owner: 'process-b', clock });
      assert.equal(await two.driver.resume('central'), 1);
      await two.driver.settled(ref);
      await assertCompleted(two, ref);
      assert.equal(two.performed[0], 'send:first:1');
      assert.equal(ofKind(await two.log(ref), 'step.dispatched').length, 6);
    },
  );

  on('of two processes that resume at once, each run goes to one', async (place) => {
    const clock = clockOf(place);
    const refs: RunRef[] = [];
    {
      await using one = await openWorld(place, { clock, perform: stuck });
      for (let count = 0; count < 20; count++) refs.push(await one.open());
    }
    await using two = await openWorld(place, { owner: 'process-b', clock });
    await using three = await openWorld(place, { owner: 'process-c', clock });
    const [byTwo, byThree] = await Promise.all([two.driver.resume('central'), three.driver.resume('central')]);
    assert.equal(byTwo + byThree, refs.length);
    for (const ref of refs) {
      await Promise.all(
        [two, three].map(({ driver }) => until(async () => (await driver.state(ref))?.phase === 'ended')),
      );
      await assertCompleted(two, ref);
      assert.equal(ofKind(await two.log(ref), 'run.recovered').length, 1);
    }
  });

  on('a process that resumes goes on taking over what others leave behind later', async (place) => {
    const clock = clockOf(place);
    await using two = await openWorld(place, { owner: 'process-b', clock });
    assert.equal(await two.driver.resume('central'), 0);
    const one = await openWorld(place, { clock, perform: stuck });
    const ref = await one.open();
    await one.driver.drain();
    await clock.advance(LOCK_TTL_MS);
    await two.driver.settled(ref);
    await assertCompleted(two, ref);
    await one[Symbol.asyncDispose]();
  });
}

function crashTests(on: On): void {
  on('after SIGKILL every run is completed by another process, each step settled once', async (place) => {
    const opened = await killAfter(place.crashChild, SETTLED_COUNT_BEFORE_KILL);
    const clock = clockOf(place, START_MS + LOCK_TTL_MS + 1_000);
    await using world = await openWorld(place, { owner: 'process-b', clock });
    const open = (await world.store.openRuns('central', 1_000)).length;
    assert.ok(open > 0, 'the kill came between two runs');
    assert.equal(await world.driver.resume('central'), open);
    for (const runId of opened) {
      const ref = { tenant: 't9', runId };
      await world.driver.settled(ref);
      await assertCompleted(world, ref);
    }
    assert.ok(opened.length > 1);
  });
}

/** The runs that were acknowledged as opened when the process was killed. */
async function killAfter(child: DriverSubject['crashChild'], settledCount: number): Promise<readonly RunId[]> {
  const running = spawn(process.execPath, [...process.execArgv, child.script.pathname, ...child.args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(running, 'exit');
  const opened: RunId[] = [];
  let count = 0;
  for await (const line of createInterface({ input: running.stdout })) {
    if (line.startsWith('run_')) opened.push(line as RunId);
    else if (++count === settledCount) running.kill('SIGKILL');
  }
  const [, signal] = (await exited) as [number | null, string | null];
  assert.equal(signal, 'SIGKILL');
  return opened;
}
