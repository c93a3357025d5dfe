import type { Migration } from '../../migration.ts';

/** One writer per resource, and the approvals. */
export const ledger: Migration = {
  version: 2,
  title: 'one writer per resource, and the approvals',
  downLoses: 'the approvals and the locks of effects under way',
  up: `
  -- An effect under way or in doubt holds its resource: one writer per resource, across processes.
  alter table effect add column state text not null default 'in_progress';
  alter table effect add column lock text;
  alter table effect add column updated_at text not null default '';
  create unique index effect_lock on effect (tenant, lock) where lock is not null;
  create index effect_changed on effect (tenant, updated_at, effect_id);

  create table approval (
    tenant text not null,
    approval_id text not null,
    run_id text not null,
    state text not null,
    requested_at text not null,
    json text not null,
    primary key (tenant, approval_id)
  ) strict, without rowid;
  create index approval_asked on approval (tenant, requested_at, approval_id);
  create index approval_of_run on approval (tenant, run_id, approval_id);
  `,
  down: `
  drop table approval;
  drop index effect_changed;
  drop index effect_lock;
  alter table effect drop column updated_at;
  alter table effect drop column lock;
  alter table effect drop column state;
  `,
};
