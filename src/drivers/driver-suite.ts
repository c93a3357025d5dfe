/** The driver's promises, one test each; every implementation runs this suite. Source: DESIGN §4, `ports/driver.ts`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CaseOpsError } from '#contracts/error.ts';
import type { RunId } from '#contracts/ids.ts';
import { digestOf } from '#kernel/digest.ts';
import type { RecordWrite } from '#ports/store.ts';
import { trivialClarify, trivialDeliver, trivialPropose, trivialReceive } from '#testing/trivial-run.ts';
import { jobSuite } from './suite-jobs.ts';
import { takeoverSuite } from './suite-takeover.ts';
import { assertCompleted, type DriverSubject, ofKind, openWorld, until, untilAborted } from './suite-world.ts';

/** Registers the suite's tests under `name`. */
export function driverSuite(name: string, subject: () => Promise<DriverSubject>): void {
  const on = (title: string, body: (place: DriverSubject) => Promise<void>): void => {
    test(`${name}: ${title}`, async () => {
      await using place = await subject();
      await body(place);
    });
  };
  commandTests(on);
  recordTests(on);
  jobSuite(on);
  takeoverSuite(on);
}

type On = (title: string, body: (place: DriverSubject) => Promise<void>) => void;

function commandTests(on: On): void {
  on('a run goes from its goal to its end, each step settled once, and leaves no job', async (place) => {
    await using world = await openWorld(place);
    const ref = await world.open();
    const state = await world.driver.settled(ref);
    assert.equal(state.result, 'completed');
    await assertCompleted(world, ref);
    assert.deepEqual(world.errors, []);
  });

  on('dispatch and lease are written in the transaction that makes the step ready', async (place) => {
    await using world = await openWorld(place);
    const commits: (readonly string[])[] = [];
    world.store.onCommit((events) => commits.push(events.map(({ kind }) => kind)));
    const ref = await world.open();
    assert.deepEqual(commits[0]?.slice(-2), ['plan.accepted', 'step.dispatched']);
    await world.driver.settled(ref);
    assert.equal((await world.store.leasesOfRun(ref.tenant, ref.runId)).length, 6);
    // Opening with the first dispatch, then one commit for each of the six results, or for those that came together.
    assert.ok(commits.length >= 5 && commits.length <= 7, `${commits.length} commits`);
  });

  on('a hundred runs go side by side', async (place) => {
    await using world = await openWorld(place);
    const refs = await Promise.all(Array.from({ length: 100 }, () => world.open()));
    await Promise.all(refs.map((ref) => world.driver.settled(ref)));
    for (const ref of refs) await assertCompleted(world, ref);
  });

  on('commands of one run are decided one after the other, whatever comes at once', async (place) => {
    await using world = await openWorld(place, { perform: (_, __, ___, signal) => untilAborted(signal) });
    const ref = await world.open();
    const cancel = {
      kind: 'cancel',
      at: world.clock.now(),
      actor: 'requester@t9',
      reason: 'no longer wanted',
    } as const;
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => world.driver.deliver(ref, cancel)));
    assert.ok(outcomes.every(({ ok }) => ok));
    assert.equal(ofKind(await world.log(ref), 'cancel.requested').length, 1);
  });

  on('a refused command writes nothing and leaves the state as it was', async (place) => {
    await using world = await openWorld(place, { perform: (_, __, ___, signal) => untilAborted(signal) });
    const ref = await world.open();
    const before = (await world.log(ref)).length;
    const again = await world.driver.deliver(ref, trivialReceive(world.clock.now()));
    assert.equal(!again.ok && again.error.code, 'ERR_STATE');
    assert.equal((await world.log(ref)).length, before);
    const unknown = { tenant: 't9', runId: 'run_unknown' } as const;
    const missing = await world.driver.deliver(unknown, { kind: 'tick', at: world.clock.now(), actor: 'supervisor' });
    assert.equal(!missing.ok && missing.error.code, 'ERR_NOT_FOUND');
    assert.equal(await world.driver.state(unknown), undefined);
    await assert.rejects(world.driver.settled(unknown), { code: 'ERR_NOT_FOUND' });
  });

  on('a run that has ended takes a late result for the record only, and refuses to be cancelled', async (place) => {
    await using world = await openWorld(place);
    const ref = await world.open();
    const state = await world.driver.settled(ref);
    const before = await world.log(ref);
    const dispatchId = state.steps.get('last')?.attempts[0]?.dispatchId ?? 'dsp_unknown';
    const todo = { kind: 'send', stepId: 'last', attempt: 1, dispatchId } as const;
    const late = trivialDeliver(state, todo, { at: world.clock.now(), ids: world.ids, text: 'other' });
    assert.ok((await world.driver.deliver(ref, late)).ok);
    const cancel = { kind: 'cancel', at: world.clock.now(), actor: 'requester@t9', reason: 'no' } as const;
    const refused = await world.driver.deliver(ref, cancel);
    assert.equal(!refused.ok && refused.error.code, 'ERR_STATE');
    assert.deepEqual(
      (await world.log(ref)).slice(before.length).map(({ kind }) => kind),
      ['result.late'],
    );
    assert.equal((await world.store.head(ref))?.result, 'completed');
  });

  on('a blocked run settles with its question and goes on when it is answered', async (place) => {
    await using world = await openWorld(place);
    const ref = { tenant: 't9', runId: world.ids.next('run') };
    await world.driver.deliver(ref, trivialReceive(world.clock.now(), true));
    const blocked = await world.driver.settled(ref);
    assert.equal(blocked.blocked?.wants, 'what');
    await world.driver.deliver(ref, trivialClarify(world.clock.now()));
    await world.driver.settled(ref);
    await assertCompleted(world, ref);
  });

  on('who waits for a run is let go by its signal', async (place) => {
    await using world = await openWorld(place, { perform: (_, __, ___, signal) => untilAborted(signal) });
    const ref = await world.open();
    const controller = new AbortController();
    const waiting = world.driver.settled(ref, controller.signal);
    controller.abort(new Error('gone home'));
    await assert.rejects(waiting, /gone home/);
    await assert.rejects(world.driver.settled(ref, controller.signal), /gone home/);
  });
}

