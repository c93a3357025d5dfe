/** Runs of plan → three side by side → join → signal → write through kernel, driver and a store, with steps that do nothing. */
import type { RunRef } from '#contracts/command.ts';
import { createLocalDriver } from '#drivers/local/local-driver.ts';
import type { Store } from '#ports/store.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { systemIds } from '#runtime/system-ids.ts';
import { trivialDeliver, trivialDispatch, trivialPlan, trivialPropose, trivialReceive } from '#testing/trivial-run.ts';
import type { Engine } from './engine.ts';

/** Step → the steps it waits for. The plan is the run's own first turn; the signal is a step that someone outside settles. */
const PLAN = trivialPlan({ a: [], b: [], c: [], join: ['a', 'b', 'c'], signal: ['join'], write: ['signal'] });

/** What one run leaves behind. */
export interface Trail {
  readonly commitCount: number;
  readonly eventCount: number;
  readonly bytes: number;
}

export interface OwnRuns extends Engine {
  /** Does one run and looks at what it wrote. */
  trail(): Promise<Trail>;
}

/** Takes the store over: it is closed with the runs. */
export function ownRuns(store: Store): OwnRuns {
  const clock = systemClock;
  const ids = systemIds;
  const driver = createLocalDriver({ store, clock, ids, owner: 'bench' });
  const parked = new Map<string, { readonly reached: () => void; readonly signal: Promise<void> }>();
  driver.register('central', {
    prepare: ({ ref }, todo, at) => {
      if (todo.kind === 'plan') return { command: trivialPropose(at, PLAN), records: [] };
      return todo.kind === 'dispatch'
        ? { command: trivialDispatch(ref, todo, { at, ids }).command, records: [] }
        : undefined;
    },
    perform: async ({ ref, todo }, state) => {
      if (todo.kind !== 'send') return;
      const waiting = todo.stepId === 'signal' ? parked.get(ref.runId) : undefined;
      waiting?.reached();
      await waiting?.signal;
      await driver.deliver(ref, trivialDeliver(state, todo, { at: clock.now(), ids }));
    },
  });
  const run = async (): Promise<RunRef> => {
    const ref = { tenant: 't9', runId: ids.next('run') };
    const [reached, signal] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    parked.set(ref.runId, { reached: reached.resolve, signal: signal.promise });
    await driver.deliver(ref, trivialReceive(clock.now()));
    await reached.promise;
    signal.resolve();
    const { result } = await driver.settled(ref);
    parked.delete(ref.runId);
    if (result !== 'completed') throw new Error(`A run ended as ${result}.`);
    return ref;
  };
  return {
    once: async () => void (await run()),
    trail: async () => {
      let commitCount = 0;
      const stop = store.onCommit(() => commitCount++);
      const ref = await run();
      stop();
      const events = await store.events(ref, 0, 1_000);
      return { commitCount, eventCount: events.length, bytes: JSON.stringify(events).length };
    },
    [Symbol.asyncDispose]: async () => {
      await driver[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}
