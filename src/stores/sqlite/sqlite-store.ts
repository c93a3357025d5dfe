/**
 * The embedded store: one file, no service, on `node:sqlite` with WAL and synchronous=FULL. Source: DESIGN §4, ENGINE "Embedded
 * default". Passes the store suite.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '#ports/clock.ts';
import type { Store } from '#ports/store.ts';
import { assertCommit, assertRecordSizes } from '../commit-check.ts';
import { createListeners, type Listeners } from '../commit-listeners.ts';
import { createCommitWriter } from './commit-writer.ts';
import { createGroupWriter } from './group-writer.ts';
import { openDatabase } from './open-database.ts';
import { prepareLedgerReads } from './ledger-reads.ts';
import { createLedgerWriter } from './ledger-writes.ts';
import { prepareRecordReads, prepareRunReads } from './reads.ts';
import { createRecordWriter } from './record-writes.ts';
import { createRunLocks } from './run-lock.ts';
import { storeError } from './sqlite-error.ts';

export interface SqliteStoreOptions {
  /** The database file; its directory must exist. `:memory:` is a database of this process alone, gone when closed. */
  readonly path: string;
  /** Decides when a run lock has expired. */
  readonly clock: Clock;
  /** The file may not grow beyond this; a commit that needs more is refused with ERR_STORE. */
  readonly sizeBytesMax?: number;
  /** Calls back in a later turn of the event loop; what was queued until then shares one transaction. */
  readonly schedule?: (callback: () => void) => void;
}

/**
 * Opens or creates the store. Throws ERR_STORE with a sentence that says what to do when the place cannot hold one. Every call
 * rejects with ERR_STORE when the disk fails; the store can be used again as soon as the disk can.
 */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  return storeOn(openDatabase({ path: options.path, sizeBytesMax: options.sizeBytesMax }), options);
}

/** The store on a database that is open; disposing the store closes it. */
export function storeOn(db: DatabaseSync, options: Omit<SqliteStoreOptions, 'sizeBytesMax'>): Store {
  const { path, clock } = options;
  const writer = createGroupWriter(db, path, options.schedule ?? ((callback) => void setImmediate(callback)));
  const listeners = createListeners();
  const read = guarded({ ...prepareRunReads(db), ...prepareRecordReads(db), ...prepareLedgerReads(db) }, path);
  return {
    ...read,
    ...prepareWrites(db, writer, { clock, listeners }),
    onCommit: listeners.add,
    [Symbol.asyncDispose]: async () => {
      if (!db.isOpen) return;
      writer.close();
      db.close();
    },
  };
}

type Writes = Pick<Store, 'commit' | 'write' | 'takeLock' | 'takeOpenRuns' | 'heartbeat' | 'bindLeaseTask'>;

function prepareWrites(
  db: DatabaseSync,
  writer: ReturnType<typeof createGroupWriter>,
  { clock, listeners }: { readonly clock: Clock; readonly listeners: Listeners },
): Writes {
  const ledger = createLedgerWriter(db);
  const records = createRecordWriter(db, ledger);
  const applyCommit = createCommitWriter(db, records, ledger);
  const locks = createRunLocks(db);
  const bind = db.prepare(
    'update lease set task_id = ?1 where tenant = ?2 and lease_id = ?3 and (task_id is null or task_id = ?1)',
  );
  return {
    commit: async (commit) => {
      assertCommit(commit);
      return writer.write(
        () => applyCommit(commit),
        (outcome) => {
          if (outcome.ok) listeners.tell(commit.events, commit.head);
        },
      );
    },
    write: async (rows) => {
      assertRecordSizes(rows);
      return writer.write(() => {
        const refused = records.conflict(rows);
        if (refused !== undefined) return refused;
        records.insert(rows, null);
        return { ok: true };
      });
    },
    takeLock: (ref, owner, ttlMs) => writer.write(() => locks.take(ref, owner, { nowMs: clock.nowMs(), ttlMs })),
    takeOpenRuns: (level, { owner, ttlMs }, limit) =>
      writer.write(() => locks.takeOpen(level, owner, { nowMs: clock.nowMs(), ttlMs, limit })),
    heartbeat: (owner, ttlMs) => writer.write(() => locks.extend(owner, { nowMs: clock.nowMs(), ttlMs })),
    bindLeaseTask: ({ tenant, leaseId }, taskId) => writer.write(() => bind.run(taskId, tenant, leaseId).changes === 1),
  };
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
