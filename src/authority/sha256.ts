/** SHA-256 in one call. The kernel's portable digest is for records; here, on the hot path of every request, Node's own is used. */
import { hash } from 'node:crypto';
import type { Digest } from '#contracts/ids.ts';

/** base64url without padding, as RFC 7638, RFC 9449 `ath` and our `caseops_bdg` write it. */
export function sha256Base64Url(data: Uint8Array | string): string {
  return hash('sha256', data, 'base64url');
}

/** `sha256:` + hex of exact bytes, or of a string's UTF-8 bytes; equals the kernel's `digestOfBytes`. */
export function sha256Digest(data: Uint8Array | string): Digest {
  return `sha256:${hash('sha256', data, 'hex')}`;
}
