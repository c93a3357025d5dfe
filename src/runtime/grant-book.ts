/** The last grant of each person of an outside issuer, kept on disk so that their runs go on after a restart. Holds no token. */
import { rootGrant, type RootGrant } from '#contracts/lease.ts';
import type { Clock } from '#ports/clock.ts';
import { DatabaseSync } from 'node:sqlite';

export interface GrantBook extends Disposable {
  remember(grant: RootGrant): void;
  /** Undefined when nothing is known, or what is known is older than the lifetime. */
  find(subject: string, tenant: string): RootGrant | undefined;
}

/** How long after their last token something may still be done in a person's name. */
const LIFETIME_MS = 12 * 3_600_000;

export function openGrantBook(options: {
  readonly path: string;
  readonly clock: Clock;
  readonly lifetimeMs?: number;
}): GrantBook {
  const { clock, lifetimeMs = LIFETIME_MS } = options;
  const database = new DatabaseSync(options.path);
  database.exec(`
    pragma journal_mode = wal; pragma busy_timeout = 2000;
    create table if not exists grant_seen (tenant text, subject text, json text not null, until_ms integer not null, primary key (tenant, subject)) strict, without rowid;
  `);
  const write = database.prepare('insert or replace into grant_seen values (?, ?, ?, ?)');
  const read = database.prepare('select json from grant_seen where tenant = ? and subject = ? and until_ms > ?');
  return {
    remember: (grant) => {
      write.run(grant.tenant, grant.sub, JSON.stringify(grant), clock.nowMs() + lifetimeMs);
    },
    find: (subject, tenant) => {
      const row = read.get(tenant, subject, clock.nowMs());
      return row === undefined ? undefined : rootGrant.parse(JSON.parse(String(row['json'])));
    },
    [Symbol.dispose]: () => database.close(),
  };
}
