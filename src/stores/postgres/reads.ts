/**
 * Reads of runs and records. Each names the tenant whose rows it wants; lists over all tenants, for who looks for work, say so. The three
 * lists have so few conditions that a query builder would not shorten them.
 */
import type { RunRef } from '#contracts/command.ts';
import type { Digest } from '#contracts/ids.ts';
import type { RunQuery, Store } from '#ports/store.ts';
import { page } from '../page.ts';
import { eventsOfBatch, type StoredBatch } from '../event-batch.ts';
import { headOf, jobOf, leaseOf, type StoredRun } from '../rows.ts';
import type { Line, Statement } from './line.ts';

const HEAD_COLUMNS = `tenant, run_id, level, seq, hash, phase, result, needs_human::integer as needs_human, kind, subject,
  requested_by, started_at, updated_at`;

const HEAD: Statement = {
  name: 'head',
  text: `select ${HEAD_COLUMNS} from caseops.run where tenant = $1 and run_id = $2`,
};
const EVENTS: Statement = {
  name: 'events',
  text: 'select first_seq, seq, prev, json from caseops.event_batch where tenant = $1 and run_id = $2 and seq > $3 order by seq limit $4',
};
const JOBS: Statement = {
  name: 'jobs',
  text: 'select job_id, todo from caseops.job where tenant = $1 and run_id = $2 order by job_id',
};
const RUNS: Statement = {
  name: 'runs',
  text: `select ${HEAD_COLUMNS} from caseops.run
    where ($1::text is null or tenant = $1) and ($2::text is null or level = $2) and ($3::text is null or phase = $3)
      and ($4::text is null or (started_at, run_id) <
        (select b.started_at, b.run_id from caseops.run b where b.run_id = $4 and ($1::text is null or b.tenant = $1)))
    order by started_at desc, run_id desc limit $5`,
};
const OPEN_RUNS: Statement = {
  name: 'open_runs',
  text: `select ${HEAD_COLUMNS} from caseops.run where phase <> 'ended' and level = $1 order by started_at, run_id limit $2`,
};

type RunReads = Pick<Store, 'head' | 'events' | 'jobs' | 'runs' | 'openRuns'>;

/** Reads of runs: heads, events, jobs, lists. */
export function createRunReads(line: Line): RunReads {
  const ofRun = <Row>(ref: RunRef, statement: Statement, ...more: readonly unknown[]): Promise<readonly Row[]> =>
    line.run<Row>([ref.tenant], statement, () => [ref.tenant, ref.runId, ...more]);
  return {
    head: async (ref) => {
      const [row] = await ofRun<StoredRun>(ref, HEAD);
      return row === undefined ? undefined : headOf(row);
    },
    events: async (ref, afterSeq, limit) => {
      // Each row holds one event at least, and the first may begin before what was asked for.
      const rows = await ofRun<StoredBatch>(ref, EVENTS, afterSeq, page(limit));
      const events = rows.flatMap((row) => eventsOfBatch(row, ref)).filter(({ seq }) => seq > afterSeq);
      return events.slice(0, page(limit));
    },
    jobs: async (ref) => {
      const rows = await ofRun<{ readonly job_id: string; readonly todo: string }>(ref, JOBS);
      return rows.map((row) => jobOf(row.todo, ref, row.job_id));
    },
    runs: async (query: RunQuery) => {
      const { tenant, level = null, phase = null, before = null } = query;
      const scope = tenant === undefined ? 'every tenant' : [tenant];
      const values = [tenant ?? null, level, phase, before, page(query.limit)];
      return (await line.run<StoredRun>(scope, RUNS, () => values)).map(headOf);
    },
    openRuns: async (level, limit) =>
      (await line.run<StoredRun>('every tenant', OPEN_RUNS, () => [level, page(limit)])).map(headOf),
  };
}

const LEASE: Statement = {
  name: 'lease',
  text: 'select lease_id, task_id, json from caseops.lease where tenant = $1 and lease_id = $2',
};
const LEASES_OF_RUN: Statement = {
  name: 'leases_of_run',
  text: 'select lease_id, task_id, json from caseops.lease where tenant = $1 and run_id = $2 order by lease_id',
};
const BIND: Statement = {
  name: 'bind_lease_task',
  text: `update caseops.lease set task_id = $3 where tenant = $1 and lease_id = $2 and (task_id is null or task_id = $3)
    returning lease_id`,
};
const USES: Statement = {
  name: 'uses',
  text: `select request_digest as "requestDigest" from caseops.consumption
    where tenant = $1 and issuer = $2 and lease_id = $3 order by use`,
};
const KEY: Statement = {
  name: 'key',
  text: `select request_digest as "requestDigest", run_id as "runId" from caseops.idempotency
    where tenant = $1 and scope = $2 and key = $3`,
};
const QUOTA: Statement = {
  name: 'quota',
  text: 'select amount::float8 as amount from caseops.quota where tenant = $1 and scope = $2 and day = $3',
};
const ARTIFACT: Statement = {
  name: 'artifact',
  text: 'select bytes from caseops.artifact where tenant = $1 and digest = $2',
};

interface StoredLease {
  readonly lease_id: string;
  readonly task_id: string | null;
  readonly json: string;
}

type RecordReads = Pick<
  Store,
  'lease' | 'leasesOfRun' | 'bindLeaseTask' | 'consumption' | 'idempotency' | 'quota' | 'artifact'
>;
type BoundKey = Awaited<ReturnType<Store['idempotency']>>;

/** Reads of records: leases, uses, idempotency keys, artifacts; and the one change that is no commit's. */
export function createRecordReads(line: Line): RecordReads {
  const of = <Row>(tenant: string, statement: Statement, ...keys: readonly string[]): Promise<readonly Row[]> =>
    line.run<Row>([tenant], statement, () => [tenant, ...keys]);
  const parsed = (row: StoredLease): ReturnType<typeof leaseOf> => leaseOf(row.json, row.lease_id, row.task_id);
  return {
    lease: async (tenant, leaseId) => {
      const [row] = await of<StoredLease>(tenant, LEASE, leaseId);
      return row === undefined ? undefined : parsed(row);
    },
    leasesOfRun: async (tenant, runId) => (await of<StoredLease>(tenant, LEASES_OF_RUN, runId)).map(parsed),
    bindLeaseTask: async ({ tenant, leaseId }, taskId) => (await of(tenant, BIND, leaseId, taskId)).length === 1,
    consumption: (tenant, issuer, leaseId) => of<{ readonly requestDigest: Digest }>(tenant, USES, issuer, leaseId),
    idempotency: async (tenant, scope, key) => (await of<NonNullable<BoundKey>>(tenant, KEY, scope, key))[0],
    quota: async (tenant, scope, day) =>
      (await of<{ readonly amount: number }>(tenant, QUOTA, scope, day))[0]?.amount ?? 0,
    artifact: async (tenant, digest) => (await of<{ readonly bytes: Uint8Array }>(tenant, ARTIFACT, digest))[0]?.bytes,
  };
}
