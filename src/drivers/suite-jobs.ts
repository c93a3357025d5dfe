/** The driver suite's part about jobs and time: tries, reports, signals, wakes. */
import assert from 'node:assert/strict';
import { CaseOpsError, toErrorRecord } from '#contracts/error.ts';
import { trivialDispatch, trivialPropose, trivialReceive } from '#testing/trivial-run.ts';
import { assertCompleted, type DriverSubject, ofKind, openWorld, until, untilAborted } from './suite-world.ts';

type On = (title: string, body: (place: DriverSubject) => Promise<void>) => void;

const unreachable = (): CaseOpsError =>
  new CaseOpsError('ERR_TEAM_UNREACHABLE', 'The team did not answer.', { at: 'a2a' });

/** Registers the tests under the suite's name. */
export function jobSuite(on: On): void {
  tryTests(on);
  timeTests(on);
  stopTests(on);
}

function tryTests(on: On): void {
  on('a job that throws is tried again under the same dispatch, after a while', async (place) => {
    let failCount = 2;
    await using world = await openWorld(place, {
      perform: async (own, { ref, todo }, state) => {
        assert.ok(todo.kind === 'send');
        if (todo.stepId === 'first' && failCount-- > 0) throw unreachable();
        await own.finish(ref, todo, state);
      },
    });
    const ref = await world.open();
    await until(() => world.errors.length === 1);
    await world.clock.advance(1_000);
    await world.driver.settled(ref);
    await assertCompleted(world, ref);
    assert.deepEqual(world.performed.slice(0, 3), ['send:first:1', 'send:first:1', 'send:first:1']);
    assert.deepEqual(
      world.errors.map(({ code }) => code),
      ['ERR_TEAM_UNREACHABLE', 'ERR_TEAM_UNREACHABLE'],
    );
  });

  on('a job that keeps throwing fails its attempt with what was thrown; the step is attempted again', async (place) => {
    let failCount = 4;
    await using world = await openWorld(place, {
      perform: async (own, { ref, todo }, state) => {
        assert.ok(todo.kind === 'send');
        if (failCount-- > 0) throw unreachable();
        await own.finish(ref, todo, state);
      },
    });
    const ref = await world.open();
    for (let round = 0; round < 20; round++) await world.clock.advance(200);
    await world.driver.settled(ref);
    await assertCompleted(world, ref);
    const [failed] = ofKind(await world.log(ref), 'step.attempt_failed');
    assert.equal(failed?.body.error.code, 'ERR_TEAM_UNREACHABLE');
    assert.equal(failed?.body.attempt, 1);
    assert.equal(world.performed.filter((jobId) => jobId === 'send:first:1').length, 4);
    assert.ok(world.performed.includes('send:first:2'));
  });

  on('a failure that is no use to repeat is reported at once, without its text when it is unknown', async (place) => {
    await using world = await openWorld(place, {
      perform: async () => {
        throw new CaseOpsError('ERR_POLICY', 'Policy p-1 forbids it.', { at: 'issuer' });
      },
    });
    const ref = await world.open();
    const state = await world.driver.settled(ref);
    assert.equal(state.result, 'failed');
    assert.deepEqual(world.performed, ['send:first:1']);
    assert.equal(ofKind(await world.log(ref), 'step.attempt_failed')[0]?.body.error.code, 'ERR_POLICY');
  });

  on('a job that ends without a report counts as failed', async (place) => {
    await using world = await openWorld(place, { perform: async () => undefined });
    const ref = await world.open();
    for (let round = 0; round < 40; round++) await world.clock.advance(200);
    assert.equal((await world.driver.settled(ref)).result, 'failed');
    const [failed] = ofKind(await world.log(ref), 'step.attempt_failed');
    assert.match(failed?.body.error.message ?? '', /ended without a report/);
  });

  on('a run that nobody can plan ends as failed and says why', async (place) => {
    await using world = await openWorld(place, {
      prepare: () => undefined,
      perform: async () => {
        throw new CaseOpsError('ERR_MODEL', 'The model is not configured.', { at: 'model', retryable: false });
      },
    });
    const ref = await world.open();
    const state = await world.driver.settled(ref);
    assert.equal(state.result, 'failed');
    assert.match(state.endedReason ?? '', /No plan could be made: The model is not configured/);
  });

  on('a job is performed once at a time, whatever else the run is told meanwhile', async (place) => {
    await using world = await openWorld(place, { perform: (_, __, ___, signal) => untilAborted(signal) });
    const ref = await world.open();
    for (let count = 0; count < 5; count++)
      await world.driver.deliver(ref, { kind: 'tick', at: world.clock.now(), actor: 'supervisor' });
    assert.deepEqual(world.performed, ['send:first:1']);
    assert.deepEqual(
      (await world.store.jobs(ref)).map(({ jobId }) => jobId),
      ['send:first:1'],
    );
  });

  on('what could not be prepared is tried again after a while', async (place) => {
    let failCount = 1;
    await using world = await openWorld(place, {
      prepare: ({ ref }, todo, at) => {
        if (todo.kind === 'plan') return { command: trivialPropose(at), records: [] };
        if (todo.kind !== 'dispatch') return undefined;
        if (failCount-- > 0) throw new CaseOpsError('ERR_ISSUER_UNREACHABLE', 'No lease was minted.', { at: 'issuer' });
        return trivialDispatch(ref, todo, { at, ids: world.ids });
      },
    });
    const ref = await world.open();
    assert.equal(ofKind(await world.log(ref), 'step.dispatched').length, 0);
    assert.equal(world.errors[0]?.code, 'ERR_ISSUER_UNREACHABLE');
    await world.clock.advance(1_000);
    await world.driver.settled(ref);
    await assertCompleted(world, ref);
  });
}

