/** The artifact table of a run store as an artifact store: for what is small enough to lie in the database. Source: DESIGN §4. */
import { ARTIFACT_RECORD_BYTES_MAX } from '#contracts/artifact.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { ArtifactStore } from '#ports/artifact-store.ts';
import type { Store } from '#ports/store.ts';
import { addressOf, checked, hexOf } from './artifact-key.ts';

/** Passes the artifact suite. Throws ERR_ARTIFACT_SIZE above ARTIFACT_RECORD_BYTES_MAX: such bytes belong outside the database. */
export function createTableArtifacts(store: Pick<Store, 'write' | 'artifact' | 'dropArtifacts'>): ArtifactStore {
  const read: ArtifactStore['get'] = async (tenant, digest) => {
    hexOf(tenant, digest);
    const bytes = await store.artifact(tenant, digest);
    return bytes === undefined ? undefined : checked(bytes, { tenant, digest });
  };
  return {
    put: async (tenant, bytes) => {
      const digest = addressOf(bytes);
      hexOf(tenant, digest);
      assertRecordSize(bytes.byteLength);
      const written = await store.write([{ table: 'artifact', tenant, digest, bytes }]);
      if (!written.ok)
        throw new CaseOpsError('ERR_STORE', `Artifact ${digest} of tenant ${tenant} could not be recorded.`, {
          at: 'store',
        });
      return digest;
    },
    get: read,
    has: async (tenant, digest) => (await read(tenant, digest)) !== undefined,
    remove: async (tenant, digest) => {
      hexOf(tenant, digest);
      return (await store.dropArtifacts(tenant, [digest])) > 0;
    },
  };
}

/** The wall of a database's artifact rows. */
export function assertRecordSize(sizeBytes: number): void {
  if (sizeBytes > ARTIFACT_RECORD_BYTES_MAX)
    throw new CaseOpsError(
      'ERR_ARTIFACT_SIZE',
      `The database holds artifacts of at most ${ARTIFACT_RECORD_BYTES_MAX} bytes; one of ${sizeBytes} bytes goes to an artifact store by its digest.`,
      { at: 'store' },
    );
}
