/** A database as the SQL target uses it: one transaction at a time per session. Adapters: `sqlite-session.ts`. */
export type SqlValue = string | number | null;
export type SqlRow = Readonly<Record<string, unknown>>;

export interface SqlTransaction {
  /** The rows that it returns. */
  all(statement: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  /** How many rows it changed. */
  run(statement: string, values: readonly SqlValue[]): Promise<number>;
}

/** How a transaction ended. `unknown`: the commit itself failed, and what the database has is not certain. */
export type SqlEnd<T> =
  | { readonly end: 'committed'; readonly value: T }
  | { readonly end: 'rolled_back'; readonly value: T }
  | { readonly end: 'failed'; readonly reason: string }
  | { readonly end: 'unknown'; readonly reason: string };

export interface SqlSession {
  readonly dialect: 'sqlite' | 'postgres';
  /** Commits when `work` returns `keep: true`, else rolls back; what `work` throws rolls back as `failed`. Never rejects. */
  transact<T>(
    work: (transaction: SqlTransaction) => Promise<{ readonly keep: boolean; readonly value: T }>,
  ): Promise<SqlEnd<T>>;
}
