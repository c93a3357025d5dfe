/** Records with unique keys: each is looked up first, so that a refused commit has written nothing. */
import type { DatabaseSync } from 'node:sqlite';
import type { RunId } from '#contracts/ids.ts';
import type { RecordWrite } from '#ports/store.ts';
import { conflictOf, type Holder, type QuotaWrite, type RecordConflict, recordKey } from '../record-conflict.ts';
import type { LedgerWriter } from './ledger-writes.ts';
import { createQuotaWriter, type QuotaWriter } from './quota-writes.ts';

export interface RecordWriter {
  /** The first record whose key is taken, in the database or earlier in the same list; undefined when all can be written. */
  conflict(records: readonly RecordWrite[]): RecordConflict | undefined;
  /** Writes records that have no conflict. `runId` is the run of the commit. */
  insert(records: readonly RecordWrite[], runId: RunId | null): void;
}

/** Prepares the statements once. */
export function createRecordWriter(db: DatabaseSync, ledger: LedgerWriter): RecordWriter {
  const quotas = createQuotaWriter(db);
  const find = prepareFinders(db, quotas);
  const insert = prepareInserters(db, { ledger, quotas });
  return {
    conflict: (records) => {
      const seen = new Map<string, number>();
      const holds: QuotaWrite[] = [];
      for (const record of records) {
        const key = recordKey(record);
        const inListCount = seen.get(key) ?? 0;
        seen.set(key, inListCount + 1);
        const holder = find(record, { inListCount, holds });
        if (holder !== undefined) return conflictOf(record, holder);
        if (record.table === 'quota') holds.push(record);
      }
      return undefined;
    },
    insert: (records, runId) => {
      for (const record of records) insert(record, runId);
    },
  };
}

/** `holds` on quotas stand before the record in its list. */
type Finder = (
  record: RecordWrite,
  before: { readonly inListCount: number; readonly holds: readonly QuotaWrite[] },
) => Holder | undefined;

/** Who holds a record's key. A use of a lease is free while fewer than `useCountMax` are stored or in the list. */
function prepareFinders(db: DatabaseSync, quotas: QuotaWriter): Finder {
  const lease = db.prepare('select run_id from lease where tenant = ? and lease_id = ?');
  const uses = db.prepare(
    'select request_digest, run_id from consumption where tenant = ? and issuer = ? and lease_id = ?',
  );
  const key = db.prepare('select request_digest, run_id from idempotency where tenant = ? and scope = ? and key = ?');
  const effect = db.prepare('select run_id from effect where tenant = ? and (effect_id = ? or idempotency_key = ?)');
  return (record, { inListCount, holds }) => {
    const twice: Holder | undefined = inListCount > 0 ? {} : undefined;
    switch (record.table) {
      case 'lease':
        return lease.get(record.row.tenant, record.row.leaseId) ?? twice;
      case 'consumption': {
        const taken = uses.all(record.tenant, record.issuer, record.leaseId) as Holder[];
        if (taken.length + inListCount < record.useCountMax) return undefined;
        // The use by the same request, if there is one: its sender gets the first answer again.
        return taken.find((use) => use.request_digest === record.requestDigest) ?? taken[0] ?? {};
      }
      case 'idempotency':
        return key.get(record.tenant, record.scope, record.key) ?? twice;
      case 'artifact':
        return undefined;
      case 'quota':
        return twice ?? quotas.conflict(record, holds);
      case 'effect':
        return effect.get(record.row.tenant, record.row.effectId, record.row.idempotencyKey) ?? twice;
    }
  };
}

type Inserter = (record: RecordWrite, runId: RunId | null) => void;

function prepareInserters(
  db: DatabaseSync,
  { ledger, quotas }: { readonly ledger: LedgerWriter; readonly quotas: QuotaWriter },
): Inserter {
  const lease = db.prepare('insert into lease (lease_id, tenant, run_id, task_id, json) values (?, ?, ?, ?, ?)');
  const use = db.prepare(
    `insert into consumption (tenant, issuer, lease_id, use, request_digest, run_id, expires_at) values
     (?1, ?2, ?3, (select count(*) from consumption where tenant = ?1 and issuer = ?2 and lease_id = ?3), ?4, ?5, ?6)`,
  );
  const key = db.prepare('insert into idempotency (tenant, scope, key, request_digest, run_id) values (?, ?, ?, ?, ?)');
  const artifact = db.prepare('insert or ignore into artifact (tenant, digest, bytes) values (?, ?, ?)');
  return (record, runId) => {
    switch (record.table) {
      case 'lease': {
        const { row } = record;
        lease.run(row.leaseId, row.tenant, row.runId, row.taskId ?? null, JSON.stringify(row));
        return;
      }
      case 'consumption':
        use.run(record.tenant, record.issuer, record.leaseId, record.requestDigest, runId, record.expiresAt);
        return;
      case 'idempotency':
        key.run(record.tenant, record.scope, record.key, record.requestDigest, record.runId);
        return;
      case 'artifact':
        artifact.run(record.tenant, record.digest, record.bytes);
        return;
      case 'quota':
        quotas.insert(record);
        return;
      case 'effect':
        ledger.insert(record.row);
        return;
    }
  };
}
