import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { artifact as artifactSchema } from '#contracts/artifact.ts';
import type { RunRef } from '#contracts/command.ts';
import { runEvent } from '#contracts/event.ts';
import { runId } from '#contracts/ids.ts';
import { verifyChain } from '#kernel/chain.ts';
import { digestOf } from '#kernel/digest.ts';
import type { SubmitOutcome, TaskUpdate, TaskView } from '#ports/team-door.ts';
import type { Store } from '#ports/store.ts';
import { dispatched, NOW, pending, reading, type Run } from '#testing/claim-desk.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { DESK_CALLER, teamWorld } from '#testing/team-world.ts';

type World = ReturnType<typeof teamWorld>;

function taskOf(outcome: SubmitOutcome): TaskView {
  assert(outcome.ok, outcome.ok ? '' : outcome.error.message);
  return outcome.task;
}

function refOf({ taskId }: TaskView): RunRef {
  return { tenant: 't9', runId: runId.parse(taskId) };
}

/** The task once its run has ended. */
async function settled({ driver, door }: World, task: TaskView): Promise<TaskView> {
  await driver.settled(refOf(task));
  const view = await door.task(DESK_CALLER, task.taskId);
  assert(view !== undefined);
  return view;
}

async function eventsOf(store: Store, task: TaskView) {
  return store.events(refOf(task), 0, 1_000);
}

/** A worker that waits until it is told to go on, and then reads. */
function gated(): { readonly run: Run; readonly entered: Promise<void>; readonly open: () => void } {
  const entered = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  return {
    entered: entered.promise,
    open: () => gate.resolve(),
    run: async (input, context) => {
      entered.resolve();
      await gate.promise;
      return reading(input, context);
    },
  };
}

test('a dispatch becomes a run whose artifact answers exactly that dispatch', async () => {
  await using world = teamWorld();
  const submission = world.submission();
  const view = await settled(world, taskOf(await world.door.submit(submission)));
  assert.deepEqual([view.phase, view.result, view.error], ['ended', 'completed', undefined]);
  const [artifact] = view.artifacts;
  assert(artifact !== undefined && artifactSchema.safeParse(artifact).success);
  assert.deepEqual(artifact.binding, {
    dispatchId: 'dsp_central',
    stepId: 's2',
    planVersion: 1,
    attempt: 1,
    taskId: view.taskId,
    contextId: view.contextId,
    leaseId: submission.lease.lease.jti,
  });
  assert.deepEqual(artifact.data, pending.data);
  const { contentDigest, ...rest } = artifact;
  assert.equal(contentDigest, digestOf(rest));
  assert.deepEqual([view.run, view.step, view.attempt, view.planDigest], ['run_central', 's2', 1, digestOf('plan')]);
});

test('the log of a team run is a verifiable chain of published events and holds no token', async () => {
  await using world = teamWorld();
  const submission = world.submission();
  const view = await settled(world, taskOf(await world.door.submit(submission)));
  const events = await eventsOf(world.store, view);
  assert.deepEqual(
    events.map(({ kind }) => kind),
    [
      'run.received',
      'goal.frozen',
      'plan.proposed',
      'plan.accepted',
      'budget.reserved',
      'step.dispatched',
      'step.started',
      'artifact.received',
      'artifact.accepted',
      'budget.settled',
      'step.settled',
      'run.ended',
    ],
  );
  for (const event of events) assert.ok(runEvent.safeParse(event).success, event.kind);
  assert.ok(verifyChain({ ref: refOf(view), seq: 0, hash: '' }, events).ok);
  assert.doesNotMatch(JSON.stringify(events), new RegExp(submission.lease.token, 'u'));
});

test('the first six events are one transaction with the use of the lease', async () => {
  const hold = gated();
  await using world = teamWorld({ run: hold.run });
  const commits: number[] = [];
  world.store.onCommit((events) => void commits.push(events.length));
  const submission = world.submission();
  const task = taskOf(await world.door.submit(submission));
  assert.deepEqual(commits, [6]);
  const { tenant, iss, jti } = submission.lease.lease;
  assert.equal((await world.store.consumption(tenant, iss, jti)).length, 1);
  hold.open();
  await settled(world, task);
  assert.deepEqual(commits, [6, 6]);
});

