/** A store whose calls are counted while they are under way, so that a seeded clock can wait for a real server. For tests. */
import type { Store } from '#ports/store.ts';

export interface StoreWatch {
  /** The same store; its calls count. */
  watch(store: Store): Store;
  /** Resolves when no call is under way and none follows within a few turns of the event loop. */
  quiet(): Promise<void>;
}

/** What follows an answer begins its next call within so many turns. */
const QUIET_TURN_COUNT = 4;

/** Counts the calls of all stores that it watches. */
export function storeWatch(): StoreWatch {
  let underWay = 0;
  const call = async (work: () => Promise<unknown>): Promise<unknown> => {
    underWay += 1;
    try {
      return await work();
    } finally {
      underWay -= 1;
    }
  };
  const watched = (value: unknown): unknown =>
    typeof value === 'function'
      ? (...args: unknown[]) => call(() => Promise.resolve(Reflect.apply(value, undefined, args)))
      : value;
  return {
    watch: (store) => ({
      ...(Object.fromEntries(Object.entries(store).map(([name, value]) => [name, watched(value)])) as unknown as Store),
      onCommit: store.onCommit,
      [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    }),
    quiet: async () => {
      for (let quietTurns = 0; quietTurns < QUIET_TURN_COUNT; quietTurns = underWay === 0 ? quietTurns + 1 : 0)
        await new Promise((resolve) => void setImmediate(resolve));
    },
  };
}
