/**
 * The store floor: runs of plan → three side by side → join → signal → write, with steps that do nothing, through the real kernel, driver
 * and stores; beside the bare commits that such a run needs, and beside the same runs on LangGraph JS and DBOS with the same Postgres.
 * All take turns on the same machine in the same minutes. bench/README.md says how to read it. DESIGN §9.
 *
 *     npm run -s bench:kernel -- [--json] [--seconds 2] [--rounds 3] [--dir DIRECTORY] [--no-peers]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '#runtime/system-clock.ts';
import { openPostgresStore } from '#stores/postgres/postgres-store.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import { type PostgresCluster, startPostgres } from '#testing/postgres-cluster.ts';
import { barePostgres, bareSqlite } from './kernel/bare-commits.ts';
import { checkFloor } from './kernel/floor-checks.ts';
import { type OwnRuns, ownRuns } from './kernel/own-runs.ts';
import { installPeers, startPeer } from './kernel/peer.ts';
import { type Measured, measure } from './measure.ts';

const IN_FLIGHT = [1, 16, 64];
const WARM_UP_SECONDS = 2;

type Measure = (inFlight: number, seconds: number) => Promise<Measured>;

const { values } = parseArgs({
  options: {
    json: { type: 'boolean' },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    dir: { type: 'string' },
    peers: { type: 'boolean', default: true },
  },
  allowNegative: true,
});

const directory = await mkdtemp(join(values.dir ?? tmpdir(), 'caseops-bench-'));
try {
  await using stack = new AsyncDisposableStack();
  const { engines, figures } = await openEngines(stack);
  const measured = await inTurn(engines, { seconds: Number(values.seconds), rounds: Number(values.rounds) });
  const report = checkFloor({ ...figures, ...measured }, systemClock.now());
  console.log(values.json === true ? JSON.stringify(report) : report);
  process.exitCode = report.ok ? 0 : 1;
} finally {
  await rm(directory, { recursive: true });
}

interface Opened {
  readonly engines: ReadonlyMap<string, Measure>;
  readonly figures: Readonly<Record<string, number>>;
}

/** Bare commits are as many and as large as our own run's. */
async function openEngines(stack: AsyncDisposableStack): Promise<Opened> {
  const engines = new Map<string, Measure>();
  const clock = systemClock;
  const sqlite = stack.use(ownRuns(openSqliteStore({ path: join(directory, 'runs.db'), clock, thread: true })));
  const inLoop = stack.use(ownRuns(openSqliteStore({ path: join(directory, 'in-loop.db'), clock })));
  const trail = await sqlite.trail();
  const bare = stack.use(bareSqlite(join(directory, 'bare.db'), trail));
  engines.set('bareSqlite', (inFlight, seconds) => measure(bare.once, inFlight, seconds));
  engines.set('sqliteInLoop', (inFlight, seconds) => measure(inLoop.once, inFlight, seconds));
  engines.set('sqlite', (inFlight, seconds) => measure(sqlite.once, inFlight, seconds));
  const cluster = await postgres();
  if (cluster !== undefined)
    for (const [name, by] of await onPostgres(stack.use(cluster), stack)) engines.set(name, by);
  const figures = { commitsPerRun: trail.commitCount, eventsPerRun: trail.eventCount, bytesPerRun: trail.bytes };
  return { engines, figures };
}

/** Without a server the figures of Postgres and of the peers are missing, and their checks count as not tested. */
async function postgres(): Promise<PostgresCluster | undefined> {
  try {
    return await startPostgres();
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

async function onPostgres(
  cluster: PostgresCluster,
  stack: AsyncDisposableStack,
): Promise<ReadonlyMap<string, Measure>> {
  const engines = new Map<string, Measure>();
  const database = async (): Promise<string> => stack.use(await cluster.database()).url;
  const store = await openPostgresStore({ url: await database(), clock: systemClock });
  const runs: OwnRuns = stack.use(ownRuns(store));
  const bare = stack.use(await barePostgres(await database(), await runs.trail()));
  engines.set('barePostgres', (inFlight, seconds) => measure(bare.once, inFlight, seconds));
  engines.set('postgres', (inFlight, seconds) => measure(runs.once, inFlight, seconds));
  if (!values.peers) return engines;
  installPeers();
  for (const name of ['langgraph', 'dbos']) {
    const peer = stack.use(await startPeer(`${name}.mjs`, await database()));
    engines.set(name, peer.measure);
  }
  return engines;
}

/** One after the other at each width, and that several times; the middle of the rounds counts. */
async function inTurn(
  engines: ReadonlyMap<string, Measure>,
  { seconds, rounds }: { readonly seconds: number; readonly rounds: number },
): Promise<Record<string, number>> {
  const figures: Record<string, number> = {};
  // Compile and fill caches before anything is counted.
  for (const by of engines.values()) await by(16, WARM_UP_SECONDS);
  for (const inFlight of IN_FLIGHT) {
    const seen = new Map<string, Measured[]>();
    for (let round = 0; round < rounds; round += 1)
      for (const [name, by] of engines) seen.set(name, [...(seen.get(name) ?? []), await by(inFlight, seconds)]);
    for (const [name, all] of seen)
      for (const figure of ['runsPerSecond', 'p50Ms', 'p99Ms', 'cpuMsPerRun'] as const)
        figures[`${name}At${inFlight}_${figure}`] = middle(all.map((one) => one[figure]));
  }
  return figures;
}

function middle(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
