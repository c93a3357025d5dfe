/**
 * Stores of simulated worlds: real SQLite databases in memory, opened once and emptied for each world, since opening one costs more than
 * a whole run. A database outlives the simulated processes that use it; a crash loses what they hold and nothing else.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '#ports/clock.ts';
import type { Store } from '#ports/store.ts';
import { openDatabase } from '#stores/sqlite/open-database.ts';
import { storeOn } from '#stores/sqlite/sqlite-store.ts';

/** What a world sets of its stores. */
export interface StoreSetting {
  readonly clock: Clock;
  /** When what is queued is written. */
  readonly schedule: (callback: () => void) => void;
}

export interface StorePool extends AsyncDisposable {
  /** The nth store, empty, under the clock of a world. The one given before under this number is over. */
  take(index: number, setting: StoreSetting): Store;
}

interface Pooled {
  readonly db: DatabaseSync;
  readonly store: Store;
  readonly tables: readonly string[];
  setting: StoreSetting;
  /** Writes that a world left queued when it was over. */
  queued: (() => void) | undefined;
  readonly listening: Set<() => void>;
}

export function createStorePool(): StorePool {
  const pooled: Pooled[] = [];
  return {
    take: (index, setting) => {
      const known = pooled[index] ?? (pooled[index] = open(setting));
      known.queued?.();
      for (const stop of known.listening) stop();
      known.listening.clear();
      known.setting = setting;
      known.db.exec(known.tables.map((table) => `delete from [${table}]`).join(';'));
      return {
        ...known.store,
        onCommit: (listener) => {
          const stop = known.store.onCommit(listener);
          known.listening.add(stop);
          return stop;
        },
      };
    },
    [Symbol.asyncDispose]: async () => {
      for (const { store } of pooled) await store[Symbol.asyncDispose]();
    },
  };
}

function open(setting: StoreSetting): Pooled {
  const db = openDatabase({ path: ':memory:', sizeBytesMax: undefined });
  const rows = db.prepare(`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`).all();
  // Emptied one after the other, in any order.
  db.exec('pragma foreign_keys = off');
  const of: Omit<Pooled, 'store'> = {
    db,
    tables: (rows as unknown as readonly { readonly name: string }[]).map(({ name }) => name),
    setting,
    queued: undefined,
    listening: new Set(),
  };
  const clock: Clock = {
    now: () => of.setting.clock.now(),
    nowMs: () => of.setting.clock.nowMs(),
    at: (atMs, callback) => of.setting.clock.at(atMs, callback),
    sleep: (ms, signal) => of.setting.clock.sleep(ms, signal),
  };
  const schedule = (callback: () => void): void => {
    const flush = (): void => {
      if (of.queued !== flush) return;
      of.queued = undefined;
      callback();
    };
    of.queued = flush;
    of.setting.schedule(flush);
  };
  return Object.assign(of, { store: storeOn(db, { path: ':memory:', clock, schedule }) });
}
