/** A bound on how many work at the same time; who waits is served in order of coming. */
export interface Slots {
  take(): Promise<void>;
  give(): void;
}

export function createSlots(countMax: number): Slots {
  let takenCount = 0;
  const waiting: (() => void)[] = [];
  return {
    take: () => {
      if (takenCount < countMax) {
        takenCount++;
        return Promise.resolve();
      }
      return new Promise((resolve) => waiting.push(resolve));
    },
    give: () => {
      const next = waiting.shift();
      // The slot goes to who waits, and is never free in between.
      if (next === undefined) takenCount--;
      else next();
    },
  };
}
