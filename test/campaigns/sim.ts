/**
 * Many seeds of the simulator, over all cores. A failing seed is cut down and told with the command that plays it again.
 * Source: DESIGN §4 "Invariants", ENGINE "simulator".
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { systemClock } from '#runtime/system-clock.ts';
import { DESK_CASE } from '#testing/simulation/desk-case.ts';
import { shrink } from '#testing/simulation/shrink.ts';
import { createSimulator } from '#testing/simulation/simulate.ts';
import type { Signing } from '#testing/simulation/stub-signer.ts';
import { BROKEN_VARIANTS } from '#testing/simulation/variants.ts';
import { type CheckFailure, type CheckObject, checkObject } from './check-object.ts';
import { add, type Chunk, NOTHING, type SeedFailure, type Tally, variantOf } from './sim-chunk.ts';
import { type CodeDigests, codeDigests } from './sim-digest.ts';

export interface SimOptions {
  readonly from: number;
  readonly seedCount: number;
  readonly signing: Signing;
  readonly variant?: string | undefined;
  readonly threadCount?: number | undefined;
  readonly onProgress?: (seedCount: number, ofCount: number) => void;
}

export interface SimCheck extends CheckObject, CodeDigests {
  readonly from: number;
  readonly signing: Signing;
}

const CHUNK_SEED_COUNT = 25;
/** A world is forgotten as soon as it is over: with room for many, little of it is ever copied. */
const YOUNG_MB = 96;
/** Failing seeds that are cut down; the others are only named. */
const SHRUNK_COUNT_MAX = 3;
const FAILING_COUNT_MAX = 50;

export async function runSim(options: SimOptions): Promise<SimCheck> {
  const { from, seedCount, signing } = options;
  const startedAtMs = systemClock.nowMs();
  const tally = await simulateAll(options);
  const durationMs = Math.max(1, Math.round(systemClock.nowMs() - startedAtMs));
  const failures = await told(tally.failures, options);
  const { failures: _, ...counts } = tally;
  const runCount = tally.centralRunCount + tally.teamRunCount;
  const check = checkObject('sim', {
    passed: tally.seedCount - new Set(tally.failures.map(({ seed }) => seed)).size,
    failures,
    seed: from,
    figures: {
      ...counts,
      runCount,
      durationMs,
      seedsPerSecond: rate(tally.seedCount, durationMs),
      runsPerSecond: rate(runCount, durationMs),
    },
  });
  return { ...check, ok: check.ok && tally.seedCount === seedCount, from, signing, ...codeDigests() };
}

const rate = (count: number, ms: number): number => Math.round((count * 10_000) / ms) / 10;

/** Hands chunks to threads, each as soon as it has done its last one. */
async function simulateAll(options: SimOptions): Promise<Tally> {
  const { from, seedCount, signing, variant, onProgress } = options;
  let next = from;
  let tally = NOTHING;
  const take = (): Chunk | undefined => {
    const count = Math.min(CHUNK_SEED_COUNT, from + seedCount - next);
    if (count <= 0 || tally.failures.length >= FAILING_COUNT_MAX) return undefined;
    next += count;
    return { from: next - count, count };
  };
  const done = (part: Tally): void => {
    tally = add(tally, part);
    onProgress?.(tally.seedCount, seedCount);
  };
  const threadCount = Math.min(options.threadCount ?? availableParallelism(), Math.ceil(seedCount / CHUNK_SEED_COUNT));
  await Promise.all(Array.from({ length: threadCount }, () => thread({ signing, variant }, take, done)));
  return tally;
}

async function thread(
  workerData: { readonly signing: Signing; readonly variant: string | undefined },
  take: () => Chunk | undefined,
  done: (part: Tally) => void,
): Promise<void> {
  const worker = new Worker(new URL('./sim-worker.ts', import.meta.url), {
    workerData,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });
  try {
    for (let chunk = take(); chunk !== undefined; chunk = take()) {
      const answered = Promise.withResolvers<Tally>();
      worker.once('message', answered.resolve);
      worker.once('error', answered.reject);
      worker.postMessage(chunk);
      done(await answered.promise);
      worker.removeAllListeners('error');
    }
  } finally {
    await worker.terminate();
  }
}

/** Each failing seed once, the first ones as small as they get. */
async function told(failures: readonly SeedFailure[], options: SimOptions): Promise<readonly CheckFailure[]> {
  const first = [...new Map(failures.map((failure) => [failure.seed, failure])).values()];
  const { signing, variant } = options;
  await using simulator = createSimulator(DESK_CASE, { signing, variant: variantOf(variant) });
  const found: CheckFailure[] = [];
  for (const [index, { seed, property, message }] of first.toSorted((a, b) => a.seed - b.seed).entries()) {
    const small =
      index < SHRUNK_COUNT_MAX
        ? await shrink(simulator, simulator.draw(seed), ({ violations }) =>
            violations.some((violation) => violation.property === property),
          )
        : undefined;
    const said = small?.outcome.violations.find((violation) => violation.property === property)?.message ?? message;
    const replay = replayCommand({ seed, keep: small?.keep, signing, variant });
    found.push({ id: `seed ${seed}`, expected: `${property} holds`, got: `${said} Replay: ${replay}` });
  }
  return found;
}

function replayCommand(of: {
  readonly seed: number;
  readonly keep: readonly string[] | undefined;
  readonly signing: Signing;
  readonly variant: string | undefined;
}): string {
  const keep = of.keep === undefined ? '' : ` --keep ${of.keep.join(',')}`;
  const signer = of.signing === 'real' ? ' --signer real' : '';
  return `npm run -s sim -- --replay ${of.seed}${keep}${signer}${of.variant === undefined ? '' : ` --variant ${of.variant}`}`;
}

/** For each seeded mistake the first seed that catches it; not caught in time is a failure. */
export async function runVariants(): Promise<CheckObject> {
  const failures: CheckFailure[] = [];
  const figures: Record<string, number> = {};
  for (const { breaks, mistake, variant, seedCountMax } of BROKEN_VARIANTS) {
    await using simulator = createSimulator(DESK_CASE, { variant });
    let caughtAt: number | undefined;
    for (let seed = 1; seed <= seedCountMax && caughtAt === undefined; seed++) {
      const { violations } = await simulator.run(simulator.draw(seed));
      if (violations.some(({ property }) => property === breaks)) caughtAt = seed;
    }
    if (caughtAt === undefined)
      failures.push({ id: breaks, expected: `caught within ${seedCountMax} seeds`, got: `missed: ${mistake}` });
    else figures[`${breaks} caught at seed`] = caughtAt;
  }
  return checkObject('sim variants', { passed: BROKEN_VARIANTS.length - failures.length, failures, figures });
}
