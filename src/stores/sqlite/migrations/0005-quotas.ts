import type { Migration } from '../../migration.ts';

/** What tenants hold of their quotas, day by day. An older program leaves these tables alone, so going back keeps them. */
export const quotas: Migration = {
  version: 5,
  title: 'what tenants hold of their quotas',
  up: `
  create table if not exists quota (
    tenant text not null,
    scope text not null,
    day text not null,
    -- The sum of its holds.
    amount integer not null,
    primary key (tenant, scope, day)
  ) strict, without rowid;
  create table if not exists quota_hold (
    tenant text not null,
    scope text not null,
    day text not null,
    key text not null,
    amount integer not null,
    primary key (tenant, scope, day, key)
  ) strict, without rowid;
  `,
  down: '',
};
