/**
 * SHA-256 as the kernel computes it: in plain JavaScript, so that it runs anywhere, or by the platform's own implementation where the
 * runtime brings one. Which of the two is at work changes no digest. Source: FIPS 180-4.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** Lower-case hex over exact bytes, or over a string's UTF-8 bytes (a lone surrogate as U+FFFD). */
export type Sha256 = (bytes: Uint8Array | string) => string;

/** The kernel's own. */
export const plainSha256: Sha256 = (bytes) =>
  bytesToHex(sha256(typeof bytes === 'string' ? utf8ToBytes(bytes) : bytes));

let chosen: Sha256 = plainSha256;

/** What the kernel hashes with now. */
export function sha256Hex(bytes: Uint8Array | string): string {
  return chosen(bytes);
}

/**
 * Lets the kernel hash with another implementation from now on. One that disagrees with the kernel's own on the probes (nothing, one block,
 * several blocks, text beyond ASCII, bytes that are no text) is not taken; returns whether it was.
 */
export function useSha256(implementation: Sha256): boolean {
  const agrees = PROBES.every((probe) => implementation(probe) === plainSha256(probe));
  if (agrees) chosen = implementation;
  return agrees;
}

const PROBES: readonly (Uint8Array | string)[] = [
  '',
  'abc',
  'a'.repeat(55),
  'a'.repeat(56),
  'a'.repeat(64),
  'a'.repeat(1_000),
  'é\u{1f600}\ud800',
  Uint8Array.of(0, 255, 128, 10),
];
