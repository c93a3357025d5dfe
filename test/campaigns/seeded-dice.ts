/** Dice of a campaign: the same seed throws the same. */
export interface Dice {
  /** From 0 to below `n`. */
  below(n: number): number;
  one<T>(of: readonly [T, ...T[]]): T;
  chance(probability: number): boolean;
}

/** Mulberry32: 32 bits of state, good enough to choose mutations. */
export function seededDice(seed: number): Dice {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (n: number): number => Math.floor(next() * n);
  return { below, one: (of) => of[below(of.length)] ?? of[0], chance: (probability) => next() < probability };
}
