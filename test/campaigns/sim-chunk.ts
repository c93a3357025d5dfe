/** Seeds one after the other: what they amount to, and each that broke something. */
import type { Simulated, Simulator, SimulatorOptions } from '#testing/simulation/simulate.ts';
import { BROKEN_VARIANTS } from '#testing/simulation/variants.ts';

export interface Chunk {
  readonly from: number;
  readonly count: number;
}

export interface SeedFailure {
  readonly seed: number;
  readonly property: string;
  readonly message: string;
}

export interface Tally {
  readonly seedCount: number;
  readonly centralRunCount: number;
  readonly teamRunCount: number;
  readonly eventCount: number;
  readonly toolCallCount: number;
  readonly faultCount: number;
  readonly effectCount: number;
  readonly blockedCount: number;
  readonly repeatedSeedCount: number;
  readonly failures: readonly SeedFailure[];
}

export const NOTHING: Tally = {
  seedCount: 0,
  centralRunCount: 0,
  teamRunCount: 0,
  eventCount: 0,
  toolCallCount: 0,
  faultCount: 0,
  effectCount: 0,
  blockedCount: 0,
  repeatedSeedCount: 0,
  failures: [],
};

/** Every so manieth seed is run a second time, and must give the same logs. */
const REPEAT_EVERY = 100;

export async function simulateChunk(simulator: Simulator, { from, count }: Chunk): Promise<Tally> {
  let tally = NOTHING;
  for (let seed = from; seed < from + count; seed++) {
    const outcome = await simulator.run(simulator.draw(seed));
    tally = add(tally, tallyOf(outcome));
    if (seed % REPEAT_EVERY === 0) tally = add(tally, await repeated(simulator, outcome));
  }
  return tally;
}

export function add(one: Tally, other: Tally): Tally {
  return {
    seedCount: one.seedCount + other.seedCount,
    centralRunCount: one.centralRunCount + other.centralRunCount,
    teamRunCount: one.teamRunCount + other.teamRunCount,
    eventCount: one.eventCount + other.eventCount,
    toolCallCount: one.toolCallCount + other.toolCallCount,
    faultCount: one.faultCount + other.faultCount,
    effectCount: one.effectCount + other.effectCount,
    blockedCount: one.blockedCount + other.blockedCount,
    repeatedSeedCount: one.repeatedSeedCount + other.repeatedSeedCount,
    failures: [...one.failures, ...other.failures],
  };
}

/** The mistake that is put in, by the invariant that it breaks; none: what is shipped. */
export function variantOf(breaks: string | undefined): NonNullable<SimulatorOptions['variant']> {
  if (breaks === undefined) return {};
  const found = BROKEN_VARIANTS.find((one) => one.breaks === breaks);
  if (found === undefined)
    throw new Error(`--variant is one of ${BROKEN_VARIANTS.map((one) => one.breaks).join(', ')}.`);
  return found.variant;
}

function tallyOf(outcome: Simulated): Tally {
  const { centralRunCount, teamRunCount, eventCount, toolCallCount, faultCount, effectCount, blockedCount } = outcome;
  const failures = outcome.violations.map(({ property, message }) => ({ seed: outcome.seed, property, message }));
  const counts = { centralRunCount, teamRunCount, eventCount, toolCallCount, faultCount, effectCount, blockedCount };
  return { ...NOTHING, ...counts, seedCount: 1, failures };
}

async function repeated(simulator: Simulator, { seed, fingerprint }: Simulated): Promise<Tally> {
  const again = await simulator.run(simulator.draw(seed));
  const message = `The logs of two runs of seed ${seed} differ: ${fingerprint} and ${again.fingerprint}.`;
  const failures = again.fingerprint === fingerprint ? [] : [{ seed, property: 'DETERMINISM', message }];
  return { ...NOTHING, repeatedSeedCount: 1, failures };
}
