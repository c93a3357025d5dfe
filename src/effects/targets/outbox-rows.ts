/**
 * The outbox's own memory, in a SQLite file that several processes may share: a row per Message-ID, written before the first byte is
 * sent, so that a process that died in between is seen. Source: DESIGN §3.10; INV-12.
 */
import { DatabaseSync } from 'node:sqlite';

export type OutboxState = 'sending' | 'sent' | 'not_sent';

export interface OutboxRow {
  readonly tenant: string;
  readonly idempotencyKey: string;
  readonly messageId: string;
  /** What the key stands for. */
  readonly content: string;
  /** `sha256:` and hex of the composed message. */
  readonly contentDigest: string;
  readonly address: string;
  readonly composedAt: string;
  readonly state: OutboxState;
  /** Counts from 1; whoever raises it may send. */
  readonly attempt: number;
  /** Epoch milliseconds. */
  readonly attemptedAtMs: number;
}

export interface OutboxRows extends Disposable {
  find(tenant: string, idempotencyKey: string): OutboxRow | undefined;
  /** False when another process was first. */
  insert(row: OutboxRow): boolean;
  /** Takes the next attempt; false when another process took it. */
  take(row: OutboxRow, attemptedAtMs: number): boolean;
  /** Settles the attempt; nothing when it is no longer the row's. */
  settle(row: OutboxRow, state: OutboxState): void;
}

/** Creates the file when it is missing; its directory exists. */
export function openOutboxRows(path: string): OutboxRows {
  const database = new DatabaseSync(path, { timeout: 5_000 });
  database.exec(`
    pragma journal_mode = wal; pragma synchronous = full;
    create table if not exists outbox (
      tenant text not null, idempotency_key text not null, message_id text not null unique, content text not null,
      content_digest text not null, address text not null, composed_at text not null,
      state text not null, attempt integer not null, attempted_at_ms integer not null,
      primary key (tenant, idempotency_key)) strict, without rowid;
  `);
  const found = database.prepare('select * from outbox where tenant = ? and idempotency_key = ?');
  const inserted = database.prepare('insert into outbox values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing');
  const taken = database.prepare(
    "update outbox set state = 'sending', attempt = attempt + 1, attempted_at_ms = ? where tenant = ? and idempotency_key = ? and attempt = ? and state <> 'sent'",
  );
  const settled = database.prepare(
    'update outbox set state = ? where tenant = ? and idempotency_key = ? and attempt = ?',
  );
  return {
    find: (tenant, idempotencyKey) => rowOf(found.get(tenant, idempotencyKey)),
    insert: (row) =>
      inserted.run(
        row.tenant,
        row.idempotencyKey,
        row.messageId,
        row.content,
        row.contentDigest,
        row.address,
        row.composedAt,
        row.state,
        row.attempt,
        row.attemptedAtMs,
      ).changes === 1,
    take: (row, attemptedAtMs) => taken.run(attemptedAtMs, row.tenant, row.idempotencyKey, row.attempt).changes === 1,
    settle: (row, state) => void settled.run(state, row.tenant, row.idempotencyKey, row.attempt),
    [Symbol.dispose]: () => database.close(),
  };
}

function rowOf(row: Readonly<Record<string, unknown>> | undefined): OutboxRow | undefined {
  if (row === undefined) return undefined;
  return {
    tenant: String(row['tenant']),
    idempotencyKey: String(row['idempotency_key']),
    messageId: String(row['message_id']),
    content: String(row['content']),
    contentDigest: String(row['content_digest']),
    address: String(row['address']),
    composedAt: String(row['composed_at']),
    state: row['state'] === 'sent' ? 'sent' : row['state'] === 'sending' ? 'sending' : 'not_sent',
    attempt: Number(row['attempt']),
    attemptedAtMs: Number(row['attempted_at_ms']),
  };
}
