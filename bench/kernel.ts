/**
 * The store floor: runs of first → three side by side → join → last, with steps that do nothing, through the real kernel, driver and
 * store, beside the bare commits that such a run needs, in the same process on the same disk. DESIGN §9.
 *
 *     npm run -s bench:kernel -- [--json] [--seconds 4] [--dir DIRECTORY]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { createLocalDriver } from '#drivers/local/local-driver.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { systemIds } from '#runtime/system-ids.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import { trivialDeliver, trivialDispatch, trivialPropose, trivialReceive } from '#testing/trivial-run.ts';

const IN_FLIGHT = [1, 16, 64];
const RUNS_PER_SECOND_MIN = 2_500;
const COMMIT_FACTOR_MAX = 3;
/** One that opens the run with its plan and first dispatch, and one for each of the six results. */
const COMMITS_PER_RUN = 7;
const EVENTS_PER_RUN = 47;
const EVENT_BYTES = 800;

interface Runs extends AsyncDisposable {
  readonly once: () => Promise<void>;
}

interface Measured {
  readonly runsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMsPerRun: number;
}

/** Keeps `inFlight` of `once` going for a while. */
async function measure(once: () => Promise<void>, inFlight: number, seconds: number): Promise<Measured> {
  const durations: number[] = [];
  const startMs = performance.now();
  const cpu = process.cpuUsage();
  const lane = async (): Promise<void> => {
    while (performance.now() - startMs < seconds * 1_000) {
      const fromMs = performance.now();
      await once();
      durations.push(performance.now() - fromMs);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  const tookS = (performance.now() - startMs) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  durations.sort((a, b) => a - b);
  const count = durations.length;
  const at = (share: number): number => round(durations[Math.floor(count * share)] ?? 0);
  return {
    runsPerSecond: Math.round(count / tookS),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    cpuMsPerRun: round((user + system) / 1_000 / count),
  };
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

/** Runs through kernel, driver and store. */
function governedRuns(path: string): Runs {
  const clock = systemClock;
  const ids = systemIds;
  const store = openSqliteStore({ path, clock });
  const driver = createLocalDriver({ store, clock, ids, owner: 'bench' });
  driver.register('central', {
    prepare: ({ ref }, todo, at) => {
      if (todo.kind === 'plan') return { command: trivialPropose(at), records: [] };
      return todo.kind === 'dispatch' ? trivialDispatch(ref, todo, { at, ids }) : undefined;
    },
    perform: async ({ ref, todo }, state) => {
      if (todo.kind === 'send') await driver.deliver(ref, trivialDeliver(state, todo, { at: clock.now(), ids }));
    },
  });
  return {
    once: async () => {
      const ref = { tenant: 't9', runId: ids.next('run') };
      await driver.deliver(ref, trivialReceive(clock.now()));
      const { result } = await driver.settled(ref);
      if (result !== 'completed') throw new Error(`a run ended as ${result}`);
    },
    [Symbol.asyncDispose]: async () => {
      await driver[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

/** The commits of such a run and nothing else: a head and rows as large as events, one transaction per turn of the event loop. */
function bareCommits(path: string): Runs {
  const db = new DatabaseSync(path);
  db.exec(`pragma journal_mode = wal; pragma synchronous = full;
    create table head (run integer primary key, seq integer) strict;
    create table event (run integer, seq integer, json text, primary key (run, seq)) strict, without rowid`);
  const head = db.prepare('insert into head values (?, ?) on conflict do update set seq = excluded.seq');
  const event = db.prepare('insert into event values (?, ?, ?)');
  const json = JSON.stringify({ body: 'x'.repeat(EVENT_BYTES) });
  let nextRun = 0;
  let waiting: { readonly write: () => void; readonly done: () => void }[] = [];
  const flush = (): void => {
    const batch = waiting;
    waiting = [];
    db.exec('begin immediate');
    for (const { write } of batch) write();
    db.exec('commit');
    for (const { done } of batch) done();
  };
  const write = (run: number, from: number, to: number): void => {
    head.run(run, to);
    for (let seq = from; seq < to; seq++) event.run(run, seq, json);
  };
  const commit = (run: number, from: number, to: number): Promise<void> =>
    new Promise((done) => {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ write: () => write(run, from, to), done });
    });
  const share = Math.ceil(EVENTS_PER_RUN / COMMITS_PER_RUN);
  return {
    once: async () => {
      const run = nextRun++;
      for (let part = 0; part < COMMITS_PER_RUN; part++) await commit(run, part * share, (part + 1) * share);
    },
    [Symbol.asyncDispose]: async () => db.close(),
  };
}

/** Both, in turn, at each width. */
async function measureAll(directory: string, seconds: number): Promise<Record<string, number>> {
  const figures: Record<string, number> = {};
  await using runs = governedRuns(join(directory, 'runs.db'));
  await using bare = bareCommits(join(directory, 'bare.db'));
  // Compile and fill caches before anything is counted.
  await measure(runs.once, 16, Math.min(1, seconds));
  for (const inFlight of IN_FLIGHT)
    for (const [name, once] of [
      ['bare', bare.once],
      ['sqlite', runs.once],
    ] as const)
      for (const [figure, value] of Object.entries(await measure(once, inFlight, seconds)))
        figures[`${name}At${inFlight}_${figure}`] = value;
  figures['p50At1_timesItsCommits'] = round((figures['sqliteAt1_p50Ms'] ?? 0) / (figures['bareAt1_p50Ms'] ?? 1));
  return figures;
}

const { values } = parseArgs({
  options: { json: { type: 'boolean' }, seconds: { type: 'string', default: '4' }, dir: { type: 'string' } },
});
const directory = await mkdtemp(join(values.dir ?? tmpdir(), 'caseops-bench-'));
let figures: Record<string, number>;
try {
  figures = await measureAll(directory, Number(values.seconds));
} finally {
  await rm(directory, { recursive: true });
}
const runsPerSecond = figures['sqliteAt16_runsPerSecond'] ?? 0;
const factor = figures['p50At1_timesItsCommits'] ?? Infinity;
const checks = [
  {
    id: 'sqlite-at-16',
    ok: runsPerSecond >= RUNS_PER_SECOND_MIN,
    expected: `at least ${RUNS_PER_SECOND_MIN} runs/s`,
    got: `${runsPerSecond} runs/s`,
  },
  {
    id: 'p50-at-1',
    ok: factor <= COMMIT_FACTOR_MAX,
    expected: `at most ${COMMIT_FACTOR_MAX} times the bare commits`,
    got: `${factor} times`,
  },
];
const failures = checks.filter(({ ok }) => !ok).map(({ id, expected, got }) => ({ id, expected, got }));
const report = {
  name: 'bench:kernel',
  ok: failures.length === 0,
  counts: { passed: checks.length - failures.length, failed: failures.length, pending: 0, notTested: 0 },
  figures,
  failures,
  date: systemClock.now(),
};
console.log(values.json === true ? JSON.stringify(report) : report);
process.exitCode = report.ok ? 0 : 1;
