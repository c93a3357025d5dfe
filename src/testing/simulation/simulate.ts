/**
 * Simulates a case: the real control, execution, effects and stores, with time, ids, network, tools, owner, disk and the lives of processes
 * under a seed. The same seed gives the same log, byte for byte. Source: ENGINE "simulator", DESIGN §4 "Invariants".
 */
import type { Clock } from '#ports/clock.ts';
import { nativeSha256 } from '#drivers/local/native-sha256.ts';
import { seededIds } from '../seeded-ids.ts';
import { diceOf } from './dice.ts';
import { openFaultBook } from './fault-book.ts';
import { SUPERVISOR_ROLE } from './fault.ts';
import { auditFinally } from './final-audit.ts';
import { createNetwork } from './network.ts';
import { startPeople, type PersonState } from './people.ts';
import { drawScenario, type Scenario } from './scenario.ts';
import type { SimulatedCase } from './simulated-case.ts';
import { createStorePool, type StorePool } from './store-pool.ts';
import { keysFor, type Keys, type Signing } from './stub-signer.ts';
import { startSupervisor } from './supervisor-process.ts';
import { announcementOf, startTeam } from './team-process.ts';
import { scheduleFaults } from './timed-faults.ts';
import type { Violation } from './violation.ts';
import { virtualTime, type VirtualTime } from './virtual-time.ts';
import { createWitness } from './witness.ts';
import type { Variant, World } from './world.ts';

export interface SimulatorOptions {
  /** `stub` unless given: digests in place of signatures. `real`: ES256. */
  readonly signing?: Signing;
  /** A seeded mistake, to see that it is caught. */
  readonly variant?: Variant;
}

/** What became of one world. */
export interface Simulated {
  readonly seed: number;
  readonly violations: readonly Violation[];
  /** Over the chain heads of all its runs: equal for two runs of one seed. */
  readonly fingerprint: string;
  readonly centralRunCount: number;
  readonly teamRunCount: number;
  readonly eventCount: number;
  readonly toolCallCount: number;
  /** Faults that befell something. */
  readonly faultCount: number;
  readonly effectCount: number;
  readonly endedCount: number;
  readonly blockedCount: number;
}

export interface Simulator extends AsyncDisposable {
  draw(seed: number): Scenario;
  run(scenario: Scenario): Promise<Simulated>;
}

const START_MS = Date.UTC(2026, 6, 22, 14, 0, 0);
/** After the last fault and act, everything must come to rest within so long. */
const REST_MS = 180_000;
const EVENT_COUNT_MAX = 60_000;

