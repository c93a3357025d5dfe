import type { Migration } from '../../migration.ts';

/** Runs, events, jobs and their records. */
export const runs: Migration = {
  version: 1,
  title: 'runs, events, jobs and their records',
  downLoses: 'every run',
  up: `
  -- Who is alive: one row per process, so that a heartbeat is one write however many runs it holds.
  create table owner (
    owner text primary key,
    seen_at integer not null,
    expires_at integer not null
  ) strict, without rowid;

  -- The checkpoint of each run and its lock.
  create table run (
    tenant text not null,
    run_id text not null,
    level text not null check (level in ('central', 'team')),
    seq integer not null,
    hash text not null,
    phase text not null check (phase in ('received', 'planned', 'running', 'blocked', 'cancelling', 'ended')),
    result text check (result in ('completed', 'no_data', 'partial', 'degraded', 'failed', 'cancelled', 'refused')),
    needs_human integer not null check (needs_human in (0, 1)),
    kind text not null,
    subject text not null,
    requested_by text not null,
    started_at text not null,
    updated_at text not null,
    lock_owner text not null,
    fence integer not null,
    primary key (tenant, run_id)
  ) strict, without rowid;
  create index run_started on run (started_at, run_id);
  create index run_open on run (level, started_at, run_id) where phase <> 'ended';

  create table event (
    tenant text not null,
    run_id text not null,
    seq integer not null,
    kind text not null,
    at text not null,
    json text not null,
    hash text not null,
    primary key (tenant, run_id, seq)
  ) strict, without rowid;

  create table job (
    tenant text not null,
    run_id text not null,
    job_id text not null,
    todo text not null,
    primary key (tenant, run_id, job_id)
  ) strict, without rowid;

  create table lease (
    lease_id text primary key,
    tenant text not null,
    run_id text not null,
    task_id text,
    json text not null
  ) strict, without rowid;
  create index lease_of_run on lease (tenant, run_id, lease_id);

  create table consumption (
    issuer text not null,
    lease_id text not null,
    use integer not null,
    request_digest text not null,
    run_id text,
    expires_at integer not null,
    primary key (issuer, lease_id, use)
  ) strict, without rowid;

  create table idempotency (
    scope text not null,
    key text not null,
    request_digest text not null,
    run_id text not null,
    primary key (scope, key)
  ) strict, without rowid;

  -- Bytes are large: a table with row ids keeps them out of the tree's inner pages.
  create table artifact (
    tenant text not null,
    digest text not null,
    bytes blob not null,
    unique (tenant, digest)
  ) strict;

  create table effect (
    tenant text not null,
    effect_id text not null,
    run_id text not null,
    idempotency_key text not null,
    json text not null,
    primary key (tenant, effect_id)
  ) strict, without rowid;
  create unique index effect_once on effect (tenant, idempotency_key);
  create index effect_of_run on effect (tenant, run_id, effect_id);
  `,
  down: `
  drop table if exists quota_hold;
  drop table if exists quota;
  drop table effect;
  drop table artifact;
  drop table idempotency;
  drop table consumption;
  drop table lease;
  drop table job;
  drop table event;
  drop table run;
  drop table owner;
  `,
};
