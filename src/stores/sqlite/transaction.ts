/** Writes of many in one transaction, so that one fsync serves all of them. Source: ENGINE lesson 1. */
import type { DatabaseSync } from 'node:sqlite';
import type { CaseOpsError } from '#contracts/error.ts';
import { isOfOneUnit, storeError } from './sqlite-error.ts';
import { createApplier, type WriteOp } from './write-op.ts';

/** What became of one write: durable, or nothing of it acknowledged. */
export type Settled =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: CaseOpsError };

/** Does all writes in one transaction; in as many as there are writes when one of them is at fault. */
export type Transact = (ops: readonly WriteOp[]) => readonly Settled[];

/** Failures are ERR_STORE. */
export function createTransact(db: DatabaseSync, path: string): Transact {
  const apply = createApplier(db);
  const [begin, commit] = [db.prepare('begin immediate'), db.prepare('commit')];
  const together: Transact = (ops) => {
    begin.run();
    try {
      const done = ops.map((op) => ({ ok: true, value: apply(op) }) as const);
      commit.run();
      return done;
    } catch (error) {
      // SQLite has rolled back by itself after some failures.
      if (db.isTransaction) db.exec('rollback');
      throw error;
    }
  };
  const transact: Transact = (ops) => {
    try {
      return together(ops);
    } catch (error) {
      // One write's fault must not cost its neighbours: they are written one by one.
      if (ops.length > 1 && isOfOneUnit(error)) return ops.flatMap((op) => transact([op]));
      return ops.map(() => ({ ok: false, error: storeError(error, path) }) as const);
    }
  };
  return transact;
}