test('an input that no goal entity can hold reaches the worker whole, and the plan commits to its digest', async () => {
  let seen: unknown;
  await using world = teamWorld({
    run: async (input, context) => {
      seen = input;
      return reading(input, context);
    },
  });
  const task = await settled(world, taskOf(await world.door.submit(world.submission())));
  assert.deepEqual(seen, { claim_id: 'C-102' });
  const state = await world.driver.state(refOf(task));
  assert.equal(state?.goal?.entities['input_digest'], digestOf({ claim_id: 'C-102' }));
  assert.equal(state?.goal?.budget.toolCallCountMax, 3);
  assert.deepEqual(state?.goal?.prohibitedActions, ['notify:send']);
});

test('the same message twice is one run, and one worker run', async () => {
  await using world = teamWorld();
  const submission = world.submission();
  const [first, second] = await Promise.all([world.door.submit(submission), world.door.submit(submission)]);
  assert.equal(taskOf(first).taskId, taskOf(second).taskId);
  await settled(world, taskOf(first));
  const third = taskOf(await world.door.submit(submission));
  assert.equal(third.taskId, taskOf(first).taskId);
  assert.equal(third.result, 'completed');
  assert.equal(world.toolHost.calls.length, 1);
  assert.equal((await world.store.runs({ level: 'team', limit: 10 })).length, 1);
});

test('another payload under the same message id is a conflict', async () => {
  await using world = teamWorld();
  await settled(world, taskOf(await world.door.submit(world.submission())));
  const other = world.submission({ language: 'ja' });
  const outcome = await world.door.submit(other);
  assert(!outcome.ok);
  assert.deepEqual([outcome.reason, outcome.error.code], ['conflict', 'ERR_IDEMPOTENCY_KEY_REUSED']);
});

test('a lease that was used for one message opens no second run', async () => {
  await using world = teamWorld();
  const first = world.submission();
  taskOf(await world.door.submit(first));
  const reused = { ...world.submission({}, { messageId: 'another', lease: first.lease }) };
  const outcome = await world.door.submit({
    ...reused,
    consumption: { ...world.authority.consumption({ ...first.lease, requestDigest: digestOf('other bytes') }) },
  });
  assert(!outcome.ok);
  assert.deepEqual([outcome.reason, outcome.error.code], ['lease_consumed', 'ERR_LEASE_CONSUMED']);
  assert.equal((await world.store.runs({ level: 'team', limit: 10 })).length, 1);
});

test('the same caller, message and payload of another person is another task', async () => {
  await using world = teamWorld();
  const own = taskOf(await world.door.submit(world.submission()));
  const caller = { ...DESK_CALLER, subject: 'colleague@t9' };
  const other = taskOf(await world.door.submit(world.submission({ subject: 'colleague@t9' }, { caller })));
  assert.notEqual(own.taskId, other.taskId);
  assert.equal(await world.door.task(caller, own.taskId), undefined);
  assert.equal(await world.door.cancel(caller, own.taskId, 'not mine'), 'not_found');
});

const refusals: readonly (readonly [what: string, changed: Parameters<World['submission']>[0], code: string])[] = [
  ['an unknown skill', { skillId: 'pay-claim' }, 'ERR_NOT_FOUND'],
  ['another version of the skill', { skillVersion: '2.0.0' }, 'ERR_NOT_FOUND'],
  ['an action that the goal prohibits', { forbiddenActions: ['claims:write'] }, 'ERR_POLICY'],
  ['an action that the skill does not have', { actions: ['claims:read', 'claims:delete'] }, 'ERR_POLICY'],
  ['a purpose that the skill does not serve', { purpose: 'marketing' }, 'ERR_POLICY'],
  ['an input that is not the one of its digest', { inputDigest: digestOf('else') }, 'ERR_SCHEMA'],
  ['an input that does not conform', { input: { claim: 1 }, inputDigest: digestOf({ claim: 1 }) }, 'ERR_SCHEMA'],
  ['a resource that its input does not name', { resources: ['claim:C-102', 'claim:C-201'] }, 'ERR_POLICY'],
  ['a deadline that has passed', { deadlineAt: NOW }, 'ERR_DEADLINE'],
  ['another team', { team: 'member' }, 'ERR_LEASE'],
];
for (const [what, changed, code] of refusals)
  test(`${what} is refused with ${code}, and there is no run`, async () => {
    await using world = teamWorld();
    const outcome = await world.door.submit(world.submission(changed));
    assert(!outcome.ok);
    assert.deepEqual([outcome.reason, outcome.error.code], ['refused', code]);
    assert.deepEqual(await world.store.runs({ limit: 10 }), []);
  });