/** Worlds of one case, one after the other: what costs more than a world is made once. */
export function createSimulator(of: SimulatedCase, options: SimulatorOptions = {}): Simulator {
  const pool = createStorePool();
  let time: VirtualTime | undefined;
  const clock: Clock = {
    now: () => (time === undefined ? new Date(START_MS).toISOString() : time.now()),
    nowMs: () => time?.nowMs() ?? START_MS,
    at: (atMs, callback) => time?.at(atMs, callback) ?? (() => undefined),
    sleep: (ms, signal) => time?.sleep(ms, signal) ?? Promise.resolve(),
  };
  const teams = of.teams(clock);
  const announcements = new Map(teams.map((team) => [team.name, announcementOf(team)]));
  const fixed = { of, teams, announcements, keys: keysFor(options.signing ?? 'stub'), variant: options.variant ?? {} };
  return {
    draw: (seed) => drawScenario(seed, { askCount: of.asks.length, teams: teams.map(({ name }) => name) }),
    run: (scenario) => {
      const world = openWorld(scenario, { ...fixed, pool });
      time = world.time;
      return play(world, scenario);
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

interface Fixed extends Pick<World, 'of' | 'teams' | 'announcements' | 'variant'> {
  readonly keys: Keys;
  readonly pool: StorePool;
}

function openWorld({ seed, faults, lockTtlMs }: Scenario, fixed: Fixed): World {
  const { pool, of, teams } = fixed;
  const time = virtualTime(START_MS, diceOf(seed, 'order'));
  const dice = diceOf(seed, 'world');
  const book = openFaultBook(faults);
  const schedule = (callback: () => void): void => void time.at(time.nowMs() + dice.between(0, 2), callback);
  const stores = [SUPERVISOR_ROLE, ...teams.map(({ name }) => name)].map(
    (name, index) => [name, pool.take(index, { clock: time, schedule })] as const,
  );
  const storeOf = (name: string): World['stores']['supervisor'] => {
    const found = stores.find(([known]) => known === name)?.[1];
    if (found === undefined) throw new Error(`There is no store of ${name}.`);
    return found;
  };
  const witness = createWitness({ now: () => time.now(), ownerOf: of.ownerOf });
  for (const [name, store] of stores) store.onCommit((events, head) => witness.committed(name, events, head));
  const world: World = {
    ...fixed,
    seed,
    lockTtlMs,
    startMs: START_MS,
    time,
    dice,
    ids: seededIds(seed),
    book,
    network: createNetwork({ time, dice, book, startMs: START_MS }),
    witness,
    report: witness.report,
    targets: (fixed.variant.owners ?? of.targets)?.(time) ?? [],
    stores: { supervisor: storeOf(SUPERVISOR_ROLE), team: storeOf },
    supervisors: new Map(),
    teamProcesses: new Map(),
    variantMemory: new Map(),
    lastMs: START_MS,
    crash: (role, life, downMs) => {
      if (life.dead) return;
      life.die();
      time.at(time.nowMs() + downMs, () => startRole(world, role));
    },
  };
  return world;
}

function startRole(world: World, role: string): void {
  const team = world.teams.find(({ name }) => name === role);
  if (team === undefined) startSupervisor(world, role);
  else startTeam(world, team);
}

async function play(world: World, { people }: Scenario): Promise<Simulated> {
  const { time, witness } = world;
  for (const { name } of world.teams) startRole(world, name);
  startRole(world, SUPERVISOR_ROLE);
  scheduleFaults(world, (role) => startRole(world, role));
  const states = startPeople(world, people);
  let busyMs = START_MS;
  while (!atEnd(world, states)) {
    if (states.some(({ busy }) => busy)) busyMs = time.nowMs();
    const boundMs = Math.max(busyMs, world.lastMs) + REST_MS;
    if (time.nowMs() > boundMs || time.eventCount > EVENT_COUNT_MAX || !(await time.step())) break;
  }
  const heads = await auditFinally(world);
  if (states.some(({ busy }) => busy)) witness.report('LIVENESS', 'Somebody still waits for an answer.');
  for (const { life } of [...world.supervisors.values(), ...world.teamProcesses.values()]) life.die();
  return outcomeOf(world, heads);
}

/** Every run has ended or waits for people, and nobody is about to do anything. */
function atEnd(world: World, states: readonly PersonState[]): boolean {
  if (states.some(({ busy }) => busy)) return false;
  if (world.time.nowMs() < world.lastMs) return false;
  return [...world.witness.accounts.values()].every((runs) =>
    [...runs.values()].every(({ phase, level }) => phase === 'ended' || (phase === 'blocked' && level === 'central')),
  );
}

function outcomeOf(world: World, heads: readonly string[]): Simulated {
  const { witness, book } = world;
  const central = [...(witness.accounts.get(SUPERVISOR_ROLE)?.values() ?? [])];
  const all = [...witness.accounts.values()].reduce((sum, runs) => sum + runs.size, 0);
  return {
    seed: world.seed,
    violations: witness.violations,
    fingerprint: nativeSha256(heads.join('\n')),
    centralRunCount: central.length,
    teamRunCount: all - central.length,
    eventCount: witness.eventCount,
    toolCallCount: witness.toolCallCount,
    faultCount: book.struckCount,
    effectCount: world.targets.reduce((sum, owner) => sum + owner.appliedCount(), 0),
    endedCount: central.filter(({ phase }) => phase === 'ended').length,
    blockedCount: central.filter(({ phase }) => phase === 'blocked').length,
  };
}
