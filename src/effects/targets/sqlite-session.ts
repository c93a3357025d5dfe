/** A SQLite file as a session: transactions of this process wait for each other here, those of other processes at the file's lock. */
import type { DatabaseSync } from 'node:sqlite';
import type { SqlEnd, SqlSession, SqlTransaction } from './sql-session.ts';

/** The caller opens and closes the database. A write takes its lock at once, so that no transaction fails half way for want of it. */
export function createSqliteSession(database: DatabaseSync): SqlSession {
  let turn: Promise<unknown> = Promise.resolve();
  const transaction: SqlTransaction = {
    all: async (statement, values) => database.prepare(statement).all(...values),
    run: async (statement, values) => Number(database.prepare(statement).run(...values).changes),
  };
  return {
    dialect: 'sqlite',
    transact: (work) => {
      const mine = turn.then(() => transactOnce(database, () => work(transaction)));
      turn = mine;
      return mine;
    },
  };
}

async function transactOnce<T>(
  database: DatabaseSync,
  work: () => Promise<{ readonly keep: boolean; readonly value: T }>,
): Promise<SqlEnd<T>> {
  let done: { readonly keep: boolean; readonly value: T };
  try {
    database.exec('begin immediate');
    done = await work();
  } catch (error) {
    rollBack(database);
    return { end: 'failed', reason: reasonOf(error) };
  }
  if (!done.keep) {
    rollBack(database);
    return { end: 'rolled_back', value: done.value };
  }
  try {
    database.exec('commit');
    return { end: 'committed', value: done.value };
  } catch (error) {
    rollBack(database);
    return { end: 'unknown', reason: reasonOf(error) };
  }
}

function rollBack(database: DatabaseSync): void {
  try {
    if (database.isTransaction) database.exec('rollback');
  } catch {
    // A database that cannot even roll back has lost its connection, and with it the transaction.
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown failure';
}
