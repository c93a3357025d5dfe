/**
 * The statements of the SQL target, for SQLite and Postgres alike: a row with a version, and beside it what each idempotency key did.
 * Values are parameters; names come from the configuration and are checked. Source: DESIGN §3.10; INV-12.
 */
import { CaseOpsError } from '#contracts/error.ts';

export interface SqlTable {
  /** Has the columns `tenant`, the id, the version (an integer), and those that an effect sets. */
  readonly name: string;
  readonly idColumn: string;
  readonly versionColumn: string;
  /** Each is a parameter of the effect; in this order. */
  readonly columns: readonly string[];
}

export type SqlDialect = 'sqlite' | 'postgres';

/** A statement with one placeholder per value, in the order that its comment names. */
export interface SqlStatements {
  readonly createEffects: string;
  /** tenant, key → content, reference, row_id, version, applied_at, parameters */
  readonly findEffect: string;
  /** tenant, key, content, reference, row_id, version, applied_at, parameters; changes nothing when the key is there */
  readonly insertEffect: string;
  /** tenant, id → version and the columns */
  readonly findRow: string;
  /** columns…, tenant, id, expected version */
  readonly updateRow: string;
  /** tenant, id, columns…; changes nothing when the row is there */
  readonly insertRow: string;
}

/** Throws ERR_CONFIG for a name that is no plain identifier. */
export function sqlStatements(table: SqlTable, dialect: SqlDialect): SqlStatements {
  for (const name of [table.name, table.idColumn, table.versionColumn, ...table.columns]) assertName(name);
  const { name, idColumn, versionColumn, columns } = table;
  const mark = (index: number): string => (dialect === 'postgres' ? `$${index + 1}` : '?');
  const marks = (count: number): string => Array.from({ length: count }, (_, index) => mark(index)).join(', ');
  const effects = `${name}_effect`;
  const count = columns.length;
  return {
    createEffects:
      `create table if not exists ${effects} (tenant text not null, idempotency_key text not null, content text not null, ` +
      `reference text not null, row_id text not null, version integer not null, applied_at text not null, ` +
      `parameters text not null, primary key (tenant, idempotency_key))`,
    findEffect:
      `select content, reference, row_id, version, applied_at, parameters from ${effects} ` +
      `where tenant = ${mark(0)} and idempotency_key = ${mark(1)}`,
    insertEffect: `insert into ${effects} values (${marks(8)}) on conflict do nothing`,
    findRow:
      `select ${[versionColumn, ...columns].join(', ')} from ${name} ` +
      `where tenant = ${mark(0)} and ${idColumn} = ${mark(1)}`,
    updateRow:
      `update ${name} set ${columns.map((column, index) => `${column} = ${mark(index)}, `).join('')}` +
      `${versionColumn} = ${versionColumn} + 1 ` +
      `where tenant = ${mark(count)} and ${idColumn} = ${mark(count + 1)} and ${versionColumn} = ${mark(count + 2)}`,
    insertRow:
      `insert into ${name} (tenant, ${[idColumn, ...columns, versionColumn].join(', ')}) ` +
      `values (${marks(count + 2)}, 1) on conflict do nothing`,
  };
}

function assertName(name: string): void {
  if (/^[a-z][a-z0-9_]{0,50}$/.test(name)) return;
  throw new CaseOpsError('ERR_CONFIG', `A table or column has a plain lower-case name, not ${JSON.stringify(name)}.`, {
    at: 'effects',
  });
}
