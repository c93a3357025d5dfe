import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import pg from 'pg';
import { verifyChain } from '#kernel/chain.ts';
import { startPostgres } from '#testing/postgres-cluster.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { artifactOf, commitOf, committed, jobOf, keyOf, leaseOf, refOf, START_MS, useOf } from '../suite-samples.ts';
import { databaseVersion, migrateDatabase } from './migrate-database.ts';
import { placeOf } from './place.ts';
import { openPostgresStore } from './postgres-store.ts';
import { MIGRATIONS } from './schema.ts';

const cluster = await startPostgres();
after(() => cluster[Symbol.asyncDispose]());

const LATEST = MIGRATIONS.length;
const BACK_TO = MIGRATIONS.findLast(({ downLoses }) => downLoses !== undefined)?.version ?? 0;
const open = (url: string, rest: { readonly migrate?: boolean } = {}): ReturnType<typeof openPostgresStore> =>
  openPostgresStore({ url, clock: seededClock(START_MS), ...rest });

/** Every row of every table but the one that says when, as the superuser sees them. */
async function rowsOf(url: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows: tables } = await client.query<{ readonly name: string }>(
    `select relname as name from pg_class where relnamespace = 'caseops'::regnamespace and relkind = 'r'
       and relname not in ('schema_version', 'batch') order by 1`,
  );
  const found: Record<string, unknown> = {};
  for (const { name } of tables)
    found[name] = (await client.query(`select * from caseops."${name}" order by 1, 2, 3`)).rows;
  await client.end();
  return found;
}

test('migrations count from one without a gap', () => {
  assert.deepEqual(
    MIGRATIONS.map(({ version }) => version),
    MIGRATIONS.map((_, index) => index + 1),
  );
});

test('going back and forward again leaves every row and every chain as they were', async () => {
  await using database = await cluster.database();
  const place = placeOf(database.url);
  {
    await using store = await open(database.url);
    for (const name of ['one', 'two', 'three']) {
      const ref = refOf(name);
      const lease = { table: 'lease', row: leaseOf(ref, `lse_${name}`) } as const;
      const records = [lease, useOf(`lse_${name}`, name), keyOf(ref, name, name), artifactOf(ref, name)];
      const log = await committed(store, commitOf(ref, { eventCount: 3, addJobs: [jobOf(ref)], records }));
      await committed(store, commitOf(ref, { after: log, eventCount: 2 }));
    }
  }
  const before = await rowsOf(database.url);
  const planned = await migrateDatabase(place, { to: BACK_TO, dryRun: true });
  assert.equal(planned.length, LATEST - BACK_TO);
  assert.equal(await databaseVersion(place), LATEST, 'a dry run changes nothing');
  const back = await migrateDatabase(place, { to: BACK_TO });
  assert.deepEqual(
    back.map(({ direction }) => direction),
    back.map(() => 'down'),
  );
  assert.equal(await databaseVersion(place), BACK_TO);
  assert.deepEqual(await rowsOf(database.url), before);
  await assert.rejects(open(database.url, { migrate: false }), {
    code: 'ERR_STORE',
    message: /run `caseops db migrate` first/,
  });
  await migrateDatabase(place, { to: LATEST });
  assert.deepEqual(await rowsOf(database.url), before);
  await using store = await open(database.url, { migrate: false });
  const ref = refOf('two');
  assert.equal(verifyChain({ ref, seq: 0, hash: '' }, await store.events(ref, 0, 10)).ok, true);
  await committed(store, commitOf(refOf('four')));
});

test('of ten processes that start at once on an empty database one migrates', async () => {
  await using database = await cluster.database();
  const place = placeOf(database.url);
  const taken = await Promise.all(Array.from({ length: 10 }, () => migrateDatabase(place, { to: LATEST })));
  assert.deepEqual(
    taken.map((steps) => steps.length).toSorted((one, other) => other - one),
    [LATEST, ...Array.from({ length: 9 }, () => 0)],
  );
  assert.equal(await databaseVersion(place), LATEST);
});

test('what going back would throw away is named, and kept until somebody says so', async () => {
  await using database = await cluster.database();
  const place = placeOf(database.url);
  await (await open(database.url))[Symbol.asyncDispose]();
  await assert.rejects(migrateDatabase(place, { to: 0 }), {
    code: 'ERR_STORE',
    message: /throws away every run.*--lose-data/,
  });
  assert.equal((await migrateDatabase(place, { to: 0, lossAllowed: true })).length, LATEST);
  assert.equal(await databaseVersion(place), 0);
});

test('a database of a newer program is refused and not changed', async () => {
  await using database = await cluster.database();
  await (await open(database.url))[Symbol.asyncDispose]();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(`insert into caseops.schema_version (version, title) values (99, 'of the future')`);
  await client.end();
  await assert.rejects(open(database.url), {
    code: 'ERR_STORE',
    message: /has version 99 and this program knows up to/,
  });
});

test('a failing step leaves the version before it', async () => {
  await using database = await cluster.database();
  const place = placeOf(database.url);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  // Somebody else's table stands where ours must be.
  await client.query('create schema caseops; create table caseops.job (x integer)');
  await client.end();
  await assert.rejects(migrateDatabase(place, { to: LATEST }), { code: 'ERR_STORE' });
  assert.equal(await databaseVersion(place), 0);
});
