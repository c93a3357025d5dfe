import assert from 'node:assert/strict';
import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { ARTIFACT_BYTES_MAX, ARTIFACT_RECORD_BYTES_MAX } from '#contracts/artifact.ts';
import type { Digest } from '#contracts/ids.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { openSqliteStore } from '../sqlite/sqlite-store.ts';
import { storeSuite } from '../store-suite.ts';
import { artifactOf, commitOf, refOf, START_MS } from '../suite-samples.ts';
import { artifactSuite, type ArtifactSubject } from './artifact-suite.ts';
import { createFileArtifacts } from './files.ts';
import { withLargeArtifacts } from './large-artifacts.ts';
import { createMemoryArtifacts } from './memory.ts';
import { createTableArtifacts } from './table.ts';

interface Place extends AsyncDisposable {
  readonly root: string;
}

async function place(): Promise<Place> {
  const root = await mkdtemp(join(tmpdir(), 'caseops-artifacts-'));
  return { root, [Symbol.asyncDispose]: () => rm(root, { recursive: true }) };
}

const fileOf = (root: string, tenant: string, digest: Digest): string => {
  const hex = digest.slice('sha256:'.length);
  return join(root, tenant, hex.slice(0, 2), hex.slice(2, 4), hex);
};

async function inFiles(): Promise<ArtifactSubject> {
  const { root, [Symbol.asyncDispose]: dispose } = await place();
  return {
    open: () => createFileArtifacts({ root: join(root, 'artifacts') }),
    bytesMax: ARTIFACT_BYTES_MAX,
    damage: async (tenant, digest) => {
      await using file = await open(fileOf(join(root, 'artifacts'), tenant, digest), 'r+');
      await file.write(Buffer.from('X'), 0, 1, 0);
    },
    [Symbol.asyncDispose]: dispose,
  };
}

artifactSuite('files', inFiles);

artifactSuite('memory', async () => {
  const store = createMemoryArtifacts();
  return { open: () => store, bytesMax: ARTIFACT_BYTES_MAX, [Symbol.asyncDispose]: async () => undefined };
});

