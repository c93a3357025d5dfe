/**
 * A run store whose large artifacts lie elsewhere: the one place that decides what goes by digest only, so that no room can forget it.
 * Source: DESIGN §4 "above 256 kB by digest only"; its order: the artifact is saved before the event that names it.
 */
import { ARTIFACT_RECORD_BYTES_MAX } from '#contracts/artifact.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { Digest, Tenant } from '#contracts/ids.ts';
import type { ArtifactStore } from '#ports/artifact-store.ts';
import type { RecordWrite, Store } from '#ports/store.ts';

/**
 * The same store, except: artifacts above ARTIFACT_RECORD_BYTES_MAX that a commit brings are put into `large` first, and only then the
 * commit is written, without their bytes; `artifact` finds both kinds. A commit that is refused, or a process that dies between the two,
 * leaves bytes that nothing names; repeating it stores nothing twice.
 */
export function withLargeArtifacts(store: Store, large: ArtifactStore): Store {
  return {
    ...store,
    commit: (commit) => {
      // Another tenant's artifact is left for the store to refuse: it is put nowhere.
      const big = commit.records.filter(isLarge).filter(({ tenant }) => tenant === commit.ref.tenant);
      // At once, as without us: what is committed before the store is closed is written.
      if (big.length === 0) return store.commit(commit);
      return putAll(big, large).then(() => store.commit({ ...commit, records: without(commit.records, big) }));
    },
    write: (records) => {
      const big = records.filter(isLarge);
      if (big.length === 0) return store.write(records);
      return putAll(big, large).then(() => store.write(without(records, big)));
    },
    artifact: async (tenant, digest) => (await store.artifact(tenant, digest)) ?? (await large.get(tenant, digest)),
    // The database first: what its tombstone names is gone for every reader, and taken out of the other place now or when it is repeated.
    erase: async (erasure) => {
      const outcome = await store.erase(erasure);
      if (outcome.ok) await removeAll(large, erasure.tombstone.tenant, erasure.artifacts);
      return outcome;
    },
    dropArtifacts: async (tenant, digests) =>
      (await store.dropArtifacts(tenant, digests)) + (await removeAll(large, tenant, digests)),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

async function removeAll(large: ArtifactStore, tenant: Tenant, digests: readonly Digest[]): Promise<number> {
  let count = 0;
  for (const digest of digests) if (await large.remove(tenant, digest)) count += 1;
  return count;
}

type ArtifactWrite = Extract<RecordWrite, { readonly table: 'artifact' }>;

function isLarge(record: RecordWrite): record is ArtifactWrite {
  return record.table === 'artifact' && record.bytes.byteLength > ARTIFACT_RECORD_BYTES_MAX;
}

async function putAll(records: readonly ArtifactWrite[], large: ArtifactStore): Promise<void> {
  for (const { tenant, digest, bytes } of records) {
    const address = await large.put(tenant, bytes);
    if (address !== digest)
      throw new CaseOpsError('ERR_ARTIFACT_DIGEST', `A commit names ${digest} for bytes whose digest is ${address}.`, {
        at: 'store',
      });
  }
}

function without(records: readonly RecordWrite[], placed: readonly RecordWrite[]): readonly RecordWrite[] {
  return records.filter((record) => !placed.includes(record));
}
