/** The store suite's part about what survives: closing, and being killed. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { verifyChain } from '#kernel/chain.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { EVENTS_PER_COMMIT } from './suite-crash-writer.ts';
import { commitOf, jobOf, leaseOf, refOf, START_MS } from './suite-samples.ts';
import type { StoreSubject } from './suite-subject.ts';

const ACK_COUNT_BEFORE_KILL = 200;

/** Registers the tests of what survives. */
export function durabilitySuite(name: string, subject: () => Promise<StoreSubject>): void {
  test(`${name}: what was committed is there after closing and opening again`, async () => {
    await using place = await subject();
    const ref = refOf('reopen');
    const commit = commitOf(ref, {
      eventCount: 3,
      addJobs: [jobOf(ref)],
      records: [{ table: 'lease', row: leaseOf(ref, 'lse_reopen') }],
    });
    {
      await using store = await place.open(seededClock(START_MS));
      // Not awaited before closing: what waits is written.
      void store.commit(commit);
    }
    await using store = await place.open(seededClock(START_MS));
    assert.deepEqual(await store.events(ref, 0, 10), commit.events);
    assert.deepEqual(await store.jobs(ref), commit.addJobs);
    assert.deepEqual(await store.lease('t9', 'lse_reopen'), leaseOf(ref, 'lse_reopen'));
  });

  test(`${name}: a closed store refuses to write and says so`, async () => {
    await using place = await subject();
    const store = await place.open(seededClock(START_MS));
    await store[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
    await assert.rejects(store.commit(commitOf(refOf('closed'))), { code: 'ERR_STORE', retryable: false });
    await assert.rejects(store.head(refOf('closed')), { code: 'ERR_STORE' });
  });

  test(`${name}: after SIGKILL every acknowledged commit is there and none by half`, async () => {
    await using place = await subject();
    const acknowledged = await killAfter(place.crashChild, ACK_COUNT_BEFORE_KILL);
    await using store = await place.open(seededClock(START_MS));
    const heads = await store.runs({ limit: 100 });
    for (const { ref, seq } of heads) {
      const events = await store.events(ref, 0, 10_000);
      const commitCount = seq / EVENTS_PER_COMMIT;
      assert.ok(Number.isInteger(commitCount) && commitCount >= (acknowledged.get(ref.runId) ?? 0), ref.runId);
      assert.equal(events.length, seq);
      assert.equal(verifyChain({ ref, seq: 0, hash: '' }, events).ok, true);
      assert.equal((await store.jobs(ref)).length, commitCount);
      assert.equal((await store.leasesOfRun(ref.tenant, ref.runId)).length, commitCount);
    }
    assert.equal([...acknowledged.keys()].filter((runId) => !heads.some((head) => head.ref.runId === runId)).length, 0);
    assert.ok(acknowledged.size > 1);
  });
}

/** The highest acknowledged commit of each run at the moment of the kill. */
async function killAfter(child: StoreSubject['crashChild'], ackCount: number): Promise<Map<string, number>> {
  const writer = spawn(process.execPath, [...process.execArgv, child.script.pathname, ...child.args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(writer, 'exit');
  const acknowledged = new Map<string, number>();
  let count = 0;
  for await (const line of createInterface({ input: writer.stdout })) {
    const [run = '', commit = ''] = line.split(' ');
    acknowledged.set(`run_${run}`, Number(commit));
    if (++count === ackCount) writer.kill('SIGKILL');
  }
  const [, signal] = (await exited) as [number | null, string | null];
  assert.equal(signal, 'SIGKILL');
  assert.ok(count >= ackCount);
  return acknowledged;
}
