/** Fresh ids from the machine's time and randomness. */
import { randomFillSync } from 'node:crypto';
import type { Ids } from '#ports/ids.ts';
import { systemClock } from './system-clock.ts';

/** Crockford's base 32 in lower case: no i, l, o, u. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARACTER_COUNT = 10;
const RANDOM_CHARACTER_COUNT = 16;
const POOL_BYTES = 4_096;

const pool = new Uint8Array(POOL_BYTES);
let used = POOL_BYTES;

/**
 * `run_` + 26 base 32 characters: 48 bits of time in ms, so that ids sort by when they were made, and 80 bits of randomness from the
 * operating system.
 */
export const systemIds: Ids = {
  next: (kind) => `${kind}_${timePart(systemClock.nowMs())}${randomPart()}` as never,
};

function timePart(ms: number): string {
  let text = '';
  for (let rest = ms, i = 0; i < TIME_CHARACTER_COUNT; i++) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

function randomPart(): string {
  // One call to the operating system serves 256 ids.
  if (used + RANDOM_CHARACTER_COUNT > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  let text = '';
  for (const byte of pool.subarray(used, used + RANDOM_CHARACTER_COUNT)) text += ALPHABET.charAt(byte % 32);
  used += RANDOM_CHARACTER_COUNT;
  return text;
}
