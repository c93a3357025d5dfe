/**
 * What runs cost that wait for people: how much memory a process needs above its idle state for 10,000 runs whose actions are before
 * their approvers, with the real driver, handlers, writer and desk on a store in a file. DESIGN §9.
 *
 *     npm run -s bench:waiting -- [--json] [--runs 10000]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { RunRef } from '#contracts/command.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import { effectRuns } from '#testing/effect-runs.ts';
import { createMemoryTarget } from '#testing/memory-effect-target.ts';
import { round } from './measure.ts';
import { reportOf } from './report.ts';

const MEGABYTES_MAX = 50;
/** Runs that came and ended before: idle is a process that has worked, with its caches filled and its heap grown. */
const WARM_UP_COUNT = 1_500;
const BYTES_PER_MEGABYTE = 1_000_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

interface Memory {
  readonly heapMb: number;
  readonly residentMb: number;
}

/** After everything that can be let go of was let go of. */
async function memory(): Promise<Memory> {
  for (let time = 0; time < 4; time += 1) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heapMb: (heapUsed + external) / BYTES_PER_MEGABYTE, residentMb: rss / BYTES_PER_MEGABYTE };
}

const { values } = parseArgs({ options: { json: { type: 'boolean' }, runs: { type: 'string', default: '10000' } } });
const runCount = Number(values.runs);
const directory = await mkdtemp(join(tmpdir(), 'caseops-waiting-'));
try {
  await using runs = await effectRuns({
    targets: (clock) => [createMemoryTarget({ clock })],
    place: {
      open: async (clock) => openSqliteStore({ path: join(directory, 'runs.db'), clock }),
      quiet: () => new Promise((resolve) => setImmediate(resolve)),
    },
  });
  const open = async (index: number): Promise<RunRef> => {
    const ref = { tenant: 't9', runId: await runs.open([`D-${index}`]) };
    const state = await runs.process.driver.state(ref);
    if (state?.phase !== 'blocked') throw new Error(`Run ${index} is ${state?.phase} and does not wait.`);
    return ref;
  };
  for (let index = 0; index < WARM_UP_COUNT; index += 1) {
    const ref = await open(index);
    const at = runs.clock.now();
    await runs.process.driver.deliver(ref, { kind: 'cancel', at, actor: 'requester@t9', reason: 'Warm.' });
  }
  const idle = await memory();
  for (let index = 0; index < runCount; index += 1) await open(WARM_UP_COUNT + index);
  const full = await memory();
  const figures = {
    runCount,
    idleHeapMb: round(idle.heapMb),
    idleResidentMb: round(idle.residentMb),
    aboveIdleHeapMb: round(full.heapMb - idle.heapMb),
    aboveIdleResidentMb: round(full.residentMb - idle.residentMb),
  };
  const targets = [
    { id: 'heap-above-idle', got: figures.aboveIdleHeapMb, most: MEGABYTES_MAX, unit: 'MB' },
    { id: 'resident-above-idle', got: figures.aboveIdleResidentMb, most: MEGABYTES_MAX, unit: 'MB' },
  ];
  const report = reportOf('bench:waiting', { targets, figures, date: systemClock.now() });
  console.log(values.json === true ? JSON.stringify(report) : report);
  process.exitCode = report.ok ? 0 : 1;
} finally {
  await rm(directory, { recursive: true });
}
