import type { Migration } from '../../migration.ts';

/** The tables. Keys are (tenant, id); names and times compare by bytes, so that lists have one order on every server. */
export const tables: Migration = {
  version: 1,
  title: 'runs, events, jobs, their records, the effect ledger and the approvals',
  downLoses: 'every run',
  up: `
  -- Who is alive: one row per process, so that a heartbeat is one write however many runs it holds.
  create table caseops.owner (
    owner text collate "C" primary key,
    seen_at bigint not null,
    expires_at bigint not null
  );

  -- The last batch that each writing connection wrote: after a connection was lost, what it says decides whether the batch was written.
  create table caseops.batch (
    writer bigint generated always as identity primary key,
    number bigint not null default 0,
    written_at timestamptz not null default now()
  ) with (fillfactor = 50);

  -- The checkpoint of each run and its lock.
  create table caseops.run (
    tenant text collate "C" not null,
    run_id text collate "C" not null,
    level text not null check (level in ('central', 'team')),
    seq integer not null,
    hash text not null,
    phase text not null check (phase in ('received', 'planned', 'running', 'blocked', 'cancelling', 'ended')),
    result text check (result in ('completed', 'no_data', 'partial', 'degraded', 'failed', 'cancelled', 'refused')),
    needs_human boolean not null,
    kind text not null,
    subject text not null,
    requested_by text not null,
    started_at text collate "C" not null,
    updated_at text collate "C" not null,
    lock_owner text collate "C" not null,
    fence integer not null,
    -- The call that took the lock together with others, so that its answer can be given again when it was lost.
    taken_in bigint,
    primary key (tenant, run_id)
  ) with (fillfactor = 70);
  create index run_started on caseops.run (started_at, run_id);
  create index run_open on caseops.run (level, started_at, run_id) where phase <> 'ended';

  -- The events of one commit in one row.
  create table caseops.event_batch (
    tenant text collate "C" not null,
    run_id text collate "C" not null,
    -- Of its last event.
    seq integer not null,
    first_seq integer not null,
    -- The hash before its first event.
    prev text not null,
    -- An array of events without tenant, runId, seq and prev; text, since its bytes are what was hashed.
    json text not null,
    primary key (tenant, run_id, seq)
  );

  -- For who looks into the database: one row an event, of the tenants that the reader has named.
  create view caseops.event with (security_invoker = true) as
    select b.tenant, b.run_id, b.first_seq + n.position::integer - 1 as seq, n.event ->> 'kind' as kind, n.event ->> 'at' as at,
        n.event as json, n.event ->> 'hash' as hash
      from caseops.event_batch b, json_array_elements(b.json::json) with ordinality as n (event, position);

  create table caseops.job (
    tenant text collate "C" not null,
    run_id text collate "C" not null,
    job_id text collate "C" not null,
    todo text not null,
    primary key (tenant, run_id, job_id)
  );

  create table caseops.lease (
    tenant text collate "C" not null,
    lease_id text collate "C" not null,
    run_id text collate "C" not null,
    task_id text,
    json text not null,
    primary key (tenant, lease_id)
  );
  create index lease_of_run on caseops.lease (tenant, run_id, lease_id);

  create table caseops.consumption (
    tenant text collate "C" not null,
    issuer text collate "C" not null,
    lease_id text collate "C" not null,
    use integer not null,
    request_digest text not null,
    run_id text,
    expires_at bigint not null,
    primary key (tenant, issuer, lease_id, use)
  );

  create table caseops.idempotency (
    tenant text collate "C" not null,
    scope text collate "C" not null,
    key text collate "C" not null,
    request_digest text not null,
    run_id text not null,
    primary key (tenant, scope, key)
  );

  create table caseops.artifact (
    tenant text collate "C" not null,
    digest text collate "C" not null,
    bytes bytea not null,
    primary key (tenant, digest)
  );

  -- An effect under way or in doubt holds its resource: one writer per resource, across processes.
  create table caseops.effect (
    tenant text collate "C" not null,
    effect_id text collate "C" not null,
    run_id text collate "C" not null,
    idempotency_key text collate "C" not null,
    state text not null,
    lock text collate "C",
    updated_at text collate "C" not null,
    json text not null,
    primary key (tenant, effect_id)
  );
  create unique index effect_once on caseops.effect (tenant, idempotency_key);
  create unique index effect_lock on caseops.effect (tenant, lock) where lock is not null;
  create index effect_of_run on caseops.effect (tenant, run_id, effect_id);
  create index effect_changed on caseops.effect (tenant, updated_at, effect_id);

  create table caseops.approval (
    tenant text collate "C" not null,
    approval_id text collate "C" not null,
    run_id text collate "C" not null,
    state text not null,
    requested_at text collate "C" not null,
    json text not null,
    primary key (tenant, approval_id)
  );
  create index approval_asked on caseops.approval (tenant, requested_at, approval_id);
  create index approval_of_run on caseops.approval (tenant, run_id, approval_id);
  `,
  down: `
  drop view caseops.event;
  drop table if exists caseops.quota, caseops.quota_hold;
  drop table caseops.approval, caseops.effect, caseops.artifact, caseops.idempotency, caseops.consumption, caseops.lease,
    caseops.job, caseops.event_batch, caseops.run, caseops.batch, caseops.owner;
  `,
};
