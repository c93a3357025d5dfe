/**
 * The life of a simulated process: once it is dead, nothing it asked for is answered, nothing it asks for reaches anybody and no timer calls
 * it back. What reached the outside before stays there.
 */
import type { Clock } from '#ports/clock.ts';

export interface ProcessLife {
  readonly dead: boolean;
  /** Resolves when it dies. */
  readonly died: Promise<void>;
  die(): void;
  /** At its death, once. */
  onDeath(callback: () => void): void;
  /** The outcome of `work` as the process sees it: never, once it is dead. */
  seen<T>(work: Promise<T>): Promise<T>;
  clock(clock: Clock): Clock;
}

export function beginLife(): ProcessLife {
  const death = Promise.withResolvers<void>();
  const callbacks: (() => void)[] = [];
  let dead = false;
  const seen = async <T>(work: Promise<T>): Promise<T> => {
    // What is asked for by nobody may fail unheard.
    if (dead) return work.then(never<T>, never<T>);
    try {
      const answer = await work;
      return dead ? await never<T>() : answer;
    } catch (error) {
      if (dead) return never();
      throw error;
    }
  };
  return {
    get dead() {
      return dead;
    },
    died: death.promise,
    die: () => {
      if (dead) return;
      dead = true;
      death.resolve();
      for (const callback of callbacks) callback();
    },
    onDeath: (callback) => void callbacks.push(callback),
    seen,
    clock: (clock) => ({
      now: () => clock.now(),
      nowMs: () => clock.nowMs(),
      at: (atMs, callback) =>
        clock.at(atMs, () => {
          if (!dead) callback();
        }),
      sleep: (ms, signal) => seen(clock.sleep(ms, signal)),
    }),
  };
}

/** Never. */
export function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined);
}
