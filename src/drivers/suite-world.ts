/** What the driver suite's tests share: a place for data, a driver on it, and handlers that do nothing, step by step. */
import assert from 'node:assert/strict';
import type { JobTodo, RunRef } from '#contracts/command.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import type { EventKind, RunEvent } from '#contracts/event.ts';
import { verifyChain } from '#kernel/chain.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { Clock } from '#ports/clock.ts';
import type { Driver, RunHandlers } from '#ports/driver.ts';
import type { Ids } from '#ports/ids.ts';
import type { Store } from '#ports/store.ts';
import { type SeededClock, seededClock } from '#testing/seeded-clock.ts';
import { seededIds } from '#testing/seeded-ids.ts';
import {
  trivialDeliver,
  trivialDispatch,
  trivialPropose,
  trivialReceive,
  TRIVIAL_STEPS,
} from '#testing/trivial-run.ts';

export const START_MS = Date.UTC(2026, 6, 22, 14);
export const LOCK_TTL_MS = 10_000;

interface DriverParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly owner: string;
  readonly lockTtlMs: number;
  readonly onError: (error: ErrorRecord) => void;
}

/** What a driver implementation gives to the suite: an empty place for one test's data. */
export interface DriverSubject extends AsyncDisposable {
  openStore(clock: Clock): Promise<Store>;
  createDriver(parts: DriverParts): Driver<RunState>;
  /** Waited for whenever time moves: for a store that takes real time. */
  readonly quiet?: () => Promise<void>;
  /** A script that opens the same place and runs `runUntilKilled`. */
  readonly crashChild: { readonly script: URL; readonly args: readonly string[] };
}

type Send = Extract<JobTodo, { readonly kind: 'send' }>;
type Handlers = RunHandlers<RunState>;

export interface WorldOptions {
  readonly owner?: string;
  readonly clock?: SeededClock;
  /** Wraps the store, to let it fail. */
  readonly store?: (store: Store) => Store;
  readonly prepare?: Handlers['prepare'];
  readonly perform?: (world: World, ...args: Parameters<Handlers['perform']>) => Promise<void>;
}

export interface World extends AsyncDisposable {
  readonly clock: SeededClock;
  readonly ids: Ids;
  readonly store: Store;
  readonly driver: Driver<RunState>;
  /** Failures that no caller was told of. */
  readonly errors: ErrorRecord[];
  /** `jobId` of every try, in order. */
  readonly performed: string[];
  /** Opens a run and returns its name. */
  open(): Promise<RunRef>;
  /** Reports a step as done. */
  finish(ref: RunRef, todo: Send, state: RunState): Promise<void>;
  /** All events of a run, whose chain holds. */
  log(ref: RunRef): Promise<readonly RunEvent[]>;
}

/** A clock for processes on this place. */
export function clockOf({ quiet }: DriverSubject, startMs = START_MS): SeededClock {
  return seededClock(startMs, quiet === undefined ? {} : { quiet });
}

/** Another process on the same place, under its own owner. */
export async function openWorld(place: DriverSubject, options: WorldOptions = {}): Promise<World> {
  const owner = options.owner ?? 'process-a';
  const clock = options.clock ?? clockOf(place);
  const ids = seededIds(owner);
  const opened = await place.openStore(clock);
  const store = options.store?.(opened) ?? opened;
  const errors: ErrorRecord[] = [];
  const driver = place.createDriver({
    store,
    clock,
    ids,
    owner,
    lockTtlMs: LOCK_TTL_MS,
    onError: (error) => errors.push(error),
  });
  const performed: string[] = [];
  const world: World = {
    clock,
    ids,
    store,
    driver,
    errors,
    performed,
    open: async () => {
      const ref = { tenant: 't9', runId: ids.next('run') };
      const opening = await driver.deliver(ref, trivialReceive(clock.now()));
      assert.ok(opening.ok, JSON.stringify(opening));
      return ref;
    },
    finish: async (ref, todo, state) => {
      await driver.deliver(ref, trivialDeliver(state, todo, { at: clock.now(), ids }));
    },
    log: async (ref) => {
      const events = await store.events(ref, 0, 10_000);
      assert.deepEqual(verifyChain({ ref, seq: 0, hash: '' }, events).ok, true);
      return events;
    },
    [Symbol.asyncDispose]: async () => {
      await driver[Symbol.asyncDispose]();
      await opened[Symbol.asyncDispose]();
    },
  };
  driver.register('central', handlersOf(world, options));
  return world;
}

/** Plans and dispatches in the same transaction; a sent step is done at once. */
function handlersOf(world: World, options: WorldOptions): Handlers {
  const { clock, ids, performed } = world;
  return {
    prepare:
      options.prepare ??
      (({ ref }, todo, at) => {
        if (todo.kind === 'plan') return { command: trivialPropose(at), records: [] };
        return todo.kind === 'dispatch' ? trivialDispatch(ref, todo, { at, ids }) : undefined;
      }),
    perform: async (job, state, signal) => {
      performed.push(job.jobId);
      if (options.perform !== undefined) return options.perform(world, job, state, signal);
      if (job.todo.kind === 'send') await world.finish(job.ref, job.todo, state);
      else assert.fail(`no other job was expected than send, at ${clock.now()}: ${job.jobId}`);
    },
  };
}

/** Resolves when the signal is aborted: a step that works until it is told to stop. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Resolves when `condition` holds; looks after each turn of the event loop, at most 10,000 times. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 10_000; turn++) {
    if (await condition()) return;
    await new Promise((resolve) => void setImmediate(resolve));
  }
  assert.fail('what was waited for did not come within 10,000 turns');
}

/** The events of a kind. */
export function ofKind<K extends EventKind>(
  events: readonly RunEvent[],
  kind: K,
): readonly Extract<RunEvent, { readonly kind: K }>[] {
  return events.filter((event): event is Extract<RunEvent, { readonly kind: K }> => event.kind === kind);
}

/** The run completed and each step was settled exactly once. */
export async function assertCompleted(world: World, ref: RunRef): Promise<void> {
  const events = await world.log(ref);
  assert.equal(ofKind(events, 'run.ended')[0]?.body.result, 'completed');
  const settled = ofKind(events, 'step.settled').map(({ body }) => body.result.stepId);
  assert.deepEqual(settled.toSorted(), [...TRIVIAL_STEPS].toSorted());
  assert.deepEqual(await world.store.jobs(ref), []);
}
