/** One simulated world before it begins, as data: all of it follows from the seed, and any part can be left out. */
import { diceOf } from './dice.ts';
import { drawFaults, type Fault } from './fault.ts';
import { drawPeople, type Person } from './person.ts';

export interface Scenario {
  readonly seed: number;
  /** How long a dead process still holds its runs. */
  readonly lockTtlMs: number;
  readonly people: readonly Person[];
  readonly faults: readonly Fault[];
}

export function drawScenario(
  seed: number,
  of: { readonly askCount: number; readonly teams: readonly string[] },
): Scenario {
  return {
    seed,
    lockTtlMs: diceOf(seed, 'locks').one([800, 800, 5_000]),
    people: drawPeople(diceOf(seed, 'people'), of.askCount),
    faults: drawFaults(diceOf(seed, 'faults'), { teams: of.teams }),
  };
}

/** The parts of a scenario that can be left out: people `p0`, `p1`, … and faults `f0`, `f1`, … */
export function partsOf({ people, faults }: Scenario): readonly string[] {
  return [...people.map((_, index) => `p${index}`), ...faults.map((_, index) => `f${index}`)];
}

/** The scenario with these parts alone. */
export function keepParts(scenario: Scenario, keep: readonly string[]): Scenario {
  return {
    ...scenario,
    people: scenario.people.filter((_, index) => keep.includes(`p${index}`)),
    faults: scenario.faults.filter((_, index) => keep.includes(`f${index}`)),
  };
}
