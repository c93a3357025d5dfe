/**
 * The artifact store port: large bytes outside the database, addressed by their digest, per tenant. What is stored is never changed
 * and never another thing than its address says. Source: DESIGN §4 "Owners"; INV-14 (the tenant is part of every key).
 * One suite (`stores/artifacts/artifact-suite.ts`) is run by every implementation.
 */
import type { Digest, Tenant } from '#contracts/ids.ts';

export interface ArtifactStore {
  /**
   * Stores bytes and returns their address, sha-256 over exactly these bytes. Resolves after they are durable: an event may name them
   * from then on. The same bytes again are no conflict. Throws ERR_ARTIFACT_SIZE beyond ARTIFACT_BYTES_MAX, ERR_USAGE for no tenant
   * name, ERR_STORE when the place fails.
   */
  put(tenant: Tenant, bytes: Uint8Array): Promise<Digest>;
  /**
   * The bytes behind an address; undefined when this tenant has none there. What is read is hashed again: bytes that are not what
   * their address says are never returned (ERR_ARTIFACT_DIGEST).
   */
  get(tenant: Tenant, digest: Digest): Promise<Uint8Array | undefined>;
  /** Whether something is stored there; says nothing about its condition. */
  has(tenant: Tenant, digest: Digest): Promise<boolean>;
  /** Takes the bytes away for good; whether there were any. Only an erasure does. */
  remove(tenant: Tenant, digest: Digest): Promise<boolean>;
}
