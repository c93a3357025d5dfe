import assert from 'node:assert/strict';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { seededClock } from '#testing/seeded-clock.ts';
import { storeSuite } from '../store-suite.ts';
import type { StoreSubject } from '../suite-subject.ts';
import { artifactOf, commitOf, committed, refOf, START_MS } from '../suite-samples.ts';
import { openSqliteStore, type SqliteStoreOptions } from './sqlite-store.ts';

interface Place extends AsyncDisposable {
  readonly directory: string;
  readonly path: string;
}

async function place(): Promise<Place> {
  const directory = await mkdtemp(join(tmpdir(), 'caseops-store-'));
  return {
    directory,
    path: join(directory, 'caseops.db'),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
}

async function subject(thread: boolean): Promise<StoreSubject> {
  const { path, [Symbol.asyncDispose]: dispose } = await place();
  return {
    open: async (clock) => openSqliteStore({ path, clock, thread }),
    crashChild: { script: new URL('./crash-child.ts', import.meta.url), args: [path] },
    [Symbol.asyncDispose]: dispose,
  };
}

storeSuite('sqlite', () => subject(false));
storeSuite('sqlite with a thread that writes', () => subject(true));

const openAt = (path: string, rest: Partial<SqliteStoreOptions> = {}): ReturnType<typeof openSqliteStore> =>
  openSqliteStore({ path, clock: seededClock(START_MS), ...rest });

const refusedWith = (part: RegExp) => (error: Error & { readonly code?: string }) => {
  assert.equal(error.code, 'ERR_STORE');
  assert.match(error.message, part);
  return true;
};

test('a missing directory is named with what to do', async () => {
  await using at = await place();
  const path = join(at.directory, 'missing', 'caseops.db');
  assert.throws(() => openAt(path), refusedWith(/directory .*missing does not exist; create it/));
});

test('a directory in place of the file is refused', async () => {
  await using at = await place();
  assert.throws(() => openAt(at.directory), refusedWith(/is a directory; name a file inside it/));
});

test('a place where nothing can be written is refused', () => {
  assert.throws(() => openAt('/proc/caseops.db'), refusedWith(/\/proc\/caseops\.db cannot be opened/));
});

test('a file that is no database is refused and not changed', async () => {
  await using at = await place();
  await writeFile(at.path, 'a letter to somebody, longer than the header of a database file'.repeat(100));
  assert.throws(() => openAt(at.path), refusedWith(/is not a database; name another path/));
});

test("another program's database is refused and not changed", async () => {
  await using at = await place();
  const theirs = new DatabaseSync(at.path);
  theirs.exec('create table recipe (name text)');
  theirs.close();
  assert.throws(() => openAt(at.path), refusedWith(/belongs to another program/));
  const again = new DatabaseSync(at.path);
  assert.deepEqual({ ...again.prepare('select count(*) as n from sqlite_schema').get() }, { n: 1 });
  again.close();
});

test('a database of a newer version is refused', async () => {
  await using at = await place();
  await openAt(at.path)[Symbol.asyncDispose]();
  const raw = new DatabaseSync(at.path);
  raw.exec('pragma user_version = 99');
  raw.close();
  assert.throws(() => openAt(at.path), refusedWith(/has version 99 and this program knows up to \d+/));
});

test('a damaged page is named as damage, with what to do', async () => {
  await using at = await place();
  {
    await using store = openAt(at.path);
    for (let run = 0; run < 50; run++) await store.commit(commitOf(refOf(`page-${run}`), { eventCount: 5 }));
  }
  const file = await open(at.path, 'r+');
  const { size } = await file.stat();
  for (let offset = 4_096; offset < size; offset += 4_096)
    await file.write(new Uint8Array(64).fill(0xee), 0, 64, offset);
  await file.close();
  await assert.rejects(
    async () => {
      await using store = openAt(at.path);
      await store.events(refOf('page-7'), 0, 10);
    },
    refusedWith(/is damaged; restore it from a backup/),
  );
});

test('a stored event that was changed by hand is named by its run and sequence', async () => {
  await using at = await place();
  await using store = openAt(at.path);
  await store.commit(commitOf(refOf('edited')));
  const raw = new DatabaseSync(at.path);
  raw.exec(`update event_batch set json = json_remove(json, '$[0].actor')`);
  raw.close();
  await assert.rejects(
    store.events(refOf('edited'), 0, 10),
    refusedWith(/event t9\/run_edited#1 does not hold its schema/),
  );
});

test('a full disk refuses the whole batch and the store goes on with what fits', async () => {
  await using at = await place();
  await using store = openAt(at.path, { sizeBytesMax: 400_000 });
  const large = refOf('large');
  const outcomes = await Promise.allSettled([
    store.commit(commitOf(refOf('neighbour'))),
    store.commit(commitOf(large, { records: [...'xyz'].map((text) => artifactOf(large, text.repeat(200_000))) })),
  ]);
  for (const outcome of outcomes) {
    assert.equal(outcome.status, 'rejected');
    assert.ok(refusedWith(/has no room left; free space/)(outcome.reason as Error));
  }
  assert.equal(await store.head(refOf('neighbour')), undefined);
  assert.deepEqual(await store.commit(commitOf(refOf('neighbour'))), { ok: true });
});

test('two processes on one file write in turn and see the same runs', async () => {
  await using at = await place();
  await using one = openAt(at.path);
  await using two = openAt(at.path);
  const writes = Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? one : two).commit(commitOf(refOf(`both-${n}`))));
  assert.ok((await Promise.all(writes)).every((outcome) => outcome.ok));
  assert.equal((await one.runs({ limit: 100 })).length, 20);
});

