import type { Migration } from '../../migration.ts';
import { APP_ROLE } from '../role.ts';

const TENANT_TABLES = [
  'run',
  'event_batch',
  'job',
  'lease',
  'consumption',
  'idempotency',
  'artifact',
  'effect',
  'approval',
];

/**
 * Row-level security: a transaction sees and writes rows of the tenants that it has named in `caseops.tenants` and of no others; `*`
 * stands for all and is said only where a process looks for work of any tenant. Forced, so that the tables' owner is held to it too.
 * A superuser is not held by it, whatever is forced: our connections therefore act as a role that is none. INV-14.
 */
export const rowSecurity: Migration = {
  version: 3,
  title: 'rows are seen and written only by who names their tenant',
  up: `
  do $$ begin
    if not exists (select from pg_roles where rolname = '${APP_ROLE}') then
      create role ${APP_ROLE} nologin nosuperuser nobypassrls;
    end if;
  exception
    -- Somebody who may not make roles connects as one that is held by row security anyway; or another database made it just now.
    when insufficient_privilege or duplicate_object or unique_violation then null;
  end $$;
  do $$ begin
    grant usage on schema caseops to ${APP_ROLE};
    grant select, insert, update, delete on all tables in schema caseops to ${APP_ROLE};
    revoke insert, update, delete on caseops.schema_version from ${APP_ROLE};
    execute format('grant ${APP_ROLE} to %I', current_user);
  exception when undefined_object or insufficient_privilege then null;
  end $$;
  ${TENANT_TABLES.map(
    (table) => `
  alter table caseops.${table} enable row level security;
  alter table caseops.${table} force row level security;
  create policy named_tenant on caseops.${table}
    using (tenant = any ((select string_to_array(current_setting('caseops.tenants', true), ','))::text[])
      or (select current_setting('caseops.tenants', true)) = '*')
    with check (tenant = any ((select string_to_array(current_setting('caseops.tenants', true), ','))::text[])
      or (select current_setting('caseops.tenants', true)) = '*');`,
  ).join('')}
  `,
  down: TENANT_TABLES.map(
    (table) => `
  drop policy named_tenant on caseops.${table};
  alter table caseops.${table} no force row level security;
  alter table caseops.${table} disable row level security;`,
  ).join(''),
};