test('a dispatch that asks for more than its lease holds is refused', async () => {
  await using world = teamWorld();
  const narrow = world.submission({ actions: ['claims:read'] });
  const outcome = await world.door.submit(world.submission({}, { lease: narrow.lease }));
  assert(!outcome.ok);
  assert.equal(outcome.error.code, 'ERR_LEASE');
});

test('a skill that is published without a worker is refused', async () => {
  await using world = teamWorld();
  const [skill] = world.team.skills;
  assert(skill !== undefined);
  const unavailable = { ...world.team, workers: [], skills: [{ ...skill, available: false }] };
  const { admit } = await import('./admission.ts');
  const admission = admit(unavailable, world.submission(), Date.parse(NOW));
  assert(!admission.ok);
  assert.equal(admission.error.code, 'ERR_POLICY');
});

test('a malformed record is in no event, no artifact and no state of the run', async () => {
  const secret = 'a value of another tenant';
  await using world = teamWorld({ records: [{ ...pending, tenant: 't8', data: { ...pending.data, status: secret } }] });
  const view = await settled(world, taskOf(await world.door.submit(world.submission())));
  assert.deepEqual([view.result, view.error?.code, view.artifacts.length], ['failed', 'ERR_TOOL_OUTPUT_TENANT', 0]);
  const state = await world.driver.state(refOf(view));
  assert.equal(state?.evidence.size, 0);
  assert.doesNotMatch(JSON.stringify(await eventsOf(world.store, view)), new RegExp(secret, 'u'));
});

test('nothing found is a task that ends as no_data with an artifact that says so', async () => {
  await using world = teamWorld({ records: [] });
  const view = await settled(world, taskOf(await world.door.submit(world.submission())));
  assert.equal(view.result, 'no_data');
  assert.deepEqual(
    view.artifacts.map(({ status, missing }) => [status, missing]),
    [['no_data', ['claim']]],
  );
});

test('cancelling stops the worker, and nothing lands after the terminal state', async () => {
  const hold = gated();
  await using world = teamWorld({ run: hold.run });
  const task = taskOf(await world.door.submit(world.submission()));
  await hold.entered;
  assert.equal(await world.door.cancel(DESK_CALLER, task.taskId, 'no longer wanted'), 'accepted');
  const view = await settled(world, task);
  assert.deepEqual([view.result, view.error?.code, view.artifacts.length], ['cancelled', 'ERR_CANCELLED', 0]);
  const { lastSeq } = view;
  hold.open();
  await world.clock.advance(10_000);
  const events = await eventsOf(world.store, view);
  assert.deepEqual([events.at(-1)?.kind, events.length], ['run.ended', lastSeq]);
  assert.equal(world.toolHost.calls.length, 0);
  assert.equal(await world.door.cancel(DESK_CALLER, task.taskId, 'again'), 'not_cancelable');
});

test('a worker that takes too long ends with its deadline', async () => {
  const hold = gated();
  await using world = teamWorld({ run: hold.run });
  const task = taskOf(await world.door.submit(world.submission()));
  await hold.entered;
  await world.clock.advance(3_000);
  const view = await settled(world, task);
  assert.deepEqual([view.result, view.error?.code], ['failed', 'ERR_DEADLINE']);
  hold.open();
});

test('updates are numbered by events, and a stream resumed anywhere gives the rest', async () => {
  const hold = gated();
  await using world = teamWorld({ run: hold.run });
  const task = taskOf(await world.door.submit(world.submission()));
  const live: TaskUpdate[] = [];
  const { signal } = new AbortController();
  const following = (async () => {
    for await (const update of world.door.follow(DESK_CALLER, task.taskId, 0, signal)) live.push(update);
  })();
  await hold.entered;
  hold.open();
  await following;
  assert.deepEqual(
    live.map((update) => [update.seq, update.kind === 'status' ? update.phase : update.kind]),
    [
      [1, 'received'],
      [4, 'planned'],
      [6, 'running'],
      [11, 'artifact'],
      [12, 'ended'],
    ],
  );
  const resumed: TaskUpdate[] = [];
  for await (const update of world.door.follow(DESK_CALLER, task.taskId, 6, signal)) resumed.push(update);
  assert.deepEqual(resumed, live.slice(3));
  const none: TaskUpdate[] = [];
  for await (const update of world.door.follow(DESK_CALLER, task.taskId, 12, signal)) none.push(update);
  assert.equal(none.length, 0);
  const caller = { ...DESK_CALLER, workload: 'spiffe://caseops.example/other' };
  for await (const update of world.door.follow(caller, task.taskId, 0, signal)) none.push(update);
  assert.equal(none.length, 0);
});