const key = (runId: RunId, request: string): RecordWrite => ({
  table: 'idempotency',
  tenant: 't9',
  scope: 'ask',
  key: 'k-1',
  requestDigest: digestOf(request),
  runId,
});

function recordTests(on: On): void {
  on(
    'a key that another run holds refuses the command and says with which run and whether for the same',
    async (place) => {
      await using world = await openWorld(place);
      const at = world.clock.now();
      const [first, same, other] = (['run_1', 'run_2', 'run_3'] as const).map((runId) => ({ tenant: 't9', runId }));
      assert.ok(first !== undefined && same !== undefined && other !== undefined);
      assert.ok((await world.driver.deliver(first, trivialReceive(at), [key('run_1', 'x')])).ok);
      for (const [ref, request] of [
        [same, 'x'],
        [other, 'y'],
      ] as const) {
        const refused = await world.driver.deliver(ref, trivialReceive(at), [key(ref.runId, request)]);
        assert.ok(!refused.ok);
        assert.equal(refused.error.code, 'ERR_IDEMPOTENCY_KEY_REUSED');
        assert.deepEqual(refused.error.detail, { table: 'idempotency', runId: 'run_1', sameDigest: request === 'x' });
        assert.equal(refused.state, undefined);
        assert.equal(await world.store.head(ref), undefined);
      }
    },
  );

  on('a lease that was used refuses the command of an open run, whose state stays as it was', async (place) => {
    await using world = await openWorld(place, { perform: (_, __, ___, signal) => untilAborted(signal) });
    const ref = await world.open();
    const use = {
      table: 'consumption',
      tenant: 't9',
      issuer: 'issuer',
      leaseId: 'lse_x',
      useCountMax: 1,
      requestDigest: digestOf('x'),
      expiresAt: 1,
    } as const;
    await world.store.write([use]);
    const cancel = { kind: 'cancel', at: world.clock.now(), actor: 'requester@t9', reason: 'no' } as const;
    const refused = await world.driver.deliver(ref, cancel, [use]);
    assert.equal(!refused.ok && refused.error.code, 'ERR_LEASE_CONSUMED');
    assert.equal(refused.state?.phase, 'running');
    assert.equal((await world.driver.state(ref))?.cancelRequested, undefined);
    assert.ok((await world.driver.deliver(ref, cancel)).ok);
    await until(async () => ofKind(await world.log(ref), 'cancel.requested').length === 1);
  });

  on(
    'a commit that the disk refuses is told to the caller, and the run goes on from what is durable',
    async (place) => {
      let failing = false;
      await using world = await openWorld(place, {
        store: (store) => ({
          ...store,
          commit: (commit) =>
            failing
              ? Promise.reject(new CaseOpsError('ERR_STORE', 'The store has no room left.', { at: 'store' }))
              : store.commit(commit),
        }),
        prepare: (_, todo, at) => (todo.kind === 'plan' ? { command: trivialPropose(at), records: [] } : undefined),
        perform: (_, __, ___, signal) => untilAborted(signal),
      });
      const ref = await world.open();
      const cancel = { kind: 'cancel', at: world.clock.now(), actor: 'requester@t9', reason: 'no' } as const;
      failing = true;
      await assert.rejects(world.driver.deliver(ref, cancel), { code: 'ERR_STORE' });
      failing = false;
      assert.equal((await world.driver.state(ref))?.cancelRequested, undefined);
      assert.ok((await world.driver.deliver(ref, cancel)).ok);
      assert.equal((await world.driver.settled(ref)).result, 'cancelled');
      assert.equal(ofKind(await world.log(ref), 'cancel.requested').length, 1);
    },
  );
}
