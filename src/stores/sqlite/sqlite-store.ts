/**
 * The embedded store: one file, no service, on `node:sqlite` with WAL and synchronous=FULL. Source: DESIGN §4, ENGINE "Embedded
 * default". Passes the store suite.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '#ports/clock.ts';
import type { Store } from '#ports/store.ts';
import { assertCommit, assertRecordSizes } from '../commit-check.ts';
import { createListeners, type Listeners } from '../commit-listeners.ts';
import { prepareCommit } from './commit-writer.ts';
import { createGroupWriter, type GroupWriter, type GroupWriterOptions } from './group-writer.ts';
import { openDatabase } from './open-database.ts';
import { prepareLedgerReads } from './ledger-reads.ts';
import { prepareRecordReads, prepareRunReads } from './reads.ts';
import type { OwnerLife } from './run-lock.ts';
import { storeError } from './sqlite-error.ts';
import { startThread, type ThreadTransact } from './thread-transact.ts';
import { createTransact, type Transact } from './transaction.ts';

export interface SqliteStoreOptions {
  /** The database file; its directory must exist. `:memory:` is a database of this process alone, gone when closed. */
  readonly path: string;
  /** Decides when a run lock has expired. */
  readonly clock: Clock;
  /** The file may not grow beyond this; a commit that needs more is refused with ERR_STORE. */
  readonly sizeBytesMax?: number;
  /** Calls back in a later turn of the event loop; what was queued until then shares one transaction. */
  readonly schedule?: (callback: () => void) => void;
  /** Writes in a thread of its own, so that the event loop does not wait for the disk. Not for `:memory:`. Default false. */
  readonly thread?: boolean;
}

/**
 * Opens or creates the store. Throws ERR_STORE with a sentence that says what to do when the place cannot hold one. Every call
 * rejects with ERR_STORE when the disk fails; the store can be used again as soon as the disk can.
 */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  const { path, sizeBytesMax } = options;
  const db = openDatabase({ path, sizeBytesMax });
  if (options.thread !== true || path === ':memory:') return storeOn(db, options);
  return storeWith(db, options, startThread({ path, sizeBytesMax }));
}

/** The store on a database that is open; disposing the store closes it. */
export function storeOn(db: DatabaseSync, options: Omit<SqliteStoreOptions, 'sizeBytesMax' | 'thread'>): Store {
  return storeWith(db, options, undefined);
}

function storeWith(
  db: DatabaseSync,
  { path, clock, schedule = (callback) => void setImmediate(callback) }: Omit<SqliteStoreOptions, 'sizeBytesMax'>,
  thread: ThreadTransact | undefined,
): Store {
  const writer = createGroupWriter({
    path,
    schedule,
    transact: thread?.transact ?? atOnce(createTransact(db, path)),
  });
  const listeners = createListeners();
  const read = guarded({ ...prepareRunReads(db), ...prepareRecordReads(db), ...prepareLedgerReads(db) }, path);
  return {
    ...read,
    ...storeWrites(writer, { db, clock, listeners }),
    onCommit: listeners.add,
    [Symbol.asyncDispose]: async () => {
      if (!db.isOpen) return;
      await writer.close();
      await thread?.[Symbol.asyncDispose]();
      if (db.isOpen) db.close();
    },
  };
}

function atOnce(transact: Transact): GroupWriterOptions['transact'] {
  return (ops, done) => done(transact(ops));
}

type StoreWrites = Pick<
  Store,
  'commit' | 'write' | 'takeLock' | 'takeOpenRuns' | 'heartbeat' | 'bindLeaseTask' | 'erase' | 'dropArtifacts'
>;

function storeWrites(
  writer: GroupWriter,
  { db, clock, listeners }: { readonly db: DatabaseSync; readonly clock: Clock; readonly listeners: Listeners },
): StoreWrites {
  const life = (ttlMs: number): OwnerLife => ({ nowMs: clock.nowMs(), ttlMs });
  return {
    commit: async (commit) => {
      assertCommit(commit);
      return writer.write('commit', prepareCommit(commit), (outcome) => {
        if (outcome.ok) listeners.tell(commit.events, commit.head);
      });
    },
    write: async (rows) => {
      assertRecordSizes(rows);
      return writer.write('records', rows);
    },
    erase: (erasure) =>
      writer.write('erase', erasure, (outcome) => {
        if (!outcome.ok) return;
        forgetLog(db);
        listeners.tell([erasure.tombstone], erasure.head);
      }),
    dropArtifacts: (tenant, digests) => writer.write('dropArtifacts', { tenant, digests }),
    takeLock: (ref, owner, ttlMs) => writer.write('takeLock', { ref, owner, life: life(ttlMs) }),
    takeOpenRuns: (level, { owner, ttlMs }, limit) =>
      writer.write('takeOpenRuns', { level, owner, life: { ...life(ttlMs), limit } }),
    heartbeat: (owner, ttlMs) => writer.write('heartbeat', { owner, life: life(ttlMs) }),
    bindLeaseTask: ({ tenant, leaseId }, taskId) => writer.write('bindLeaseTask', { tenant, leaseId, taskId }),
  };
}

/** The write-ahead log still holds the pages as they were: it is emptied, unless somebody else reads or writes at this moment. */
function forgetLog(db: DatabaseSync): void {
  db.prepare('pragma wal_checkpoint(truncate)').get();
}

type Promised<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer A) => infer R ? (...args: A) => Promise<R> : never;
};

/** Synchronous reads as the port's promises, with the database's failures as ERR_STORE. */
function guarded<T extends Record<string, (...args: never) => unknown>>(reads: T, path: string): Promised<T> {
  const guard =
    (read: (...args: never) => unknown) =>
    async (...args: never): Promise<unknown> => {
      try {
        return read(...args);
      } catch (error) {
        throw storeError(error, path);
      }
    };
  return Object.fromEntries(Object.entries(reads).map(([name, read]) => [name, guard(read)])) as Promised<T>;
}
