/**
 * Group commit: units of work wait for each other and are written in one transaction per turn of the event loop, so that one fsync
 * serves all of them. Source: ENGINE lesson 1.
 */
import type { DatabaseSync } from 'node:sqlite';
import { CaseOpsError } from '#contracts/error.ts';
import { isOfOneUnit, storeError } from './sqlite-error.ts';

/** Units in one transaction at most; the rest waits for the next turn. */
const BATCH_UNIT_COUNT_MAX = 512;
/** Units waiting at most; more are refused with ERR_STORE, which is retryable. */
const QUEUE_UNIT_COUNT_MAX = 20_000;

export interface GroupWriter {
  /**
   * Runs `work` inside the next transaction and resolves with its value after the data is durable. `work` is synchronous, reads what
   * earlier units of the batch wrote, writes nothing when it refuses, and can be run again. Rejects with ERR_STORE: then nothing of
   * the unit was acknowledged. `after` is called once the data is durable, before the promise resolves.
   */
  write<T>(work: () => T, after?: (value: T) => void): Promise<T>;
  /** Writes what waits, then refuses more. */
  close(): void;
}

interface Unit {
  readonly work: () => unknown;
  readonly after: ((value: never) => void) | undefined;
  readonly resolve: (value: never) => void;
  readonly reject: (error: CaseOpsError) => void;
}

/** `schedule` calls back in a later turn of the event loop. */
export function createGroupWriter(
  db: DatabaseSync,
  path: string,
  schedule: (callback: () => void) => void,
): GroupWriter {
  const transact = createTransaction(db);
  let queue: Unit[] = [];
  let armed = false;
  let closed = false;

  const writeBatch = (units: readonly Unit[]): void => {
    let values: readonly unknown[];
    try {
      values = transact(units);
    } catch (error) {
      // One unit's fault must not cost its neighbours: write them one by one.
      if (units.length > 1 && isOfOneUnit(error)) for (const unit of units) writeBatch([unit]);
      else for (const unit of units) unit.reject(storeError(error, path));
      return;
    }
    for (const [index, unit] of units.entries()) {
      unit.after?.(values[index] as never);
      unit.resolve(values[index] as never);
    }
  };

  const flush = (): void => {
    armed = false;
    const batch = queue.slice(0, BATCH_UNIT_COUNT_MAX);
    queue = queue.slice(BATCH_UNIT_COUNT_MAX);
    if (batch.length > 0) writeBatch(batch);
    if (queue.length > 0) arm();
  };

  const arm = (): void => {
    if (armed) return;
    armed = true;
    schedule(flush);
  };

  return {
    write: (work, after) =>
      new Promise((resolve, reject) => {
        if (closed || queue.length >= QUEUE_UNIT_COUNT_MAX) return reject(refusal(path, closed, queue.length));
        queue.push({ work, after, resolve, reject });
        arm();
      }),
    close: () => {
      while (queue.length > 0) flush();
      closed = true;
    },
  };
}

/** Runs all units in one transaction; a throw leaves nothing of any of them. */
function createTransaction(db: DatabaseSync): (units: readonly Unit[]) => readonly unknown[] {
  const begin = db.prepare('begin immediate');
  const commit = db.prepare('commit');
  return (units) => {
    begin.run();
    try {
      const values = units.map((unit) => unit.work());
      commit.run();
      return values;
    } catch (error) {
      // SQLite has rolled back by itself after some failures.
      if (db.isTransaction) db.exec('rollback');
      throw error;
    }
  };
}

function refusal(path: string, closed: boolean, waitingCount: number): CaseOpsError {
  const message = closed
    ? `The store ${path} is closed; nothing was written.`
    : `The store ${path} has ${waitingCount} writes waiting, which is its limit; try again when the load is lower.`;
  return new CaseOpsError('ERR_STORE', message, { at: 'store', detail: { path }, retryable: !closed });
}
