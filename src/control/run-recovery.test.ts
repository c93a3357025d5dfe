import { CaseOpsError } from '#contracts/error.ts';
import { INQUIRY_GRANT } from '#testing/inquiry-case.ts';
import { INQUIRY_TEXT, inquiryWorld } from '#testing/inquiry-world.ts';
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const request = { text: INQUIRY_TEXT, language: undefined, sessionId: undefined, idempotencyKey: undefined };

test('a cancelled run asks its open tasks to stop and lists what nobody confirmed', async () => {
  for (const [answer, unresolved] of [
    ['cancelled', 0],
    ['unknown', 1],
  ] as const) {
    await using world = await inquiryWorld();
    const member = world.team('member');
    member.faults = { workMs: 60_000, cancel: answer };
    const { runId } = (await world.desk.submit(INQUIRY_GRANT, request)).view;
    await world.untilInFlight(runId, 's1');
    await world.desk.cancel(INQUIRY_GRANT, runId, 'no longer needed');
    const view = await world.settle(runId);
    assert.equal(view.result, 'cancelled');
    assert.deepEqual(member.cancelled, ['task-1']);
    const events = await world.store.events({ tenant: 't9', runId: view.runId }, 0, 500);
    const settled = events.find((event) => event.kind === 'cancel.settled');
    assert.equal(settled?.body.unresolved.length, unresolved);
    assert.equal(world.team('claims').sent.length, 0);
  }
});

test('a run whose process died goes on in the next one, each step settled once', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'caseops-control-'));
  const path = join(directory, 'central.db');
  try {
    const first = await inquiryWorld({ path, seed: 'a' });
    first.team('claims').faults.workMs = 60_000;
    const { runId } = (await first.desk.submit(INQUIRY_GRANT, request)).view;
    const before = await first.untilInFlight(runId, 's2');
    await first[Symbol.asyncDispose]();
    await using second = await inquiryWorld({
      path,
      seed: 'b',
      startMs: Date.UTC(2026, 6, 22, 14, 1, 0),
      resume: true,
    });
    const view = await second.settle(runId);
    assert.equal(view.result, 'completed', view.reason ?? '');
    const events = await second.store.events({ tenant: 't9', runId: view.runId }, 0, 500);
    const settled = events.filter(({ kind }) => kind === 'step.settled');
    assert.equal(settled.length, 4);
    assert.equal(second.team('claims').sent[0]?.leaseId, before.steps.get('s2')?.attempts[0]?.leaseId);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('runs that waited when their process died keep their place, and begin when those that worked have ended', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'caseops-control-'));
  const path = join(directory, 'central.db');
  const admission = { runsInFlightMax: 1, queueLengthMax: 8 };
  try {
    const first = await inquiryWorld({ path, seed: 'a', admission });
    first.team('member').faults.workMs = 60_000;
    const submitted = await Promise.all([1, 2, 3].map(() => first.desk.submit(INQUIRY_GRANT, request)));
    const ids = submitted.map(({ view }) => view.runId);
    await first.untilInFlight(ids[0] ?? '', 's1');
    await first[Symbol.asyncDispose]();
    const startMs = Date.UTC(2026, 6, 22, 14, 1, 0);
    await using second = await inquiryWorld({ path, seed: 'b', startMs, resume: true, admission });
    const waiting = await Promise.all(ids.map((runId) => second.state(runId)));
    assert.deepEqual(
      waiting.map(({ queuedAt }) => queuedAt !== undefined),
      [false, true, true],
    );
    const ended: string[] = [];
    for (const runId of ids) void second.driver.settled({ tenant: 't9', runId }).then(() => ended.push(runId));
    for (const runId of ids) assert.equal((await second.settle(runId)).result, 'completed');
    assert.deepEqual(ended, ids);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('after a restart a lease that the team has seen is replaced once, and the task is taken up where it is', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'caseops-control-'));
  const path = join(directory, 'central.db');
  try {
    const first = await inquiryWorld({ path, seed: 'a' });
    first.team('member').faults.workMs = 60_000;
    const { runId } = (await first.desk.submit(INQUIRY_GRANT, request)).view;
    const before = await first.untilInFlight(runId, 's1');
    const leaseId = before.steps.get('s1')?.attempts[0]?.leaseId;
    assert.ok(leaseId !== undefined);
    await first[Symbol.asyncDispose]();
    await using second = await inquiryWorld({ path, seed: 'b', startMs: Date.UTC(2026, 6, 22, 14, 1, 0) });
    second.team('member').faults = {
      consumed: new Set([leaseId]),
      // The team made the task under the first lease, and says so.
      edit: (artifact) => ({ ...artifact, binding: { ...artifact.binding, leaseId } }),
    };
    await second.driver.resume('central');
    const view = await second.settle(runId);
    assert.equal(view.result, 'completed', JSON.stringify(view.steps[0]));
    const leases = second.team('member').sent.map((sent) => sent.leaseId);
    assert.equal(leases.length, 2);
    assert.equal(leases[0], leaseId);
    assert.notEqual(await second.store.lease('t9', leases[1] ?? ''), undefined);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('an attempt that was lost after its team exchanged its lease counts the calls it may have made', async () => {
  await using world = await inquiryWorld();
  let times = 0;
  world.team('claims').faults.edit = (artifact) => {
    times += 1;
    if (times === 1) throw new CaseOpsError('ERR_TEAM_UNREACHABLE', 'The connection was lost.', { at: 'a2a' });
    return artifact;
  };
  const view = await world.ask();
  assert.equal(view.result, 'completed', view.reason ?? '');
  assert.equal(view.steps.find(({ stepId }) => stepId === 's2')?.attempts.length, 2);
  assert.equal(view.used.toolCallCount, 5);
  assert.deepEqual(view.steps.find(({ stepId }) => stepId === 's2')?.errors, []);
});
