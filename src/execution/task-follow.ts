/**
 * A task's updates, numbered by the events that caused them: a fold over the run's log, so that any process that reads the log gives
 * the same updates under the same numbers, and a stream can be resumed anywhere. Source: PROTOCOLS "A2A" (SSE id = event sequence).
 */
import type { RunEvent } from '#contracts/event.ts';
import { evolveFrom } from '#kernel/evolve.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { Clock } from '#ports/clock.ts';
import type { Store } from '#ports/store.ts';
import type { TaskUpdate } from '#ports/team-door.ts';
import type { OwnTask, TaskReader } from './task-reader.ts';
import { taskError } from './task-view.ts';

const EVENT_PAGE_COUNT = 500;
/** How often the log is read without being told: events of another process are not announced here. */
const POLL_MS = 500;

export interface FollowOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly reader: TaskReader;
}

/** Updates after `afterSeq`; ends after the update that ended the run, and when the signal aborts. */
export async function* followTask(
  { store, clock, reader }: FollowOptions,
  task: OwnTask,
  from: { readonly afterSeq: number; readonly signal: AbortSignal },
): AsyncGenerator<TaskUpdate, void, undefined> {
  const { ref } = task;
  const bell = createBell(clock, from.signal);
  const stop = store.onCommit((_events, head) => {
    if (head.ref.runId === ref.runId && head.ref.tenant === ref.tenant) bell.ring();
  });
  let state: RunState | undefined;
  try {
    while (!from.signal.aborted) {
      const rung = bell.next();
      const events = await store.events(ref, state?.seq ?? 0, EVENT_PAGE_COUNT);
      for (const event of events) {
        const before = state?.phase;
        state = evolveFrom(state, event);
        if (state === undefined) return;
        if (event.seq > from.afterSeq) yield* updatesOf(event, { state, before, reader, task });
        if (state.phase === 'ended') return;
      }
      if (events.length < EVENT_PAGE_COUNT) await rung;
    }
  } finally {
    stop();
    bell.disarm();
  }
}

async function* updatesOf(
  event: RunEvent,
  at: {
    readonly state: RunState;
    readonly before: RunState['phase'] | undefined;
    readonly reader: TaskReader;
    readonly task: OwnTask;
  },
): AsyncGenerator<TaskUpdate, void, undefined> {
  const { state, before, reader, task } = at;
  const numbered = { seq: event.seq, at: event.at };
  if (event.kind === 'step.settled' && event.body.result.artifactRef !== undefined)
    yield { ...numbered, kind: 'artifact', artifact: await reader.artifact(task, event.body.result.artifactRef) };
  if (state.phase === before) return;
  const { phase, result, blocked } = state;
  yield { ...numbered, kind: 'status', phase, result, blocked, error: taskError(state) };
}

interface Bell {
  ring(): void;
  /** Resolves at the next ring, after a while without one, and when the signal aborts. Asked for before looking, it misses none. */
  next(): Promise<void>;
  disarm(): void;
}

function createBell(clock: Clock, signal: AbortSignal): Bell {
  let waiting = Promise.withResolvers<void>();
  let disarm: (() => void) | undefined;
  const ring = (): void => waiting.resolve();
  signal.addEventListener('abort', ring, { once: true });
  return {
    ring,
    next: () => {
      waiting = Promise.withResolvers<void>();
      if (signal.aborted) waiting.resolve();
      disarm?.();
      disarm = clock.at(clock.nowMs() + POLL_MS, ring);
      return waiting.promise;
    },
    disarm: () => {
      disarm?.();
      signal.removeEventListener('abort', ring);
    },
  };
}
