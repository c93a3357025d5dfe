/** A server that goes away: what was acknowledged is there, what was under way is written once, and messages keep the password. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { RunEvent } from '#contracts/event.ts';
import { verifyChain } from '#kernel/chain.ts';
import type { Store } from '#ports/store.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { startPostgres } from '#testing/postgres-cluster.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { commitOf, committed, leaseOf, OWNER, refOf, START_MS } from '../suite-samples.ts';
import { openPostgresStore } from './postgres-store.ts';

const cluster = await startPostgres({});
after(() => cluster[Symbol.asyncDispose]());

const RUN_COUNT = 12;
const RESTART_COUNT = 3;

/** Commits to one run until told to stop; every commit must be taken, although its answer may be lost on the way. */
async function commitUntil(store: Store, name: string, stopped: () => boolean): Promise<number> {
  const ref = refOf(name);
  let log: readonly RunEvent[] = [];
  let count = 0;
  while (!stopped()) {
    const lease = { table: 'lease', row: leaseOf(ref, `lse_${name}-${count}`) } as const;
    log = await committed(store, commitOf(ref, { after: log, eventCount: 2, records: [lease] }));
    count += 1;
  }
  return count;
}

test('through restarts in mid-run every commit is written once, and none that was acknowledged is lost', async () => {
  await using database = await cluster.database();
  await using store = await openPostgresStore({ url: database.url, clock: systemClock });
  let stopped = false;
  const names = Array.from({ length: RUN_COUNT }, (_, index) => `outage-${index}`);
  const working = names.map((name) => commitUntil(store, name, () => stopped));
  for (let round = 0; round < RESTART_COUNT; round++) {
    await pause(150);
    await cluster.restart();
  }
  await pause(150);
  stopped = true;
  const counts = await Promise.all(working);
  for (const [index, name] of names.entries()) {
    const ref = refOf(name);
    const events = await store.events(ref, 0, 10_000);
    assert.equal(events.length, (counts[index] ?? 0) * 2);
    assert.equal(verifyChain({ ref, seq: 0, hash: '' }, events).ok, true);
    assert.equal((await store.leasesOfRun('t9', ref.runId)).length, counts[index]);
  }
  assert.ok(counts.every((count) => count > RESTART_COUNT));
});

test('connections that are cut again and again cost no commit and write none twice', async () => {
  await using database = await cluster.database();
  await using store = await openPostgresStore({ url: database.url, clock: systemClock });
  const axe = new pg.Client({ connectionString: cluster.url });
  await axe.connect();
  let stopped = false;
  const working = Array.from({ length: RUN_COUNT }, (_, index) => commitUntil(store, `cut-${index}`, () => stopped));
  for (let cut = 0; cut < 40; cut++) {
    await axe.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'caseops'`);
    await pause(10);
  }
  stopped = true;
  const counts = await Promise.all(working);
  await axe.end();
  for (const [index, count] of counts.entries())
    assert.equal((await store.events(refOf(`cut-${index}`), 0, 10_000)).length, count * 2);
});

test('ready runs that were taken when the answer was lost are given all the same', async () => {
  await using database = await cluster.database();
  await using store = await openPostgresStore({ url: database.url, clock: systemClock });
  const names = Array.from({ length: 50 }, (_, index) => `lost-${index}`);
  for (const name of names) await committed(store, commitOf(refOf(name), { owner: 'dead' }));
  const axe = new pg.Client({ connectionString: cluster.url });
  await axe.connect();
  const taken: string[] = [];
  while (taken.length < names.length) {
    const taking = store.takeOpenRuns('central', { owner: OWNER, ttlMs: 10_000 }, 5);
    await axe.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'caseops'`);
    taken.push(...(await taking).map(({ head }) => head.ref.runId));
  }
  await axe.end();
  assert.deepEqual(taken.toSorted(), names.map((name) => `run_${name}`).toSorted());
});

test('a server that stays away is an error that names it, can be tried again, and holds no password', async () => {
  await using database = await cluster.database();
  await using store = await openPostgresStore({ url: database.url, clock: systemClock, outageMsMax: 200 });
  await committed(store, commitOf(refOf('before')));
  await cluster.stop();
  const { port } = new URL(database.url);
  for (const call of [() => store.commit(commitOf(refOf('during'))), () => store.head(refOf('before'))])
    await assert.rejects(call, (error: Error & { readonly code?: string; readonly retryable?: boolean }) => {
      assert.deepEqual([error.code, error.retryable], ['ERR_STORE', true]);
      assert.match(error.message, new RegExp(`^The store postgres 127\\.0\\.0\\.1:${port}/caseops_\\w+ .*start`));
      assert.doesNotMatch(JSON.stringify(error) + error.message, /throw-away/);
      return true;
    });
  await cluster.start();
  await committed(store, commitOf(refOf('during')));
  assert.equal((await store.head(refOf('before')))?.seq, 1);
});

test('each thing that is wrong with an address is said, without the address', async () => {
  const clock = seededClock(START_MS);
  const refused = (url: string, code: string, part: RegExp): Promise<void> =>
    assert.rejects(openPostgresStore({ url, clock }), (error: Error & { readonly code?: string }) => {
      assert.equal(error.code, code);
      assert.match(error.message, part);
      assert.doesNotMatch(error.message, /throw-away|wrong-one/);
      return true;
    });
  const given = new URL(cluster.url);
  await refused('mysql://user:wrong-one@127.0.0.1/x', 'ERR_CONFIG', /expected postgres:\/\/USER/);
  await refused('wrong-one', 'ERR_CONFIG', /expected postgres:\/\/USER/);
  await refused(`${given.href}_missing`, 'ERR_STORE', /does not exist on that server; create it/);
  given.password = 'wrong-one';
  await refused(given.href, 'ERR_STORE', /does not take the password; check the secret/);
  given.port = '1';
  await refused(given.href, 'ERR_STORE', /does not answer; start the server/);
  given.hostname = 'nowhere.invalid';
  await refused(given.href, 'ERR_STORE', /host name that nobody knows|does not answer/);
});