test('following ends when its reader leaves, and leaves no timer', async () => {
  const hold = gated();
  await using world = teamWorld({ run: hold.run });
  const task = taskOf(await world.door.submit(world.submission()));
  await hold.entered;
  const armedCount = world.clock.armedCount;
  const leave = new AbortController();
  for await (const update of world.door.follow(DESK_CALLER, task.taskId, 0, leave.signal))
    if (update.kind === 'status' && update.phase === 'running') leave.abort();
  assert.equal(world.clock.armedCount, armedCount);
  hold.open();
});

test('a list has only the caller’s own tasks, newest first, in pages', async () => {
  await using world = teamWorld();
  const ids: string[] = [];
  for (const messageId of ['m1', 'm2', 'm3']) {
    const task = taskOf(await world.door.submit(world.submission({}, { messageId, contextId: `ctx-of-${messageId}` })));
    ids.unshift(task.taskId);
    await settled(world, task);
  }
  const all = { contextId: undefined, where: () => true, taskCountMax: 2, after: undefined };
  const first = await world.door.tasks(DESK_CALLER, all);
  assert.deepEqual([first.tasks.map(({ taskId }) => taskId), first.totalCount], [ids.slice(0, 2), 3]);
  const second = await world.door.tasks(DESK_CALLER, { ...all, after: first.next });
  assert.deepEqual([second.tasks.map(({ taskId }) => taskId), second.next], [ids.slice(2), undefined]);
  const one = await world.door.tasks(DESK_CALLER, { ...all, contextId: 'ctx-of-m2' });
  assert.deepEqual(
    one.tasks.map(({ contextId }) => contextId),
    ['ctx-of-m2'],
  );
  assert.equal((await world.door.tasks({ ...DESK_CALLER, tenant: 't8' }, all)).totalCount, 0);
});

test('after a restart an open run waits for a fresh lease, and goes on under it', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'team-'));
  const path = join(directory, 'team.sqlite');
  const clock = seededClock(Date.parse(NOW));
  const hold = gated();
  let task: TaskView;
  {
    await using first = teamWorld({ path, clock, run: hold.run });
    task = taskOf(await first.door.submit(first.submission()));
    await hold.entered;
  }
  await using second = teamWorld({ path, clock, seed: 2 });
  assert.equal(await second.driver.resume('team'), 1);
  await clock.advance(100);
  assert.equal(second.toolHost.calls.length, 0, 'there is no lease to call a tool with');
  const again = second.submission();
  assert.equal(taskOf(await second.door.submit(again)).taskId, task.taskId);
  const view = await settled(second, task);
  assert.equal(view.result, 'completed');
  assert.deepEqual(
    second.authority.exchanged.map(({ parent }) => parent.leaseId),
    [again.lease.lease.jti],
  );
  assert.equal(dispatched().dispatchId, view.artifacts[0]?.binding.dispatchId);
  rmSync(directory, { recursive: true });
});

test('a run that nobody authorises again ends with its deadline', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'team-'));
  const path = join(directory, 'team.sqlite');
  const clock = seededClock(Date.parse(NOW));
  const hold = gated();
  let task: TaskView;
  {
    await using first = teamWorld({ path, clock, run: hold.run });
    task = taskOf(await first.door.submit(first.submission()));
    await hold.entered;
  }
  await using second = teamWorld({ path, clock, seed: 2 });
  await second.driver.resume('team');
  await clock.advance(4_000);
  const view = await settled(second, task);
  assert.deepEqual([view.result, view.error?.code], ['failed', 'ERR_DEADLINE']);
  rmSync(directory, { recursive: true });
});