test('commits that are queued in one turn share one transaction', async () => {
  await using at = await place();
  let turnCount = 0;
  await using store = openAt(at.path, {
    schedule: (callback) => {
      turnCount++;
      setImmediate(callback);
    },
  });
  await Promise.all(Array.from({ length: 100 }, (_, n) => store.commit(commitOf(refOf(`turn-${n}`)))));
  assert.equal(turnCount, 1);
});

test("a listener's failure costs neither the commit nor the other listeners", async () => {
  await using at = await place();
  await using store = openAt(at.path);
  let heardCount = 0;
  const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
  store.onCommit(() => {
    throw new Error('listener');
  });
  store.onCommit(() => heardCount++);
  assert.deepEqual(await store.commit(commitOf(refOf('listener'))), { ok: true });
  assert.equal(heardCount, 1);
  assert.equal((await warned).message, 'listener');
});

test('events are read as they were sealed, from any sequence and as many as were asked for', async () => {
  await using at = await place();
  await using store = openAt(at.path);
  const ref = refOf('batches');
  const first = commitOf(ref, { eventCount: 3 });
  const after = await committed(store, first);
  const second = commitOf(ref, { after, eventCount: 4 });
  await committed(store, second);
  const all = [...first.events, ...second.events];
  for (const [afterSeq, limit] of [
    [0, 10],
    [1, 1],
    [2, 3],
    [5, 10],
    [6, 1],
    [7, 5],
    [0, 0],
  ] as const)
    assert.deepEqual(await store.events(ref, afterSeq, limit), all.slice(afterSeq, afterSeq + limit));
});

test('a row that does not hold the events it says is named by their sequences', async () => {
  await using at = await place();
  await using store = openAt(at.path);
  const ref = refOf('cut');
  await store.commit(commitOf(ref, { eventCount: 3 }));
  const raw = new DatabaseSync(at.path);
  raw.exec(`update event_batch set json = json_remove(json, '$[1]')`);
  await assert.rejects(store.events(ref, 0, 10), refusedWith(/events t9\/run_cut#1-3 are not 3 events/));
  raw.exec(`update event_batch set json = '['`);
  raw.close();
  await assert.rejects(store.events(ref, 0, 10), refusedWith(/events t9\/run_cut#1-3 are not JSON/));
});
