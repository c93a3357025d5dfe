/** Artifacts in this process alone, gone when it ends: beside a database that is in memory too. */
import type { Digest, Tenant } from '#contracts/ids.ts';
import type { ArtifactStore } from '#ports/artifact-store.ts';
import { addressOf, checked, hexOf } from './artifact-key.ts';

/** Passes the artifact suite. Bytes are copied in and out: nobody's later change reaches what is stored. */
export function createMemoryArtifacts(): ArtifactStore {
  const held = new Map<string, Uint8Array>();
  return {
    put: async (tenant, bytes) => {
      const digest = addressOf(bytes);
      held.set(keyOf(tenant, digest), Uint8Array.from(bytes));
      return digest;
    },
    get: async (tenant, digest) => {
      const bytes = held.get(keyOf(tenant, digest));
      return bytes === undefined ? undefined : checked(Uint8Array.from(bytes), { tenant, digest });
    },
    has: async (tenant, digest) => held.has(keyOf(tenant, digest)),
    remove: async (tenant, digest) => held.delete(keyOf(tenant, digest)),
  };
}

function keyOf(tenant: Tenant, digest: Digest): string {
  return `${tenant}/${hexOf(tenant, digest)}`;
}
