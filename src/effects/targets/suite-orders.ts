/** Orders in a SQLite file: what the SQL target's tests and its child process write. */
import type { Clock } from '#ports/clock.ts';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { createSqlTarget, type SqlTargetOptions } from './sql-target.ts';
import { createSqliteSession } from './sqlite-session.ts';

export function openOrders(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 5_000 });
  database.exec(`
    pragma journal_mode = wal; pragma synchronous = full;
    create table if not exists orders (tenant text, order_id text, address text, quantity integer, version integer,
      primary key (tenant, order_id)) strict`);
  return database;
}

export function orderTarget(database: DatabaseSync, clock: Clock, overrides: Partial<SqlTargetOptions> = {}) {
  return createSqlTarget({
    name: 'orders',
    action: 'orders:change',
    resourceType: 'order',
    evidenceType: 'order-change',
    parameters: z.strictObject({
      address: z.string().min(1).max(200),
      quantity: z.int().min(1).max(99).default(1),
      reason: z.string().max(200).optional(),
    }),
    presentational: ['reason'],
    table: { name: 'orders', idColumn: 'order_id', versionColumn: 'version', columns: ['address', 'quantity'] },
    session: createSqliteSession(database),
    clock,
    ...overrides,
  });
}
