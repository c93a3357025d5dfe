/** The artifact store's promises, one test each; every implementation runs this suite. Source: `ports/artifact-store.ts`, DESIGN §4. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ARTIFACT_BYTES_MAX } from '#contracts/artifact.ts';
import type { Digest } from '#contracts/ids.ts';
import { digestOfBytes } from '#kernel/digest.ts';
import type { ArtifactStore } from '#ports/artifact-store.ts';

/** An empty place for one test's artifacts. */
export interface ArtifactSubject extends AsyncDisposable {
  /** Opens the place; again: as another process would. */
  open(): ArtifactStore;
  /** What is largest in it. */
  readonly bytesMax: number;
  /** Changes one byte of what is stored, behind the store's back; undefined: nobody can reach in. */
  readonly damage?: (tenant: string, digest: Digest) => Promise<void>;
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const ABSENT = digestOfBytes('absent');

/** Registers the suite's tests under `name`. */
export function artifactSuite(name: string, subject: () => Promise<ArtifactSubject>): void {
  const inPlace = (title: string, body: (place: ArtifactSubject, store: ArtifactStore) => Promise<void>): void => {
    test(`${name}: ${title}`, async () => {
      await using place = await subject();
      await body(place, place.open());
    });
  };
  contentTests(inPlace);
  refusalTests(inPlace);
  removalTests(inPlace);
}

type InPlace = (title: string, body: (place: ArtifactSubject, store: ArtifactStore) => Promise<void>) => void;

function contentTests(inPlace: InPlace): void {
  inPlace('what is put comes back byte for byte, also to who opens the place later', async (place, store) => {
    const bytes = Uint8Array.from({ length: 70_000 }, (_, n) => (n * 31) % 256);
    const digest = await store.put('t9', bytes);
    assert.equal(digest, digestOfBytes(bytes));
    assert.deepEqual(Buffer.from((await place.open().get('t9', digest)) ?? []), Buffer.from(bytes));
    assert.equal(await place.open().has('t9', digest), true);
  });

  inPlace('an empty artifact is an artifact', async (_place, store) => {
    const digest = await store.put('t9', new Uint8Array());
    assert.equal((await store.get('t9', digest))?.byteLength, 0);
  });

  inPlace('what was never put is not there', async (_place, store) => {
    assert.equal(await store.get('t9', ABSENT), undefined);
    assert.equal(await store.has('t9', ABSENT), false);
  });

  inPlace("one tenant's artifact is not there for another, even under its digest", async (_place, store) => {
    const digest = await store.put('t9', bytesOf('of t9'));
    assert.equal(await store.get('t8', digest), undefined);
    assert.equal(await store.has('t8', digest), false);
    await store.put('t8', bytesOf('of t9'));
    assert.equal(await store.has('t8', digest), true);
  });

  inPlace('the same bytes put twenty times at once are one artifact, whole', async (place, store) => {
    const bytes = bytesOf('same '.repeat(10_000));
    const other = place.open();
    const puts = Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? store : other).put('t9', bytes));
    assert.equal(new Set(await Promise.all(puts)).size, 1);
    assert.deepEqual(Buffer.from((await store.get('t9', digestOfBytes(bytes))) ?? []), Buffer.from(bytes));
  });

  inPlace('a later change of the bytes in hand does not reach what is stored', async (_place, store) => {
    const bytes = bytesOf('before');
    const digest = await store.put('t9', bytes);
    bytes.fill(0);
    const first = await store.get('t9', digest);
    first?.fill(0);
    assert.equal(new TextDecoder().decode(await store.get('t9', digest)), 'before');
  });
}

function removalTests(inPlace: InPlace): void {
  inPlace(
    'what is removed is gone for its tenant alone, and removing it again removes nothing',
    async (place, store) => {
      const digest = await store.put('t9', bytesOf('to be forgotten'));
      await store.put('t8', bytesOf('to be forgotten'));
      assert.equal(await store.remove('t9', digest), true);
      assert.deepEqual([await store.has('t9', digest), await place.open().get('t9', digest)], [false, undefined]);
      assert.equal(await store.remove('t9', digest), false);
      assert.equal(await store.has('t8', digest), true);
      await assert.rejects(store.remove('../t8', digest), { code: 'ERR_USAGE' });
      assert.equal(await store.put('t9', bytesOf('to be forgotten')), digest);
    },
  );
}

function refusalTests(inPlace: InPlace): void {
  inPlace('an artifact of the largest size is taken, one byte more is refused', async (place, store) => {
    const largest = new Uint8Array(place.bytesMax);
    const digest = await store.put('t9', largest);
    assert.equal((await store.get('t9', digest))?.byteLength, place.bytesMax);
    const larger = new Uint8Array(place.bytesMax + 1);
    await assert.rejects(store.put('t9', larger), { code: 'ERR_ARTIFACT_SIZE' });
    assert.equal(await store.has('t9', digestOfBytes(larger)), false);
    assert.ok(place.bytesMax <= ARTIFACT_BYTES_MAX);
  });

  inPlace('a name that could lead elsewhere is refused and touches nothing', async (_place, store) => {
    for (const tenant of ['..', '../t9', 't9/../t8', '', 'T9', 't9\0', 't9%2f..']) {
      await assert.rejects(store.put(tenant, bytesOf('x')), { code: 'ERR_USAGE' }, tenant);
      await assert.rejects(store.get(tenant, ABSENT), { code: 'ERR_USAGE' }, tenant);
      await assert.rejects(store.has(tenant, ABSENT), { code: 'ERR_USAGE' }, tenant);
    }
    for (const digest of ['sha256:../../etc/passwd', 'sha256:', `md5:${'0'.repeat(64)}`, ABSENT.toUpperCase()])
      await assert.rejects(store.get('t9', digest as Digest), { code: 'ERR_USAGE' }, digest);
  });

  inPlace(
    'bytes that were changed in their place are never returned, and putting them again heals it',
    async (place, store) => {
      if (place.damage === undefined) return;
      const digest = await store.put('t9', bytesOf('as it was'));
      await place.damage('t9', digest);
      await assert.rejects(store.get('t9', digest), { code: 'ERR_ARTIFACT_DIGEST' });
      await store.put('t9', bytesOf('as it was'));
      assert.equal(new TextDecoder().decode(await store.get('t9', digest)), 'as it was');
    },
  );
}
