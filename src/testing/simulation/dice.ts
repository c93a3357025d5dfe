/** Dice that repeat: the same seed and name throw the same numbers, and what one stream throws moves no other. For simulation. */

export interface Dice {
  /** From 0 to below `n`, whole. */
  below(n: number): number;
  /** From `low` to `high`, both included. */
  between(low: number, high: number): number;
  one<T>(of: readonly [T, ...T[]]): T;
  chance(probability: number): boolean;
}

/** One stream of a seed, by name. */
export function diceOf(seed: number, stream: string): Dice {
  let state = mix(seed, stream);
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (n: number): number => Math.floor(next() * n);
  return {
    below,
    between: (low, high) => low + below(high - low + 1),
    one: (of) => of[below(of.length)] ?? of[0],
    chance: (probability) => next() < probability,
  };
}

/** FNV-1a over the name, then over the seed's eight bytes, so that neighbouring seeds throw unrelated numbers. */
function mix(seed: number, stream: string): number {
  let hash = 0x811c9dc5;
  const take = (byte: number): void => {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  };
  for (let index = 0; index < stream.length; index++) take(stream.charCodeAt(index) & 0xff);
  let rest = seed;
  for (let byte = 0; byte < 8; byte++) {
    take(rest % 256);
    rest = Math.floor(rest / 256);
  }
  return hash;
}
