import type { Migration } from '../../migration.ts';
import { APP_ROLE } from '../role.ts';

const TABLES = ['quota', 'quota_hold'];
const NAMED = `(tenant = any ((select string_to_array(current_setting('caseops.tenants', true), ','))::text[])
      or (select current_setting('caseops.tenants', true)) = '*')`;

/** What tenants hold of their quotas, day by day. An older program leaves these tables alone, so going back keeps them. */
export const quotas: Migration = {
  version: 4,
  title: 'what tenants hold of their quotas',
  up: `
  create table if not exists caseops.quota (
    tenant text collate "C" not null,
    scope text collate "C" not null,
    day text collate "C" not null,
    -- The sum of its holds.
    amount bigint not null,
    primary key (tenant, scope, day)
  );
  create table if not exists caseops.quota_hold (
    tenant text collate "C" not null,
    scope text collate "C" not null,
    day text collate "C" not null,
    key text collate "C" not null,
    amount bigint not null,
    primary key (tenant, scope, day, key)
  );
  ${TABLES.map(
    (table) => `
  alter table caseops.${table} enable row level security;
  alter table caseops.${table} force row level security;
  drop policy if exists named_tenant on caseops.${table};
  create policy named_tenant on caseops.${table} using ${NAMED} with check ${NAMED};`,
  ).join('')}
  do $$ begin
    grant select, insert, update, delete on caseops.quota, caseops.quota_hold to ${APP_ROLE};
  exception when undefined_object or insufficient_privilege then null;
  end $$;

  -- CO004: a quota has less left. The day's row is locked first: two processes cannot both take the last of it.
  create function caseops.write_quotas(p_rows json) returns void language plpgsql as $$
  #variable_conflict use_column
  declare
    n record;
    v_own bigint;
  begin
    for n in select * from json_to_recordset(p_rows)
        as r (tenant text, scope text, day text, key text, amount bigint, max bigint) loop
      insert into caseops.quota (tenant, scope, day, amount) values (n.tenant, n.scope, n.day, 0) on conflict do nothing;
      perform from caseops.quota q where q.tenant = n.tenant and q.scope = n.scope and q.day = n.day for update;
      select h.amount into v_own from caseops.quota_hold h
        where h.tenant = n.tenant and h.scope = n.scope and h.day = n.day and h.key = n.key;
      v_own = coalesce(v_own, 0);
      update caseops.quota q set amount = q.amount - v_own + n.amount
        where q.tenant = n.tenant and q.scope = n.scope and q.day = n.day
          and (n.amount <= v_own or q.amount - v_own + n.amount <= n.max);
      if not found then
        raise exception 'a quota has less left' using errcode = 'CO004';
      end if;
      insert into caseops.quota_hold (tenant, scope, day, key, amount) values (n.tenant, n.scope, n.day, n.key, n.amount)
        on conflict (tenant, scope, day, key) do update set amount = excluded.amount;
    end loop;
  end $$;

  alter function caseops.write_records rename to write_other_records;
  create function caseops.write_records(p_records json) returns void language plpgsql as $$
  begin
    perform caseops.write_other_records(p_records);
    if p_records -> 'quota' is not null then
      perform caseops.write_quotas(p_records -> 'quota');
    end if;
  end $$;
  `,
  down: `
  drop function caseops.write_records;
  alter function caseops.write_other_records rename to write_records;
  drop function caseops.write_quotas;
  `,
};
