import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TeamUpdate } from '#ports/team-transport.ts';
import { getClaim, reading } from '../../src/testing/claim-desk.ts';
import { a2aWorld } from './a2a-world.ts';

const never = new AbortController().signal;

async function collect(updates: AsyncIterable<TeamUpdate>): Promise<TeamUpdate[]> {
  const all: TeamUpdate[] = [];
  for await (const update of updates) all.push(update);
  return all;
}

for (const binding of ['HTTP+JSON', 'JSONRPC'] as const) {
  test(`${binding}: a dispatch crosses a real guard to a real team run and comes back as a bound artifact`, async () => {
    await using world = await a2aWorld({ binding });
    const announced = await world.transport.discover(never);
    assert.equal(announced.card.verifiedBy, world.keys.team.thumbprint);
    assert.equal(announced.card.audience, world.audience);
    const dispatch = world.dispatch();
    const lease = await world.work(dispatch);
    const updates = await collect(world.transport.send(dispatch, lease, never));
    assert.deepEqual(
      updates.map((update) => update.kind),
      ['started', 'artifact'],
      JSON.stringify(updates),
    );
    const artifact = updates[1]?.kind === 'artifact' ? updates[1].artifact : undefined;
    assert.equal(artifact?.binding.dispatchId, dispatch.dispatchId);
    assert.equal(artifact?.binding.leaseId, lease.leaseId);
    assert.deepEqual(artifact?.data, { status: 'pending_documents', missing: ['accident_report'] });
    assert.equal(artifact?.evidence[0]?.anchor, 'claim:C-102');
    assert.notEqual(world.toolHost.calls[0]?.lease.leaseId, lease.leaseId);
  });

  test(`${binding}: the same dispatch five times at once under one lease is one run and one tool call`, async () => {
    await using world = await a2aWorld({ binding });
    const dispatch = world.dispatch();
    const lease = await world.work(dispatch);
    const all = await Promise.all(
      Array.from({ length: 5 }, () => collect(world.transport.send(dispatch, lease, never))),
    );
    const tasks = new Set(all.map(([first]) => (first?.kind === 'started' ? first.taskId : JSON.stringify(first))));
    assert.equal(tasks.size, 1);
    for (const updates of all) assert.equal(updates.at(-1)?.kind, 'artifact');
    assert.equal(world.toolHost.calls.length, 1);
  });

  test(`${binding}: a used lease sends nothing else, and a fresh one finds the same task`, async () => {
    await using world = await a2aWorld({ binding });
    const dispatch = world.dispatch();
    const lease = await world.work(dispatch);
    const [first] = await collect(world.transport.send(dispatch, lease, never));
    const [again] = await collect(world.transport.send(dispatch, await world.work(dispatch), never));
    assert.deepEqual(again, first);
    const other = world.dispatch({ dispatchId: 'dsp_other' });
    const [refused] = await collect(world.transport.send(other, lease, never));
    assert.equal(refused?.kind === 'failed' && refused.error.code, 'ERR_LEASE_CONSUMED');
    const changed = world.dispatch({ language: 'ja', deadlineAt: dispatch.deadlineAt });
    const [conflict] = await collect(world.transport.send(changed, await world.work(changed), never));
    assert.equal(conflict?.kind === 'failed' && conflict.error.code, 'ERR_IDEMPOTENCY_KEY_REUSED');
  });

  test(`${binding}: a cancelled task tells that it was cancelled`, async () => {
    await using world = await a2aWorld({
      binding,
      run: async (input, context) => {
        await new Promise((resolve) => context.signal.addEventListener('abort', resolve, { once: true }));
        return reading(input, context);
      },
    });
    const dispatch = world.dispatch();
    const updates = world.transport.send(dispatch, await world.work(dispatch), never)[Symbol.asyncIterator]();
    const started = (await updates.next()).value as TeamUpdate;
    assert.equal(started.kind, 'started');
    const taskId = started.kind === 'started' ? started.taskId : '';
    const answer = await world.transport.cancel(taskId, world.control('task:cancel', taskId, dispatch), never);
    assert.ok(answer === 'cancelled' || answer === 'unknown', answer);
    const last = (await updates.next()).value as TeamUpdate;
    assert.equal(last.kind === 'failed' && last.error.code, 'ERR_CANCELLED');
    const late = await world.transport.cancel(taskId, world.control('task:cancel', taskId, dispatch), never);
    assert.equal(late, 'not_cancelable');
  });

  test(`${binding}: a worker whose tool breaks its contract fails the task with that code`, async () => {
    await using world = await a2aWorld({
      binding,
      records: [{ id: 'C-102', tenant: 't9', observedAt: '2026-07-22T14:11:09Z', data: { status: 'x', missing: [] } }],
      run: async (input, context) => {
        const [claim] = await context.call(getClaim, input);
        assert.ok(claim);
        return { status: 'completed', data: claim.record, evidence: [claim.evidence] };
      },
    });
    const dispatch = world.dispatch();
    const updates = await collect(world.transport.send(dispatch, await world.work(dispatch), never));
    const last = updates.at(-1);
    assert.equal(last?.kind === 'failed' && last.error.code, 'ERR_TOOL_OUTPUT_VERSION', JSON.stringify(updates));
  });

  test(`${binding}: a stream that dies in the middle is followed to its artifact under control leases`, async () => {
    let streams = 0;
    await using world = await a2aWorld({
      binding,
      run: async (input, context) => {
        await new Promise((resolve) => setTimeout(resolve, 100));
        return reading(input, context);
      },
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
        return isStream && streams++ === 0 ? new Response(afterFirstChunk(response), response) : response;
      },
    });
    const dispatch = world.dispatch();
    const updates = await collect(world.transport.send(dispatch, await world.work(dispatch), never));
    assert.deepEqual(
      updates.map((update) => update.kind),
      ['started', 'artifact'],
    );
    assert.ok(streams >= 1);
  });
}

/** The first bytes of a stream, then a connection that dies. */
function afterFirstChunk(response: Response): ReadableStream<Uint8Array> {
  assert.ok(response.body);
  const reader = response.body.getReader();
  return new ReadableStream({
    async pull(controller) {
      const { value } = await reader.read();
      if (value !== undefined) controller.enqueue(value);
      await new Promise((resolve) => setTimeout(resolve, 5));
      await reader.cancel();
      controller.error(new TypeError('terminated'));
    },
  });
}
