/**
 * The same histories on both stores, under a seeded clock and seeded ids: the event chains are equal byte for byte, and so is what the
 * stores fold of them. Source: ENGINE "One suite of recorded histories".
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { RunRef } from '#contracts/command.ts';
import { clockOf, type DriverSubject, openWorld, untilAborted, type World } from '#drivers/suite-world.ts';
import { createLocalDriver } from '#drivers/local/local-driver.ts';
import { verifyChain } from '#kernel/chain.ts';
import type { Clock } from '#ports/clock.ts';
import type { Store } from '#ports/store.ts';
import { openPostgresStore } from '#stores/postgres/postgres-store.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import { effectRuns } from '#testing/effect-runs.ts';
import { createMemoryTarget, type MemoryTarget } from '#testing/memory-effect-target.ts';
import { startPostgres } from '#testing/postgres-cluster.ts';
import { trivialClarify, trivialReceive } from '#testing/trivial-run.ts';
import { storeWatch } from '#testing/watched-store.ts';

const cluster = await startPostgres();
after(() => cluster[Symbol.asyncDispose]());

interface Place extends AsyncDisposable {
  readonly open: (clock: Clock) => Promise<Store>;
  readonly quiet: () => Promise<void>;
}

const PLACES: Readonly<Record<'sqlite' | 'postgres', () => Promise<Place>>> = {
  sqlite: async () => {
    const { watch, quiet } = storeWatch();
    const directory = await mkdtemp(join(tmpdir(), 'caseops-history-'));
    return {
      open: async (clock) => watch(openSqliteStore({ path: join(directory, 'caseops.db'), clock })),
      quiet,
      [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
    };
  },
  postgres: async () => {
    const database = await cluster.database();
    const { watch, quiet } = storeWatch();
    return {
      open: async (clock) => watch(await openPostgresStore({ url: database.url, clock })),
      quiet,
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  },
};

/** All that a store keeps of a run, as text. */
async function record(store: Store, { tenant, runId }: RunRef): Promise<string> {
  const ref = { tenant, runId };
  const events = await store.events(ref, 0, 10_000);
  assert.ok(events.length > 0);
  assert.equal(verifyChain({ ref, seq: 0, hash: '' }, events).ok, true);
  return JSON.stringify({
    events,
    head: await store.head(ref),
    jobs: await store.jobs(ref),
    effects: await store.effects(tenant, runId),
    approvals: await store.approvalList({ tenant, runId, limit: 100 }),
    leases: await store.leasesOfRun(tenant, runId),
  });
}

/** A history is told with a driver of the place; returns the runs it is about. */
type History = (on: DriverSubject) => Promise<{ readonly world: World; readonly refs: readonly RunRef[] }>;

const cancel = (world: World) =>
  ({ kind: 'cancel', at: world.clock.now(), actor: 'requester@t9', reason: 'no longer wanted' }) as const;

const HISTORIES: Readonly<Record<string, History>> = {
  'a run that completes': async (on) => {
    const world = await openWorld(on);
    const ref = await world.open();
    await world.driver.settled(ref);
    return { world, refs: [ref] };
  },
  'a run that is cancelled at work': async (on) => {
    const world = await openWorld(on, { perform: (_, __, ___, signal) => untilAborted(signal) });
    const ref = await world.open();
    await world.driver.deliver(ref, cancel(world));
    await world.clock.advance(60_000);
    return { world, refs: [ref] };
  },
  'a run that asks, is answered, and completes': async (on) => {
    const world = await openWorld(on);
    const ref = { tenant: 't9', runId: world.ids.next('run') };
    await world.driver.deliver(ref, trivialReceive(world.clock.now(), true));
    await world.driver.settled(ref);
    await world.clock.advance(1_000);
    await world.driver.deliver(ref, trivialClarify(world.clock.now()));
    await world.driver.settled(ref);
    return { world, refs: [ref] };
  },
  'a run whose process dies and that another takes over': async (on) => {
    const clock = clockOf(on);
    const one = await openWorld(on, { clock, perform: (_, __, ___, signal) => untilAborted(signal) });
    const ref = await one.open();
    // Nothing is called back: as if the process had been killed.
    clock.jump(20_000);
    const world = await openWorld(on, { owner: 'process-b', clock });
    await world.driver.resume('central');
    await world.driver.settled(ref);
    await one[Symbol.asyncDispose]();
    return { world, refs: [ref] };
  },
  'a step that fails for now and is attempted again': async (on) => {
    let failCount = 1;
    const world = await openWorld(on, {
      perform: async (own, { ref, todo }, state) => {
        if (todo.kind !== 'send') return;
        if (todo.stepId === 'first' && failCount-- > 0) throw new Error('down for now');
        await own.finish(ref, todo, state);
      },
    });
    const ref = await world.open();
    await world.clock.advance(60_000);
    await world.driver.settled(ref);
    return { world, refs: [ref] };
  },
};

async function tell(history: History, kind: keyof typeof PLACES): Promise<readonly string[]> {
  await using place = await PLACES[kind]();
  const subject: DriverSubject = {
    openStore: place.open,
    createDriver: createLocalDriver,
    quiet: place.quiet,
    crashChild: { script: new URL('file:///'), args: [] },
    [Symbol.asyncDispose]: async () => undefined,
  };
  const { world, refs } = await history(subject);
  await using closing = world;
  return await Promise.all(refs.map((ref) => record(closing.store, ref)));
}

for (const [name, history] of Object.entries(HISTORIES))
  test(`on both stores, ${name} is the same history byte for byte`, async () => {
    const [sqlite, postgres] = [await tell(history, 'sqlite'), await tell(history, 'postgres')];
    assert.ok(sqlite.length > 0);
    assertSame(postgres, sqlite);
  });

/** Two effects: one is confirmed, the reply of the other is lost and it is reconciled by another process. */
async function tellEffects(kind: keyof typeof PLACES): Promise<readonly string[]> {
  await using place = await PLACES[kind]();
  let target: MemoryTarget | undefined;
  await using runs = await effectRuns({
    place,
    targets: (clock) => [(target = createMemoryTarget({ clock, dedupes: true }))],
  });
  const runId = await runs.open(['D-1', 'D-2']);
  const [first, second] = await runs.pending(runId);
  assert.ok(first !== undefined && second !== undefined && target !== undefined);
  await runs.approve(first);
  await runs.settle(runId);
  target.faults.push('lost_reply');
  await runs.approve(second);
  await runs.settle(runId);
  await runs.restart();
  await runs.settle(runId);
  assert.deepEqual([target.appliedCount(), (await runs.state(runId)).result], [2, 'completed']);
  return [await record(runs.store, { tenant: 't9', runId })];
}

test('on both stores, approved effects leave the same ledger and the same log', async () => {
  const [sqlite, postgres] = [await tellEffects('sqlite'), await tellEffects('postgres')];
  assert.match(sqlite[0] ?? '', /effect\.confirmed/);
  assertSame(postgres, sqlite);
});

/** Says where two texts part, not all that they hold. */
function assertSame(got: readonly string[], expected: readonly string[]): void {
  const [one, other] = [got.join('\n'), expected.join('\n')];
  const at = [...one].findIndex((char, index) => char !== other[index]);
  assert.equal(one.slice(Math.max(0, at - 200), at + 200), other.slice(Math.max(0, at - 200), at + 200));
  assert.equal(one.length, other.length);
}
