/**
 * A process that can die at any await, in one test process: what it holds of the outside is wrapped, and once it is dead nothing it asks
 * for is answered, nothing is written for it and no timer calls it back. What reached the outside before stays. For tests.
 */
import type { Clock } from '#ports/clock.ts';

export interface MortalProcess {
  /** Calls to the outside that were begun. */
  readonly callCount: number;
  readonly dead: boolean;
  /** The outcome of `work`, or undefined when the process dies first: its work is never done then. */
  orDeath<T>(work: Promise<T>): Promise<T | undefined>;
  die(): void;
  /** Dies at the nth call from now (1 is the next): before it reaches the outside, or after, when its answer is lost. */
  dieAt(nth: number, when: 'before' | 'after'): void;
  /** Wraps every function of `part` that returns a promise. */
  hold<T extends object>(part: T, names: readonly (keyof T)[]): T;
  clock(clock: Clock): Clock;
}

export function mortalProcess(): MortalProcess {
  let callCount = 0;
  let fatal: { readonly at: number; readonly when: 'before' | 'after' } | undefined;
  let dead = false;
  const death = Promise.withResolvers<undefined>();
  const die = (): void => {
    dead = true;
    death.resolve(undefined);
  };
  const forever = <T>(): Promise<T> => new Promise<T>(() => undefined);
  const call = async (work: () => Promise<unknown>): Promise<unknown> => {
    if (dead) return forever();
    callCount += 1;
    const last = fatal !== undefined && callCount >= fatal.at;
    if (last && fatal?.when === 'before') {
      die();
      return forever();
    }
    const answer = await work();
    if (last) die();
    return dead ? forever() : answer;
  };
  return {
    get callCount() {
      return callCount;
    },
    get dead() {
      return dead;
    },
    orDeath: (work) => Promise.race([work, death.promise]),
    die,
    dieAt: (nth, when) => {
      fatal = { at: callCount + nth, when };
    },
    hold: (part, names) =>
      new Proxy(part, {
        get: (target, name, receiver) => {
          const value: unknown = Reflect.get(target, name, receiver);
          if (typeof value !== 'function' || !names.some((held) => held === name)) return value;
          return (...args: unknown[]) => call(() => Promise.resolve(Reflect.apply(value, target, args)));
        },
      }),
    clock: (clock) => ({
      now: () => clock.now(),
      nowMs: () => clock.nowMs(),
      at: (atMs, callback) =>
        clock.at(atMs, () => {
          if (!dead) callback();
        }),
      sleep: async (ms, signal) => {
        await clock.sleep(ms, signal);
        if (dead) await forever();
      },
    }),
  };
}
