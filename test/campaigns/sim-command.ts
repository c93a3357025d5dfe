/**
 * `npm run -s sim -- --seeds N [--from N] [--signer stub|real] [--threads N] [--variant INV-nn] [--variants] [--merge|--begin]
 * [--json]`, or `--replay SEED [--keep p0,f1]`. `--merge` adds the sitting to reports/sim.json, `--begin` starts that report anew.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '#runtime/system-clock.ts';
import { DESK_CASE } from '#testing/simulation/desk-case.ts';
import { keepParts } from '#testing/simulation/scenario.ts';
import { createSimulator } from '#testing/simulation/simulate.ts';
import type { Signing } from '#testing/simulation/stub-signer.ts';
import { report } from './check-object.ts';
import { variantOf } from './sim-chunk.ts';
import { mergeSitting, type SimReport } from './sim-report.ts';
import { runSim, runVariants } from './sim.ts';

const REPORT = join(import.meta.dirname, '../../reports/sim.json');
const PROGRESS_MS = 10_000;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '2000' },
    from: { type: 'string', default: '1' },
    signer: { type: 'string', default: 'stub' },
    threads: { type: 'string' },
    variant: { type: 'string' },
    variants: { type: 'boolean', default: false },
    replay: { type: 'string' },
    keep: { type: 'string' },
    merge: { type: 'boolean', default: false },
    begin: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const signing: Signing = values.signer === 'real' ? 'real' : 'stub';

if (values.replay !== undefined) await replay(whole('replay', values.replay));
else if (values.variants) report(await runVariants(), values.json);
else await campaign();

async function campaign(): Promise<void> {
  let toldAtMs = systemClock.nowMs();
  const check = await runSim({
    from: whole('from', values.from),
    seedCount: whole('seeds', values.seeds),
    signing,
    variant: values.variant,
    threadCount: values.threads === undefined ? undefined : whole('threads', values.threads),
    onProgress: (seedCount, ofCount) => {
      if (systemClock.nowMs() - toldAtMs < PROGRESS_MS) return;
      toldAtMs = systemClock.nowMs();
      process.stderr.write(`sim: ${seedCount} of ${ofCount} seeds\n`);
    },
  });
  report(check, values.json);
  if (!values.merge && !values.begin) return;
  const kept =
    !values.begin && existsSync(REPORT) ? (JSON.parse(readFileSync(REPORT, 'utf8')) as SimReport) : undefined;
  writeFileSync(REPORT, `${JSON.stringify(mergeSitting(kept, check), null, 2)}\n`);
}

/** One seed, its parts and what became of it. */
async function replay(seed: number): Promise<void> {
  await using simulator = createSimulator(DESK_CASE, { signing, variant: variantOf(values.variant) });
  const drawn = simulator.draw(seed);
  const scenario = values.keep === undefined ? drawn : keepParts(drawn, values.keep.split(','));
  const outcome = await simulator.run(scenario);
  process.exitCode = outcome.violations.length === 0 ? 0 : 1;
  process.stdout.write(`${JSON.stringify({ scenario, outcome }, null, 2)}\n`);
}

function whole(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`--${name} expects a whole number above 0`);
  return number;
}
