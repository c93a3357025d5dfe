/** Node's SHA-256 for the kernel: what a process that drives runs hashes with. */
import { hash } from 'node:crypto';
import { useSha256 } from '#kernel/sha256.ts';

/** One call into the platform's library; equals the kernel's own for every input. */
export function nativeSha256(bytes: Uint8Array | string): string {
  return hash('sha256', bytes);
}

/** From now on the kernel of this process hashes natively; where the platform disagrees with the kernel, it stays with its own. */
export function hashNatively(): void {
  useSha256(nativeSha256);
}
