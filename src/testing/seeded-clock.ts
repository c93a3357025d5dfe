/** A clock that stands still until it is told to advance. For tests and simulation. Source: ENGINE "seeded clock". */
import type { Clock } from '#ports/clock.ts';

export interface SeededClock extends Clock {
  /**
   * Moves time forward by `ms`, calling back what falls due in order of time, then of arming. After each call back, what it set in
   * motion gets two turns of the event loop, so that a timer armed by it inside the span is called back as well.
   */
  advance(ms: number): Promise<void>;
  /** Moves time without calling anything back, also backwards: a machine's clock that jumps. */
  jump(ms: number): void;
  /** Timers armed and not yet due. */
  readonly armedCount: number;
}

interface Timer {
  readonly atMs: number;
  readonly order: number;
  readonly callback: () => void;
}

export interface SeededClockOptions {
  /** Resolves when nothing is under way that takes real time, such as a statement of a server: time waits for it. */
  readonly quiet?: () => Promise<void>;
}

/** Starts at `startMs` (epoch milliseconds). */
export function seededClock(startMs: number, { quiet }: SeededClockOptions = {}): SeededClock {
  let nowMs = startMs;
  let order = 0;
  const timers = new Set<Timer>();
  const at = (atMs: number, callback: () => void): (() => void) => {
    const timer = { atMs, order: order++, callback };
    timers.add(timer);
    return () => timers.delete(timer);
  };
  return {
    now: () => new Date(nowMs).toISOString(),
    nowMs: () => nowMs,
    at,
    sleep: (ms, signal) => sleepOn(at, nowMs + ms, signal),
    advance: async (ms) => {
      const untilMs = nowMs + ms;
      await turn();
      await quiet?.();
      for (let due = firstDue(timers, untilMs); due !== undefined; due = firstDue(timers, untilMs)) {
        timers.delete(due);
        nowMs = Math.max(nowMs, due.atMs);
        due.callback();
        await turn();
        await turn();
        await quiet?.();
      }
      nowMs = untilMs;
    },
    jump: (ms) => {
      nowMs += ms;
    },
    get armedCount() {
      return timers.size;
    },
  };
}

function firstDue(timers: Iterable<Timer>, untilMs: number): Timer | undefined {
  let first: Timer | undefined;
  for (const timer of timers) {
    if (timer.atMs > untilMs) continue;
    if (first === undefined || timer.atMs < first.atMs || (timer.atMs === first.atMs && timer.order < first.order))
      first = timer;
  }
  return first;
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Resolves at `atMs`; rejects with the signal's reason and disarms when aborted. */
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
