/**
 * Answers to consumed leases, in memory: the same lease with the same request digest gets the same answer again, without a second
 * call; also while the first is still running. After a restart, or when evicted, such a repeat is `lease_consumed`. Source: LEASE.
 */
import type { Clock } from '#ports/clock.ts';

export interface KeptAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array<ArrayBuffer>;
}

export interface KeptAnswers {
  /** The answer kept or in the making under `key`; otherwise makes it. Only an answer with status 200 is kept. */
  once(key: string, expiresAtMs: number, make: () => Promise<KeptAnswer>): Promise<KeptAnswer>;
}

const ANSWER_COUNT_MAX = 1_024;
const ANSWER_BYTES_MAX = 262_144;

/** At most 1,024 answers of at most 256 KiB, each until its lease expires; the oldest goes first. */
export function createKeptAnswers(clock: Clock): KeptAnswers {
  const kept = new Map<string, { readonly answer: Promise<KeptAnswer>; readonly expiresAtMs: number }>();
  return {
    async once(key, expiresAtMs, make) {
      const before = kept.get(key);
      if (before && before.expiresAtMs > clock.nowMs()) return before.answer;
      const entry = { answer: make(), expiresAtMs };
      kept.delete(key);
      kept.set(key, entry);
      evict(kept, clock.nowMs());
      const forget = (): void => {
        if (kept.get(key) === entry) kept.delete(key);
      };
      try {
        const answer = await entry.answer;
        if (answer.status !== 200 || answer.body.byteLength > ANSWER_BYTES_MAX) forget();
        return answer;
      } catch (error) {
        forget();
        throw error;
      }
    },
  };
}

function evict(kept: Map<string, { readonly expiresAtMs: number }>, nowMs: number): void {
  for (const [key, { expiresAtMs }] of kept) {
    if (expiresAtMs > nowMs && kept.size <= ANSWER_COUNT_MAX) break;
    kept.delete(key);
  }
}
