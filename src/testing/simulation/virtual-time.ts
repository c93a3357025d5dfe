/**
 * Time of a simulated world: a queue of what is due. One thing happens at a time; what it sets in motion comes to rest before the next.
 * Things due at the same instant happen in an order that the seed throws. No timer of the machine is used. Source: ENGINE "simulator".
 */
import type { Clock } from '#ports/clock.ts';
import type { Dice } from './dice.ts';

export interface VirtualTime extends Clock {
  /** Lets the next due thing happen; false when nothing is due at all. */
  step(): Promise<boolean>;
  /** When the next thing is due; undefined: never. */
  readonly nextMs: number | undefined;
  /** Things that happened so far. */
  readonly eventCount: number;
  /** The machine's clock jumps; what is due is due all the same. */
  jump(ms: number): void;
}

interface Due {
  readonly atMs: number;
  /** Among those of one instant. */
  readonly rank: number;
  readonly order: number;
  readonly callback: () => void;
  disarmed: boolean;
}

/** Starts at `startMs` (epoch milliseconds). */
export function virtualTime(startMs: number, dice: Dice): VirtualTime {
  let nowMs = startMs;
  let said = { ms: NaN, text: '' };
  let order = 0;
  let eventCount = 0;
  const queue: Due[] = [];
  const at: Clock['at'] = (atMs, callback) => {
    const due: Due = { atMs, rank: dice.below(1_000_000), order: order++, callback, disarmed: false };
    push(queue, due);
    return () => {
      due.disarmed = true;
    };
  };
  const first = (): Due | undefined => {
    while (queue[0]?.disarmed === true) pop(queue);
    return queue[0];
  };
  return {
    now: () => {
      if (said.ms !== nowMs) said = { ms: nowMs, text: new Date(nowMs).toISOString() };
      return said.text;
    },
    nowMs: () => nowMs,
    at,
    sleep: (ms, signal) => sleepOn(at, nowMs + ms, signal),
    jump: (ms) => {
      nowMs += ms;
    },
    get nextMs() {
      return first()?.atMs;
    },
    get eventCount() {
      return eventCount;
    },
    step: async () => {
      const due = first();
      if (due === undefined) return false;
      pop(queue);
      nowMs = Math.max(nowMs, due.atMs);
      eventCount += 1;
      due.callback();
      await atRest();
      return true;
    },
  };
}

/** Resolves when every promise that could go on has: a turn of the event loop comes after all of them. */
export function atRest(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

function sleepOn(at: Clock['at'], atMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const onAbort = (): void => {
      disarm();
      reject(signal?.reason as Error);
    };
    const disarm = at(atMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

function before(one: Due, other: Due): boolean {
  if (one.atMs !== other.atMs) return one.atMs < other.atMs;
  return one.rank === other.rank ? one.order < other.order : one.rank < other.rank;
}

/** A binary heap: the first is the smallest. */
function push(heap: Due[], due: Due): void {
  let index = heap.push(due) - 1;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || !before(due, above)) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = due;
}

function pop(heap: Due[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    const [left, right] = [heap[child], heap[child + 1]];
    if (left === undefined) break;
    if (right !== undefined && before(right, left)) child += 1;
    const least = heap[child];
    if (least === undefined || !before(least, last)) break;
    heap[index] = least;
    index = child;
  }
  heap[index] = last;
}
