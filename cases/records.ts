/** A team's own record store: one SQLite file, one table of versioned records per tenant. Seeded when it is new. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ToolRecord } from 'caseops';
import type { z } from 'zod';

export interface SeedRecord {
  readonly tenant: string;
  readonly id: string;
  readonly version: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface RecordStore<R> {
  /** The current version of a record of this tenant; other tenants' records do not exist here. */
  find(tenant: string, id: string): ToolRecord<R>[];
}

export interface RecordStoreOptions<R> {
  readonly directory: string;
  readonly seed: readonly SeedRecord[];
  readonly record: z.ZodType<R>;
  /** The time at which a record is observed. */
  readonly now: () => string;
}

/** Opens `<directory>/records.db`. */
export function openRecords<R>({ directory, seed, record, now }: RecordStoreOptions<R>): RecordStore<R> {
  mkdirSync(directory, { recursive: true });
  const database = new DatabaseSync(join(directory, 'records.db'));
  database.exec(`
    pragma journal_mode = wal; pragma synchronous = full; pragma busy_timeout = 2000;
    create table if not exists record (tenant text, id text, version text not null, data text not null, primary key (tenant, id)) strict, without rowid;
  `);
  const insert = database.prepare('insert into record values (?, ?, ?, ?) on conflict do nothing');
  for (const { tenant, id, version, data } of seed) insert.run(tenant, id, version, JSON.stringify(data));
  const select = database.prepare('select version, data from record where tenant = ? and id = ?');
  return {
    find: (tenant, id) =>
      select.all(tenant, id).map((row) => ({
        id,
        tenant,
        version: String(row['version']),
        observedAt: now(),
        data: record.parse(JSON.parse(String(row['data']))),
      })),
  };
}
