/** The store's reads. They see what is durable: between two transactions there is nothing else. */
import type { DatabaseSync } from 'node:sqlite';
import type { Job, RunRef } from '#contracts/command.ts';
import type { RunEvent } from '#contracts/event.ts';
import type { Digest, RunId } from '#contracts/ids.ts';
import type { LeaseRow } from '#contracts/lease.ts';
import type { RunHead, RunQuery } from '#ports/store.ts';
import { page } from '../page.ts';
import { headOf, jobOf, leaseOf, type StoredRun } from '../rows.ts';
import { eventsOfBatch, type StoredBatch } from '../event-batch.ts';

const HEAD_COLUMNS = `tenant, run_id, level, seq, hash, phase, result, needs_human, kind, subject, requested_by, started_at,
  updated_at`;

/** Reads of runs: heads, events, jobs, lists. */
export function prepareRunReads(db: DatabaseSync) {
  const head = db.prepare(`select ${HEAD_COLUMNS} from run where tenant = ? and run_id = ?`);
  const events = db.prepare(
    'select first_seq, seq, prev, json from event_batch where tenant = ? and run_id = ? and seq > ? order by seq',
  );
  const jobs = db.prepare('select job_id, todo from job where tenant = ? and run_id = ? order by job_id');
  const runs = db.prepare(
    `select ${HEAD_COLUMNS} from run
     where (?1 is null or tenant = ?1) and (?2 is null or level = ?2) and (?3 is null or phase = ?3)
       and (?4 is null or (started_at, run_id) < (select started_at, run_id from run where run_id = ?4 and (?1 is null or tenant = ?1)))
     order by started_at desc, run_id desc limit ?5`,
  );
  const open = db.prepare(
    `select ${HEAD_COLUMNS} from run where phase <> 'ended' and level = ? order by started_at, run_id limit ?`,
  );
  return {
    head: (ref: RunRef): RunHead | undefined => {
      const row = head.get(ref.tenant, ref.runId) as unknown as StoredRun | undefined;
      return row === undefined ? undefined : headOf(row);
    },
    events: (ref: RunRef, afterSeq: number, limit: number): readonly RunEvent[] => {
      const found: RunEvent[] = [];
      for (const row of events.iterate(ref.tenant, ref.runId, afterSeq)) {
        if (found.length >= page(limit)) break;
        // A row may begin before what was asked for.
        for (const event of eventsOfBatch(row as unknown as StoredBatch, ref))
          if (event.seq > afterSeq) found.push(event);
      }
      return found.slice(0, page(limit));
    },
    jobs: (ref: RunRef): readonly Job[] => {
      const rows = jobs.all(ref.tenant, ref.runId) as { job_id: string; todo: string }[];
      return rows.map((row) => jobOf(row.todo, ref, row.job_id));
    },
    runs: (query: RunQuery): readonly RunHead[] => {
      const { tenant = null, level = null, phase = null, before = null } = query;
      const rows = runs.all(tenant, level, phase, before, page(query.limit)) as unknown as StoredRun[];
      return rows.map(headOf);
    },
    openRuns: (level: 'central' | 'team', limit: number): readonly RunHead[] =>
      (open.all(level, page(limit)) as unknown as StoredRun[]).map(headOf),
  };
}

interface StoredLease {
  readonly lease_id: string;
  readonly task_id: string | null;
  readonly json: string;
}

/** Reads of records: leases, uses, idempotency keys, artifacts. */
export function prepareRecordReads(db: DatabaseSync) {
  const lease = db.prepare('select lease_id, task_id, json from lease where tenant = ? and lease_id = ?');
  const leases = db.prepare(
    'select lease_id, task_id, json from lease where tenant = ? and run_id = ? order by lease_id',
  );
  const uses = db.prepare(
    'select request_digest from consumption where tenant = ? and issuer = ? and lease_id = ? order by use',
  );
  const key = db.prepare('select request_digest, run_id from idempotency where tenant = ? and scope = ? and key = ?');
  const quota = db.prepare('select amount from quota where tenant = ? and scope = ? and day = ?');
  const artifact = db.prepare('select bytes from artifact where tenant = ? and digest = ?');
  return {
    lease: (tenant: string, leaseId: string): LeaseRow | undefined => {
      const row = lease.get(tenant, leaseId) as StoredLease | undefined;
      return row === undefined ? undefined : leaseOf(row.json, row.lease_id, row.task_id);
    },
    leasesOfRun: (tenant: string, runId: RunId): readonly LeaseRow[] =>
      (leases.all(tenant, runId) as unknown as StoredLease[]).map((row) =>
        leaseOf(row.json, row.lease_id, row.task_id),
      ),
    consumption: (tenant: string, issuer: string, leaseId: string): readonly { readonly requestDigest: Digest }[] =>
      (uses.all(tenant, issuer, leaseId) as { request_digest: Digest }[]).map((row) => ({
        requestDigest: row.request_digest,
      })),
    idempotency: (tenant: string, scope: string, id: string): { requestDigest: Digest; runId: RunId } | undefined => {
      const row = key.get(tenant, scope, id) as { request_digest: Digest; run_id: RunId } | undefined;
      return row === undefined ? undefined : { requestDigest: row.request_digest, runId: row.run_id };
    },
    quota: (tenant: string, scope: string, day: string): number =>
      Number(quota.get(tenant, scope, day)?.['amount'] ?? 0),
    artifact: (tenant: string, digest: Digest): Uint8Array | undefined =>
      (artifact.get(tenant, digest) as { bytes: Uint8Array } | undefined)?.bytes,
  };
}
