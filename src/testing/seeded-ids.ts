/** Ids that repeat: the nth id of a kind under a seed is always the same. For tests and simulation. */
import type { Ids } from '#ports/ids.ts';

const DIGIT_COUNT = 6;

/**
 * `run_1-000001`, `run_1-000002`, … for seed 1. Each kind counts on its own, so that a new use of one kind moves no other. The seed
 * is lower-case letters, digits and `-`, or a whole number.
 */
export function seededIds(seed: number | string): Ids {
  const counts = new Map<string, number>();
  return {
    next: (kind) => {
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      return `${kind}_${seed}-${String(count).padStart(DIGIT_COUNT, '0')}` as never;
    },
  };
}