function timeTests(on: On): void {
  on('an attempt that is not over by its deadline fails by the clock, and its job is told', async (place) => {
    const told: string[] = [];
    await using world = await openWorld(place, {
      perform: async (_, { jobId }, __, signal) => {
        await untilAborted(signal);
        told.push(jobId);
      },
    });
    const ref = await world.open();
    await world.clock.advance(1_999);
    assert.equal(ofKind(await world.log(ref), 'step.attempt_failed').length, 0);
    await world.clock.advance(1);
    assert.equal((await world.driver.settled(ref)).result, 'failed');
    await until(() => told.length === 1);
    assert.equal(ofKind(await world.log(ref), 'step.attempt_failed')[0]?.body.error.code, 'ERR_DEADLINE');
  });

  on('an attempt that fails for now is made again when its backoff is over, by the clock', async (place) => {
    await using world = await openWorld(place, {
      perform: async (own, { ref, jobId, todo }, state) => {
        assert.ok(todo.kind === 'send');
        if (jobId !== 'send:a:1') return own.finish(ref, todo, state);
        const { stepId, attempt, dispatchId } = todo;
        const usage = { modelTokenCount: 0, toolCallCount: 0, durationMs: 1 };
        const error = toErrorRecord(unreachable(), { code: 'ERR_TEAM_FAILED', at: 'a2a' });
        const at = { at: own.clock.now(), actor: 'claims', stepId, attempt, dispatchId, planVersion: 1 };
        await own.driver.deliver(ref, { kind: 'fail', ...at, error, usage });
      },
    });
    const ref = await world.open();
    await until(async () => ofKind(await world.log(ref), 'step.attempt_failed').length === 1);
    await world.clock.advance(99);
    assert.equal((await world.driver.state(ref))?.phase, 'running');
    assert.ok(!world.performed.includes('send:a:2'));
    await world.clock.advance(1);
    await world.driver.settled(ref);
    await assertCompleted(world, ref);
    assert.ok(world.performed.includes('send:a:2'));
  });

  on('a run is over at its deadline, whatever still works', async (place) => {
    await using world = await openWorld(place, {
      prepare: () => undefined,
      perform: (_, __, ___, s) => untilAborted(s),
    });
    const ref = await world.open();
    await world.clock.advance(60_000);
    const state = await world.driver.settled(ref);
    assert.equal(state.result, 'failed');
    assert.match(state.endedReason ?? '', /deadline/);
  });

  on('a wake that finds nothing to do does not call itself without end', async (place) => {
    await using world = await openWorld(place, {
      prepare: () => undefined,
      perform: (_, __, ___, s) => untilAborted(s),
    });
    await world.open();
    // A clock set back: the timer is called, and nothing is due yet.
    world.clock.jump(61_000);
    const armed = world.clock.armedCount;
    world.clock.jump(-61_000);
    await world.clock.advance(5_000);
    assert.ok(world.clock.armedCount <= armed + 1);
  });
}

function stopTests(on: On): void {
  on('cancelling aborts what is out and asks its task to stop; the run ends when that is confirmed', async (place) => {
    await using world = await openWorld(place, {
      perform: async (own, { ref, todo }, _, signal) => {
        if (todo.kind === 'cancelTask')
          await own.driver.deliver(ref, { kind: 'settleCancel', at: own.clock.now(), actor: 'claims', unresolved: [] });
        else await untilAborted(signal);
      },
    });
    const ref = await world.open();
    await world.driver.deliver(ref, { kind: 'cancel', at: world.clock.now(), actor: 'requester@t9', reason: 'no' });
    assert.equal((await world.driver.settled(ref)).result, 'cancelled');
    assert.deepEqual(world.performed, ['send:first:1', 'cancelTask:first:1']);
  });

  on('draining tells running jobs, takes their last word, and refuses new runs', async (place) => {
    await using world = await openWorld(place, {
      perform: async (own, { ref, todo }, state, signal) => {
        await untilAborted(signal);
        if (todo.kind === 'send') await own.finish(ref, todo, state);
      },
    });
    const ref = await world.open();
    await until(() => world.performed.length === 1);
    const waiting = assert.rejects(world.driver.settled(ref), { code: 'ERR_CANCELLED' });
    const drained = world.driver.drain();
    const late = await world.driver.deliver({ ...ref, runId: 'run_late' }, trivialReceive(world.clock.now()));
    assert.equal(!late.ok && late.error.code, 'ERR_CANCELLED');
    await drained;
    await waiting;
    assert.equal(ofKind(await world.log(ref), 'step.settled').length, 1);
    assert.equal(world.clock.armedCount, 0);
    const after = await world.driver.deliver(ref, { kind: 'tick', at: world.clock.now(), actor: 'supervisor' });
    assert.equal(!after.ok && after.error.code, 'ERR_CANCELLED');
  });
}
