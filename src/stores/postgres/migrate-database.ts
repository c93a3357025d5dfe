/** Brings the tables to a version, forward or back, in one transaction under an advisory lock. */
import pg from 'pg';
import { migrationPath, type MigrationStep, type MigrationWish, statementsOf } from '../migration-path.ts';
import type { Place } from './place.ts';
import { codeOf, storeError } from './postgres-error.ts';
import { MIGRATIONS } from './schema.ts';

/** "CaOp" as a number: one lock a database, held until the transaction ends. */
const ADVISORY_LOCK = 0x43_61_4f_70;
const CONNECT_MS_MAX = 10_000;

/**
 * The steps that were taken, or with `dryRun` would be. Of processes that start at once one migrates and the others wait and find it
 * done. A failure leaves everything as it was. Throws ERR_STORE.
 */
export async function migrateDatabase(place: Place, wish: MigrationWish): Promise<readonly MigrationStep[]> {
  return asOwner(place, (client) => migrate(client, place, wish));
}

/** The version of the tables; 0 for a database without any. Throws ERR_STORE. */
export async function databaseVersion(place: Place): Promise<number> {
  return asOwner(place, versionOf);
}

/** Work on a connection of its own, as the user that the url names. */
export async function asOwner<T>(place: Place, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: place.url,
    application_name: 'caseops migrate',
    connectionTimeoutMillis: CONNECT_MS_MAX,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } catch (error) {
    throw storeError(error, place.name);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function migrate(client: pg.Client, place: Place, wish: MigrationWish): Promise<readonly MigrationStep[]> {
  const { to, dryRun = false, lossAllowed = false } = wish;
  const at = { place: place.name, known: MIGRATIONS, lossAllowed };
  const from = await versionOf(client);
  // Also when there is nothing to do, a version of the future is refused.
  if (dryRun || from === to) return migrationPath(at, from, to);
  await client.query('begin');
  try {
    await client.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
    await client.query(BOOTSTRAP);
    // Read again under the lock: another process may have migrated meanwhile.
    const steps = migrationPath(at, await versionOf(client), to);
    for (const step of steps) await take(client, step);
    await client.query('commit');
    return steps;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

const BOOTSTRAP = `create schema if not exists caseops;
  create table if not exists caseops.schema_version (
    version integer primary key,
    title text not null,
    applied_at timestamptz not null default now()
  )`;

async function take(client: pg.Client, step: MigrationStep): Promise<void> {
  const { version, title } = step.migration;
  await client.query(statementsOf(step));
  if (step.direction === 'up')
    await client.query('insert into caseops.schema_version (version, title) values ($1, $2)', [version, title]);
  else await client.query('delete from caseops.schema_version where version = $1', [version]);
}

async function versionOf(client: pg.Client): Promise<number> {
  try {
    const { rows } = await client.query<{ readonly version: number }>(
      'select coalesce(max(version), 0) as version from caseops.schema_version',
    );
    return rows[0]?.version ?? 0;
  } catch (error) {
    // No such schema, no such table.
    if (['3F000', '42P01'].includes(codeOf(error) ?? '')) return 0;
    throw error;
  }
}
