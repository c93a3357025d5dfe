/** Digests: `sha256:` + lower-case hex. Source: CONTRACTS; FIPS 180-4. */
import type { Digest } from '#contracts/ids.ts';
import { canonicalText } from './canonical.ts';
import { sha256Hex } from './sha256.ts';

/** Of exact bytes, or of a string's UTF-8 bytes. */
export function digestOfBytes(bytes: Uint8Array | string): Digest {
  return `sha256:${sha256Hex(bytes)}`;
}

/** Of a JSON value's RFC 8785 form. A value that has none gets the digest of the text `!not-canonical`, which is no JSON. */
export function digestOf(value: unknown): Digest {
  return digestOfBytes(canonicalText(value) ?? '!not-canonical');
}