artifactSuite('table', async () => {
  const store = openSqliteStore({ path: ':memory:', clock: seededClock(START_MS) });
  return {
    open: () => createTableArtifacts(store),
    bytesMax: ARTIFACT_RECORD_BYTES_MAX,
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
});

storeSuite('sqlite with artifacts in files', async () => {
  const { root, [Symbol.asyncDispose]: dispose } = await place();
  const path = join(root, 'caseops.db');
  return {
    open: async (clock) =>
      withLargeArtifacts(openSqliteStore({ path, clock }), createFileArtifacts({ root: join(root, 'artifacts') })),
    hasLargeArtifacts: true,
    crashChild: { script: new URL('../sqlite/crash-child.ts', import.meta.url), args: [path] },
    [Symbol.asyncDispose]: dispose,
  };
});

test('a large artifact of a commit lies in a file, and neither its bytes nor a row of it in the database', async () => {
  await using at = await place();
  const path = join(at.root, 'caseops.db');
  const database = openSqliteStore({ path, clock: seededClock(START_MS) });
  await using store = withLargeArtifacts(database, createFileArtifacts({ root: at.root }));
  const ref = refOf('large');
  const artifact = artifactOf(ref, 'marker-of-5-MB '.repeat(350_000));
  assert.deepEqual(await store.commit(commitOf(ref, { records: [artifact] })), { ok: true });
  assert.equal((await store.artifact('t9', artifact.digest))?.byteLength, artifact.bytes.byteLength);
  assert.equal(await database.artifact('t9', artifact.digest), undefined);
  for (const name of (await readdir(at.root)).filter((entry) => entry.startsWith('caseops.db')))
    assert.equal((await readFile(join(at.root, name))).includes('marker-of-5-MB'), false, name);
});

test('a commit that is refused names nothing, and one with the wrong digest or another tenant puts nothing', async () => {
  await using at = await place();
  const files = createFileArtifacts({ root: at.root });
  await using store = withLargeArtifacts(openSqliteStore({ path: ':memory:', clock: seededClock(START_MS) }), files);
  const ref = refOf('refused');
  const artifact = artifactOf(ref, 'x'.repeat(300_000));
  const other = artifactOf(ref, 'other');
  const lying = { ...artifact, digest: other.digest };
  await assert.rejects(store.commit(commitOf(ref, { records: [lying] })), { code: 'ERR_ARTIFACT_DIGEST' });
  const foreign = { ...artifact, tenant: 't8' };
  await assert.rejects(store.commit(commitOf(ref, { records: [foreign] })), { code: 'ERR_INVARIANT' });
  assert.equal(await files.has('t8', artifact.digest), false);
  assert.equal(await store.head(ref), undefined);
});

test('when the artifact store fails, the commit that names the artifact is not written', async () => {
  await using at = await place();
  const root = join(at.root, 'a-file');
  await writeFile(root, '');
  await using store = withLargeArtifacts(
    openSqliteStore({ path: ':memory:', clock: seededClock(START_MS) }),
    createFileArtifacts({ root }),
  );
  const ref = refOf('failing');
  await assert.rejects(store.commit(commitOf(ref, { records: [artifactOf(ref, 'x'.repeat(300_000))] })), {
    code: 'ERR_STORE',
    retryable: true,
  });
  assert.equal(await store.head(ref), undefined);
});

test('a file appears whole: nothing is left beside it, and what a dead writer left is no artifact', async () => {
  await using at = await place();
  const store = createFileArtifacts({ root: at.root });
  const digest = await store.put('t9', new TextEncoder().encode('whole'));
  const path = fileOf(at.root, 't9', digest);
  assert.deepEqual(await readdir(dirname(path)), [path.slice(dirname(path).length + 1)]);
  await unlink(path);
  await writeFile(`${path}.${process.pid}-0.part`, 'who');
  assert.equal(await store.get('t9', digest), undefined);
  await store.put('t9', new TextEncoder().encode('whole'));
  assert.equal(new TextDecoder().decode(await store.get('t9', digest)), 'whole');
});

test('a file that was cut short or grown beyond the wall is refused, and a link in its place is not followed', async () => {
  await using at = await place();
  const store = createFileArtifacts({ root: at.root });
  const digest = await store.put('t9', new TextEncoder().encode('whole'));
  const path = fileOf(at.root, 't9', digest);
  await writeFile(path, 'who');
  await assert.rejects(store.get('t9', digest), { code: 'ERR_ARTIFACT_DIGEST' });
  {
    await using file = await open(path, 'r+');
    await file.truncate(ARTIFACT_BYTES_MAX + 1);
  }
  await assert.rejects(store.get('t9', digest), { code: 'ERR_ARTIFACT_SIZE' });
  await unlink(path);
  await writeFile(join(at.root, 'elsewhere'), 'whole');
  await symlink(join(at.root, 'elsewhere'), path);
  await assert.rejects(store.get('t9', digest), { code: 'ERR_STORE', message: /ELOOP/ });
});

test('only this user can read what is stored', async () => {
  await using at = await place();
  const root = join(at.root, 'artifacts');
  const digest = await createFileArtifacts({ root }).put('t9', new TextEncoder().encode('private'));
  assert.equal((await stat(fileOf(root, 't9', digest))).mode & 0o077, 0);
  assert.equal((await stat(root)).mode & 0o077, 0);
});

test('a root that cannot be written says what to do', async () => {
  await using at = await place();
  await mkdir(join(at.root, 'x'));
  await writeFile(join(at.root, 'x', 't9'), '');
  const store = createFileArtifacts({ root: join(at.root, 'x') });
  await assert.rejects(store.put('t9', new Uint8Array(1)), {
    code: 'ERR_STORE',
    message: /artifact directory .* failed \((ENOTDIR|EEXIST)\)/,
  });
});
