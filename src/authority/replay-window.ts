/** Proofs already seen, for as long as they could be shown again (RFC 9449 §11.1). Bounded: when it is full, the check says "later". */

export interface ReplayWindow {
  /** Takes the key if it is unseen. `full`: it cannot be told, so the request must not pass. */
  take(key: string, nowMs: number): 'fresh' | 'seen' | 'full';
}

/**
 * Keeps each key for at least `keepMs`, at most twice as long, in two generations of at most `entryCountMax` each. A clock that jumps
 * back keeps the generation it is in until time has caught up.
 */
export function createReplayWindow(options: { readonly keepMs: number; readonly entryCountMax: number }): ReplayWindow {
  const { keepMs, entryCountMax } = options;
  let young = new Set<string>();
  let old = new Set<string>();
  let turnAtMs = Number.NEGATIVE_INFINITY;
  return {
    take(key, nowMs) {
      if (nowMs >= turnAtMs) {
        const inTime = nowMs < turnAtMs + keepMs;
        old = inTime ? young : new Set();
        young = new Set();
        turnAtMs = (inTime ? turnAtMs : nowMs) + keepMs;
      }
      if (young.has(key) || old.has(key)) return 'seen';
      if (young.size >= entryCountMax) return 'full';
      young.add(key);
      return 'fresh';
    },
  };
}
