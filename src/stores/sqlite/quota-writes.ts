/** Holds on quotas: a day's total and what each key holds of it, moved together inside a transaction. INV-06. */
import type { DatabaseSync } from 'node:sqlite';
import { type Holder, type QuotaWrite, quotaHolder } from '../record-conflict.ts';

export interface QuotaWriter {
  /** What stands in the way of `write` once `before`, which are of the same list, are written; undefined when nothing does. */
  conflict(write: QuotaWrite, before: readonly QuotaWrite[]): Holder | undefined;
  insert(write: QuotaWrite): void;
}

/** Prepares the statements once. */
export function createQuotaWriter(db: DatabaseSync): QuotaWriter {
  const total = db.prepare('select amount from quota where tenant = ? and scope = ? and day = ?');
  const hold = db.prepare('select amount from quota_hold where tenant = ? and scope = ? and day = ? and key = ?');
  const move = db.prepare(
    `insert into quota (tenant, scope, day, amount) values (?, ?, ?, ?)
     on conflict (tenant, scope, day) do update set amount = amount + excluded.amount`,
  );
  const keep = db.prepare(
    `insert into quota_hold (tenant, scope, day, key, amount) values (?, ?, ?, ?, ?)
     on conflict (tenant, scope, day, key) do update set amount = excluded.amount`,
  );
  const held = (row: Record<string, unknown> | undefined): number => Number(row?.['amount'] ?? 0);
  const ownOf = ({ tenant, scope, day, key }: QuotaWrite): number => held(hold.get(tenant, scope, day, key));
  return {
    conflict: (write, before) => {
      const sameDay = before.filter(({ scope, day }) => scope === write.scope && day === write.day);
      const moved = sameDay.reduce((sum, earlier) => sum + earlier.amount - ownOf(earlier), 0);
      const { tenant, scope, day } = write;
      return quotaHolder(write, { total: held(total.get(tenant, scope, day)) + moved, own: ownOf(write) });
    },
    insert: (write) => {
      const { tenant, scope, day, key, amount } = write;
      move.run(tenant, scope, day, amount - ownOf(write));
      keep.run(tenant, scope, day, key, amount);
    },
  };
}
