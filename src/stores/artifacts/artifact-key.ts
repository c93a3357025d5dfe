/** What every artifact store checks before it touches its place: names that cannot lead elsewhere, and bytes that are what they say. */
import { ARTIFACT_BYTES_MAX } from '#contracts/artifact.ts';
import { CaseOpsError } from '#contracts/error.ts';
import { digest as digestSchema, tenant as tenantSchema, type Digest, type Tenant } from '#contracts/ids.ts';
import { digestOfBytes } from '#kernel/digest.ts';

/** The 64 hex digits of an address. A tenant or digest that is not well formed is ERR_USAGE: it could name another place. */
export function hexOf(tenant: Tenant, digest: Digest): string {
  if (!tenantSchema.safeParse(tenant).success)
    throw new CaseOpsError('ERR_USAGE', 'An artifact was asked for under a name that is no tenant.', { at: 'store' });
  if (!digestSchema.safeParse(digest).success)
    throw new CaseOpsError('ERR_USAGE', `An artifact of tenant ${tenant} was asked for under no digest.`, {
      at: 'store',
    });
  return digest.slice('sha256:'.length);
}

/** The address of bytes that may be stored. */
export function addressOf(bytes: Uint8Array): Digest {
  assertSize(bytes.byteLength);
  return digestOfBytes(bytes);
}

export function assertSize(sizeBytes: number): void {
  if (sizeBytes > ARTIFACT_BYTES_MAX)
    throw new CaseOpsError(
      'ERR_ARTIFACT_SIZE',
      `An artifact has at most ${ARTIFACT_BYTES_MAX} bytes; this one has ${sizeBytes}.`,
      { at: 'store' },
    );
}

/** Bytes as read from the place, or ERR_ARTIFACT_DIGEST. */
export function checked(bytes: Uint8Array, at: { readonly tenant: Tenant; readonly digest: Digest }): Uint8Array {
  if (digestOfBytes(bytes) === at.digest) return bytes;
  throw new CaseOpsError(
    'ERR_ARTIFACT_DIGEST',
    `What is stored for tenant ${at.tenant} under ${at.digest} is not what its digest says; it was changed or cut short.`,
    { at: 'store', detail: { tenant: at.tenant, digest: at.digest } },
  );
}
