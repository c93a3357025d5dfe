/** Cuts a failing scenario down: fewer people, fewer faults, as long as it still breaks the same. Source: ENGINE "simulator". */
import { keepParts, partsOf, type Scenario } from './scenario.ts';
import type { Simulated, Simulator } from './simulate.ts';

export interface Shrunk {
  /** The parts of the seed's scenario that are left: `p0`, `f3`. */
  readonly keep: readonly string[];
  readonly scenario: Scenario;
  readonly outcome: Simulated;
}

/** `fails` says whether a world still breaks what it broke. Undefined when the whole scenario does not fail. */
export async function shrink(
  simulator: Simulator,
  whole: Scenario,
  fails: (outcome: Simulated) => boolean,
): Promise<Shrunk | undefined> {
  const played = async (keep: readonly string[]): Promise<Shrunk | undefined> => {
    const scenario = keepParts(whole, keep);
    const outcome = await simulator.run(scenario);
    return fails(outcome) ? { keep, scenario, outcome } : undefined;
  };
  let least = await played(partsOf(whole));
  for (let smaller = least; smaller !== undefined;) {
    least = smaller;
    smaller = undefined;
    for (const part of least.keep) {
      smaller = await played(least.keep.filter((one) => one !== part));
      if (smaller !== undefined) break;
    }
  }
  return least;
}
