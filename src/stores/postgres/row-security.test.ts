import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import pg from 'pg';
import { startPostgres } from '#testing/postgres-cluster.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { artifactOf, commitOf, committed, jobOf, keyOf, leaseOf, refOf, START_MS, useOf } from '../suite-samples.ts';
import { openPostgresStore } from './postgres-store.ts';

const cluster = await startPostgres();
after(() => cluster[Symbol.asyncDispose]());

const TABLES = [
  'run',
  'event_batch',
  'job',
  'lease',
  'consumption',
  'idempotency',
  'artifact',
  'effect',
  'approval',
  'quota',
  'quota_hold',
];

interface Raw extends AsyncDisposable {
  query(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
}

/** A plain connection, as somebody would have who got hold of ours. */
async function raw(url: string, role: string | undefined): Promise<Raw> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  if (role !== undefined) await client.query(`set role ${role}`);
  return {
    query: async (text, values = []) => (await client.query<Record<string, unknown>>(text, [...values])).rows,
    [Symbol.asyncDispose]: () => client.end(),
  };
}

/** A run of t9 with a row in each table that commits write. */
async function filled(): Promise<{ readonly url: string } & AsyncDisposable> {
  const database = await cluster.database();
  await using store = await openPostgresStore({ url: database.url, clock: seededClock(START_MS) });
  const ref = refOf('own');
  const lease = { table: 'lease', row: leaseOf(ref, 'lse_own') } as const;
  const day = { scope: 'money:EUR', day: '2026-07-22', key: 'dsp_1', amount: 1, amountMax: 2 };
  const hold = { table: 'quota', tenant: ref.tenant, ...day } as const;
  const records = [lease, useOf('lse_own', 'x'), keyOf(ref, 'k', 'x'), artifactOf(ref, 'x'), hold];
  await committed(store, commitOf(ref, { eventCount: 2, addJobs: [jobOf(ref)], records }));
  return database;
}

test('under another tenant, or none, no row of any table is seen, changed or removed by plain SQL', async () => {
  await using database = await filled();
  await using thief = await raw(database.url, 'caseops_app');
  for (const tenants of ['t8', '', 't8,t7', 't', 't9 ', '%']) {
    await thief.query(`select set_config('caseops.tenants', $1, false)`, [tenants]);
    for (const table of TABLES) {
      assert.deepEqual(await thief.query(`select * from caseops.${table}`), [], table);
      assert.deepEqual(await thief.query(`update caseops.${table} set tenant = tenant returning 1`), [], table);
      assert.deepEqual(await thief.query(`delete from caseops.${table} returning 1`), [], table);
    }
  }
  await thief.query(`select set_config('caseops.tenants', 't9', false)`);
  assert.equal((await thief.query('select * from caseops.event')).length, 2);
});

test('a setting that was never made shows nothing', async () => {
  await using database = await filled();
  await using thief = await raw(database.url, 'caseops_app');
  for (const table of TABLES) assert.deepEqual(await thief.query(`select * from caseops.${table}`), [], table);
});

test('a row of another tenant is not written, also not by moving an own one there', async () => {
  await using database = await filled();
  await using thief = await raw(database.url, 'caseops_app');
  await thief.query(`select set_config('caseops.tenants', 't8', false)`);
  const forged = `insert into caseops.job (tenant, run_id, job_id, todo) values ('t9', 'run_own', 'forged', '{}')`;
  await assert.rejects(thief.query(forged), { code: '42501' });
  await assert.rejects(thief.query(`${forged} on conflict do nothing`), { code: '42501' });
  await thief.query(`insert into caseops.job (tenant, run_id, job_id, todo) values ('t8', 'run_own', 'own', '{}')`);
  await assert.rejects(thief.query(`update caseops.job set tenant = 't9'`), { code: '42501' });
});

test('our role can turn row security off nowhere and change no table', async () => {
  await using database = await filled();
  await using thief = await raw(database.url, 'caseops_app');
  for (const statement of [
    'alter table caseops.event_batch disable row level security',
    'alter table caseops.event_batch no force row level security',
    'drop policy named_tenant on caseops.event_batch',
    'truncate caseops.event_batch',
    `update caseops.schema_version set version = 99`,
  ])
    await assert.rejects(thief.query(statement), { code: '42501' }, statement);
});

test('every table that holds a tenant is bound, and the tables’ owner with it', async () => {
  await using database = await filled();
  await using owner = await raw(database.url, undefined);
  const rows = await owner.query(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'caseops'::regnamespace and c.relkind = 'r' and a.attname = 'tenant'
       and c.relrowsecurity and c.relforcerowsecurity order by 1`,
  );
  assert.deepEqual(
    rows.map(({ name }) => name),
    TABLES.toSorted(),
  );
  const keyed = await owner.query(
    `select i.indrelid::regclass::text as name from pg_index i
     where i.indrelid in (select oid from pg_class where relnamespace = 'caseops'::regnamespace) and i.indisprimary
       and (select attname from pg_attribute where attrelid = i.indrelid and attnum = i.indkey[0]) = 'tenant'
     order by 1`,
  );
  assert.deepEqual(
    keyed.map(({ name }) => name),
    TABLES.toSorted().map((table) => `caseops.${table}`),
  );
});

test('who is bound without our role needs none; whom nothing binds is refused', async () => {
  await using database = await cluster.database();
  const name = `plain_${Date.now()}`;
  await using admin = await raw(database.url, undefined);
  await admin.query(`create role ${name} login password 'own'`);
  await admin.query(`grant create on database ${new URL(database.url).pathname.slice(1)} to ${name}`);
  const plain = new URL(database.url);
  plain.username = name;
  plain.password = 'own';
  {
    await using store = await openPostgresStore({ url: plain.href, clock: seededClock(START_MS) });
    await committed(store, commitOf(refOf('own')));
    // Owner of the tables, and still held by their policies.
    await using owner = await raw(plain.href, undefined);
    assert.deepEqual(await owner.query('select * from caseops.event'), []);
  }
  await admin.query(`alter role ${name} bypassrls`);
  await assert.rejects(openPostgresStore({ url: plain.href, clock: seededClock(START_MS) }), {
    code: 'ERR_STORE',
    message: /reached as a user whom row security does not bind/,
  });
  await admin.query(`drop owned by ${name}`);
  await admin.query(`drop role ${name}`);
});
