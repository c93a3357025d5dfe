import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { verifyChain } from '#kernel/chain.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { artifactOf, commitOf, committed, jobOf, keyOf, leaseOf, refOf, START_MS, useOf } from '../suite-samples.ts';
import { migrateDatabase } from './migrate-database.ts';
import { openDatabase } from './open-database.ts';
import { MIGRATIONS } from './schema.ts';
import { openSqliteStore } from './sqlite-store.ts';

const LATEST = MIGRATIONS.length;
/** The last version from which going forward again loses nothing. */
const BACK_TO = MIGRATIONS.findLast(({ downLoses }) => downLoses !== undefined)?.version ?? 0;
const back = MIGRATIONS.slice(BACK_TO)
  .toReversed()
  .map(({ version }) => `down ${version}`);
const forth = MIGRATIONS.slice(BACK_TO).map(({ version }) => `up ${version}`);

async function filled(): Promise<{ readonly path: string } & AsyncDisposable> {
  const directory = await mkdtemp(join(tmpdir(), 'caseops-migrate-'));
  const path = join(directory, 'caseops.db');
  await using store = openSqliteStore({ path, clock: seededClock(START_MS) });
  for (const name of ['one', 'two', 'three']) {
    const ref = refOf(name);
    const records = [
      { table: 'lease', row: leaseOf(ref, `lse_${name}`) } as const,
      useOf(`lse_${name}`, name),
      keyOf(ref, name, name),
      artifactOf(ref, name),
    ];
    const after = await committed(store, commitOf(ref, { eventCount: 3, addJobs: [jobOf(ref)], records }));
    await committed(store, commitOf(ref, { after, eventCount: 2 }));
  }
  return { path, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) };
}

/** Every row of every table but the one that says when; of the log the events, however they lie in rows. */
function rowsOf(path: string): unknown {
  using db = new DatabaseSync(path);
  const tables = db.prepare(`select name from sqlite_schema where type in ('table', 'view') order by name`).all();
  return Object.fromEntries(
    tables
      .map(({ name }) => String(name))
      .filter((name) => name !== 'schema_version' && name !== 'event_batch')
      .map((name) => [name, db.prepare(`select * from "${name}" order by 1, 2, 3`).all()]),
  );
}

const migrate = (path: string, wish: Parameters<typeof migrateDatabase>[2]): readonly string[] => {
  using db = openDatabase({ path, sizeBytesMax: undefined, asItIs: true });
  return migrateDatabase(db, path, wish).map(({ direction, migration }) => `${direction} ${migration.version}`);
};

test('migrations count from one without a gap', () => {
  assert.deepEqual(
    MIGRATIONS.map(({ version }) => version),
    MIGRATIONS.map((_, index) => index + 1),
  );
});

test('going back and forward again leaves every row and every chain as they were', async () => {
  await using at = await filled();
  const before = rowsOf(at.path);
  assert.deepEqual(migrate(at.path, { to: BACK_TO, dryRun: true }), back);
  assert.deepEqual(rowsOf(at.path), before, 'a dry run changes nothing');
  assert.deepEqual(migrate(at.path, { to: BACK_TO }), back);
  assert.notDeepEqual(rowsOf(at.path), before);
  assert.deepEqual(migrate(at.path, { to: LATEST }), forth);
  assert.deepEqual(rowsOf(at.path), before);
  assert.deepEqual(migrate(at.path, { to: LATEST }), []);
  await using store = openSqliteStore({ path: at.path, clock: seededClock(START_MS) });
  const ref = refOf('two');
  assert.deepEqual(verifyChain({ ref, seq: 0, hash: '' }, await store.events(ref, 0, 10)).ok, true);
  assert.equal((await store.consumption('t9', 'https://issuer.example', 'lse_two')).length, 1);
});

test('what going back would throw away is named, and kept until somebody says so', async () => {
  await using at = await filled();
  assert.throws(() => migrate(at.path, { to: 0 }), {
    code: 'ERR_STORE',
    message: /throws away the .*--lose-data/,
  });
  assert.deepEqual(
    migrate(at.path, { to: 0, lossAllowed: true }),
    MIGRATIONS.map(({ version }) => `down ${version}`).toReversed(),
  );
  assert.deepEqual(rowsOf(at.path), {});
  await using store = openSqliteStore({ path: at.path, clock: seededClock(START_MS) });
  assert.deepEqual(await store.commit(commitOf(refOf('fresh'))), { ok: true });
});

test('a version that does not exist is refused and nothing is changed', async () => {
  await using at = await filled();
  assert.throws(() => migrate(at.path, { to: LATEST + 1 }), { code: 'ERR_STORE', message: /from 0 to \d+, not to/ });
});
