import type { Migration } from '../../migration.ts';

/** The tenant in every key. */
export const tenantKeys: Migration = {
  version: 3,
  title: 'the tenant in every key',
  up: `
  create table lease_3 (
    tenant text not null,
    lease_id text not null,
    run_id text not null,
    task_id text,
    json text not null,
    primary key (tenant, lease_id)
  ) strict, without rowid;
  insert into lease_3 select tenant, lease_id, run_id, task_id, json from lease;
  drop table lease;
  alter table lease_3 rename to lease;
  create index lease_of_run on lease (tenant, run_id, lease_id);

  -- A use names its run where a commit wrote it, and its lease where the registry did.
  create table consumption_3 (
    tenant text not null,
    issuer text not null,
    lease_id text not null,
    use integer not null,
    request_digest text not null,
    run_id text,
    expires_at integer not null,
    primary key (tenant, issuer, lease_id, use)
  ) strict, without rowid;
  insert into consumption_3
    select coalesce((select tenant from run where run.run_id = consumption.run_id),
        (select tenant from lease where lease.lease_id = replace(consumption.lease_id, 'exchange:', '')), ''),
      issuer, lease_id, use, request_digest, run_id, expires_at
    from consumption;
  drop table consumption;
  alter table consumption_3 rename to consumption;

  create table idempotency_3 (
    tenant text not null,
    scope text not null,
    key text not null,
    request_digest text not null,
    run_id text not null,
    primary key (tenant, scope, key)
  ) strict, without rowid;
  insert into idempotency_3
    select coalesce((select tenant from run where run.run_id = idempotency.run_id), ''), scope, key, request_digest, run_id
    from idempotency;
  drop table idempotency;
  alter table idempotency_3 rename to idempotency;
  `,
  down: `
  create table lease_2 (
    lease_id text primary key,
    tenant text not null,
    run_id text not null,
    task_id text,
    json text not null
  ) strict, without rowid;
  insert into lease_2 select lease_id, tenant, run_id, task_id, json from lease;
  drop table lease;
  alter table lease_2 rename to lease;
  create index lease_of_run on lease (tenant, run_id, lease_id);

  create table consumption_2 (
    issuer text not null,
    lease_id text not null,
    use integer not null,
    request_digest text not null,
    run_id text,
    expires_at integer not null,
    primary key (issuer, lease_id, use)
  ) strict, without rowid;
  insert into consumption_2 select issuer, lease_id, use, request_digest, run_id, expires_at from consumption;
  drop table consumption;
  alter table consumption_2 rename to consumption;

  create table idempotency_2 (
    scope text not null,
    key text not null,
    request_digest text not null,
    run_id text not null,
    primary key (scope, key)
  ) strict, without rowid;
  insert into idempotency_2 select scope, key, request_digest, run_id from idempotency;
  drop table idempotency;
  alter table idempotency_2 rename to idempotency;
  `,
};
