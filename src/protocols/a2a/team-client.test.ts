import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Dispatch } from '#contracts/dispatch.ts';
import type { HeldLease } from '#ports/issuer.ts';
import type { TeamTransport, TeamUpdate } from '#ports/team-transport.ts';
import { ISSUED_AT, plainControlClaims, plainLease, plainWorkClaims } from '#testing/plain-guard.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { serveFixture, type ServedFixture } from '#testing/served-team.ts';
import { fixtureDispatch } from '#testing/team-fixtures.ts';
import { CARD_PATH } from './card-endpoint.ts';
import { type A2aTransportOptions, type ControlWanted, createA2aTransport } from './team-client.ts';
import type { Binding } from './wire-error.ts';

const BINDINGS = ['HTTP+JSON', 'JSONRPC'] as const satisfies readonly Binding[];
const never = new AbortController().signal;
const tickingClock = (): A2aTransportOptions['clock'] => {
  const still = seededClock(ISSUED_AT * 1_000 + 1_000);
  return { ...still, sleep: async (ms) => void (await Promise.all([still.advance(ms), still.sleep(ms)])) };
};

let controlCount = 0;
function transportTo(
  fixture: ServedFixture,
  binding: Binding,
  over: Partial<A2aTransportOptions> = {},
): TeamTransport & { readonly wanted: ControlWanted[] } {
  const wanted: ControlWanted[] = [];
  const transport = createA2aTransport({
    team: 'claims',
    cardUrl: fixture.server.url + CARD_PATH,
    verifyCard: () => ({ ok: true, thumbprint: 'pinned' }),
    binding,
    clock: tickingClock(),
    controlLease: async (asked) => {
      wanted.push(asked);
      const jti = `lse_ctl${(controlCount += 1)}`;
      const { sub, tenant } = { sub: asked.dispatch.subject, tenant: asked.dispatch.tenant };
      const { runId: run, stepId: step, attempt } = asked.dispatch;
      const task = { run, step, attempt, task_id: asked.taskId };
      return plainLease(plainControlClaims(asked.audience, { ...asked, jti }, { sub, tenant, task }));
    },
    fetch,
    ...over,
  });
  return { ...transport, wanted };
}

function leaseTo(fixture: ServedFixture, binding: Binding, dispatch: Dispatch): HeldLease {
  const audience = binding === 'HTTP+JSON' ? fixture.audiences.rest : fixture.audiences.rpc;
  return plainLease(plainWorkClaims(audience, dispatch));
}

function stepwise(updates: AsyncIterable<TeamUpdate>): AsyncIterator<TeamUpdate> {
  return updates[Symbol.asyncIterator]();
}

async function collect(updates: AsyncIterable<TeamUpdate>): Promise<TeamUpdate[]> {
  const all: TeamUpdate[] = [];
  for await (const update of updates) all.push(update);
  return all;
}

for (const binding of BINDINGS) {
  test(`${binding}: a dispatch is started, delivers its artifact as it lands, and ends`, async () => {
    await using fixture = await serveFixture(seededClock(ISSUED_AT * 1_000));
    const transport = transportTo(fixture, binding);
    const announced = await transport.discover(never);
    assert.equal(announced.card.verifiedBy, 'pinned');
    assert.equal(announced.skills[0]?.skillId, 'claim-status');
    const dispatch = fixtureDispatch();
    const updates = stepwise(transport.send(dispatch, leaseTo(fixture, binding, dispatch), never));
    assert.deepEqual((await updates.next()).value, { kind: 'started', taskId: 'tsk_1', contextId: 'ctx_1' });
    fixture.door.opened[0]?.status('running');
    fixture.door.opened[0]?.deliver();
    const second = (await updates.next()).value as TeamUpdate;
    assert.equal(second.kind, 'artifact');
    assert.equal(second.kind === 'artifact' && second.artifact.binding.taskId, 'tsk_1');
    fixture.door.opened[0]?.end('completed');
    assert.equal((await updates.next()).done, true);
    assert.equal(transport.wanted.length, 0);
  });

  test(`${binding}: five sends of one dispatch at once are one task`, async () => {
    await using fixture = await serveFixture(seededClock(ISSUED_AT * 1_000));
    fixture.door.onOpen = (task) => {
      task.deliver();
      task.end('completed');
    };
    const transport = transportTo(fixture, binding);
    const dispatch = fixtureDispatch();
    const lease = leaseTo(fixture, binding, dispatch);
    const all = await Promise.all(Array.from({ length: 5 }, () => collect(transport.send(dispatch, lease, never))));
    assert.equal(fixture.door.opened.length, 1);
    for (const updates of all)
      assert.deepEqual(
        updates.map((update) => update.kind),
        ['started', 'artifact'],
      );
  });

  test(`${binding}: another payload under the same message id is a conflict`, async () => {
    await using fixture = await serveFixture(seededClock(ISSUED_AT * 1_000));
    fixture.door.onOpen = (task) => {
      task.deliver();
      task.end('completed');
    };
    const transport = transportTo(fixture, binding);
    const first = fixtureDispatch();
    await collect(transport.send(first, leaseTo(fixture, binding, first), never));
    const other = fixtureDispatch({ input: { claim_id: 'C-102', again: true } });
    const updates = await collect(transport.send(other, leaseTo(fixture, binding, other), never));
    assert.equal(updates.length, 1);
    assert.equal(updates[0]?.kind === 'failed' && updates[0].error.code, 'ERR_IDEMPOTENCY_KEY_REUSED');
  });

  test(`${binding}: a lease without the action is refused with code and boundary`, async () => {
    await using fixture = await serveFixture(seededClock(ISSUED_AT * 1_000));
    const transport = transportTo(fixture, binding);
    const dispatch = fixtureDispatch({ actions: ['claims:write'] });
    const narrow = leaseTo(fixture, binding, fixtureDispatch());
    const [update] = await collect(transport.send(dispatch, narrow, never));
    assert.ok(update?.kind === 'failed');
    assert.equal(update.error.code, 'ERR_DENIED');
    assert.equal(update.error.detail?.['code'], 'action');
    assert.equal(update.error.detail?.['boundary'], 'a2a');
    assert.equal(fixture.door.opened.length, 0);
  });

  test(`${binding}: a failed task tells the error of the team`, async () => {
    await using fixture = await serveFixture(seededClock(ISSUED_AT * 1_000));
    const error = {
      code: 'ERR_TOOL_OUTPUT_SCHEMA',
      kind: 'contract',
      message: 'A field is missing.',
      at: 'worker',
      retryable: false,
    } as const;
    fixture.door.onOpen = (task) => task.end('failed', error);
    const transport = transportTo(fixture, binding);
    const dispatch = fixtureDispatch();
    const updates = await collect(transport.send(dispatch, leaseTo(fixture, binding, dispatch), never));
    assert.deepEqual(updates.at(-1), { kind: 'failed', error });
  });

  test(`${binding}: a stream that breaks is followed up by GetTask and a subscription under control leases`, async () => {
    await using fixture = await serveFixture(seededClock(ISSUED_AT * 1_000));
    const cut: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
      return isStream && cuts++ === 0 ? new Response(afterFirstEvent(response), response) : response;
    };
    let cuts = 0;
    const transport = transportTo(fixture, binding, { fetch: cut });
    const dispatch = fixtureDispatch();
    const updates = stepwise(transport.send(dispatch, leaseTo(fixture, binding, dispatch), never));
    assert.equal(((await updates.next()).value as TeamUpdate).kind, 'started');
    const next = updates.next();
    await until(() => fixture.door.followerCount > 0 && transport.wanted.length === 2);
    fixture.door.opened[0]?.deliver();
    fixture.door.opened[0]?.end('completed');
    assert.equal(((await next).value as TeamUpdate).kind, 'artifact');
    assert.equal((await updates.next()).done, true);
    assert.deepEqual(
      transport.wanted.map((asked) => asked.action),
      ['task:read', 'task:subscribe'],
    );
  });

  test(`${binding}: sixty callers at once each get their own task`, async () => {
    await using fixture = await serveFixture(seededClock(ISSUED_AT * 1_000));
    fixture.door.onOpen = (task) => {
      task.deliver({ data: { subject: task.dispatch.subject } });
      task.end('completed');
    };
    const transport = transportTo(fixture, binding);
    const mixed = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const dispatch = fixtureDispatch({
          dispatchId: `dsp_${index}`,
          subject: `user-${index}@t9`,
          runId: `run_${index}`,
        });
        const updates = await collect(transport.send(dispatch, leaseTo(fixture, binding, dispatch), never));
        const artifact = updates.find((update) => update.kind === 'artifact');
        const data = artifact?.artifact.data as { readonly subject: string } | undefined;
        return data?.subject === dispatch.subject ? 0 : 1;
      }),
    );
    assert.equal(mixed.length, 60);
    assert.equal(
      mixed.reduce<number>((sum, one) => sum + one, 0),
      0,
    );
    assert.equal(fixture.door.opened.length, 60);
  });

  test(`${binding}: cancel tells what the team tells`, async () => {
    await using fixture = await serveFixture(seededClock(ISSUED_AT * 1_000));
    const transport = transportTo(fixture, binding);
    const dispatch = fixtureDispatch();
    const work = leaseTo(fixture, binding, dispatch);
    const updates = stepwise(transport.send(dispatch, work, never));
    await updates.next();
    const cancelLease = (jti: string): HeldLease =>
      plainLease(plainControlClaims(work.audience, { action: 'task:cancel', taskId: 'tsk_1', jti }));
    assert.equal(await transport.cancel('tsk_1', cancelLease('lse_x1'), never), 'cancelled');
    const last = (await updates.next()).value as TeamUpdate;
    assert.equal(last.kind === 'failed' && last.error.code, 'ERR_CANCELLED');
    assert.equal(await transport.cancel('tsk_1', cancelLease('lse_x2'), never), 'not_cancelable');
  });
}

test('a team that is not there is unreachable, after the same message was tried three times', async () => {
  const fixture = await serveFixture(seededClock(ISSUED_AT * 1_000));
  const dispatch = fixtureDispatch();
  const lease = leaseTo(fixture, 'HTTP+JSON', dispatch);
  await fixture.server.close();
  let tries = 0;
  const transport = transportTo(fixture, 'HTTP+JSON', {
    fetch: (input, init) => {
      tries += 1;
      return fetch(input, init);
    },
  });
  const updates = await collect(transport.send(dispatch, lease, never));
  assert.equal(updates[0]?.kind === 'failed' && updates[0].error.code, 'ERR_TEAM_UNREACHABLE');
  assert.equal(updates[0]?.kind === 'failed' && updates[0].error.retryable, true);
  assert.equal(tries, 3);
  await assert.rejects(transport.discover(never), { code: 'ERR_TEAM_UNREACHABLE' });
});

test('an aborted send stops with the reason it was given', async () => {
  await using fixture = await serveFixture(seededClock(ISSUED_AT * 1_000));
  const transport = transportTo(fixture, 'HTTP+JSON');
  const dispatch = fixtureDispatch();
  const stop = new AbortController();
  const updates = stepwise(transport.send(dispatch, leaseTo(fixture, 'HTTP+JSON', dispatch), stop.signal));
  await updates.next();
  const waiting = updates.next();
  const reason = new Error('enough');
  stop.abort(reason);
  await assert.rejects(waiting, reason);
  await until(() => fixture.door.followerCount === 0);
});

test('a card that is not verified, of another team, or without the lease demand is not believed', async () => {
  await using fixture = await serveFixture(seededClock(ISSUED_AT * 1_000));
  const refused = transportTo(fixture, 'JSONRPC', { verifyCard: () => ({ ok: false, message: 'unsigned' }) });
  await assert.rejects(refused.discover(never), { code: 'ERR_DENIED' });
  await assert.rejects(transportTo(fixture, 'JSONRPC', { team: 'member' }).discover(never), { code: 'ERR_DENIED' });
  const mild = fixture.card.replace('"required":true', '"required":false');
  const served: typeof fetch = async () => new Response(mild);
  await assert.rejects(transportTo(fixture, 'JSONRPC', { fetch: served }).discover(never), { code: 'ERR_DENIED' });
  const twice: typeof fetch = async () => new Response(fixture.card.replace('{', '{"name":"claims",'));
  await assert.rejects(transportTo(fixture, 'JSONRPC', { fetch: twice }).discover(never), { code: 'ERR_SCHEMA' });
});

test('a lease for another endpoint than the announced one is sent nowhere', async () => {
  await using fixture = await serveFixture(seededClock(ISSUED_AT * 1_000));
  const transport = transportTo(fixture, 'HTTP+JSON');
  await transport.discover(never);
  const dispatch = fixtureDispatch();
  const [update] = await collect(transport.send(dispatch, leaseTo(fixture, 'JSONRPC', dispatch), never));
  assert.equal(update?.kind === 'failed' && update.error.detail?.['code'], 'audience');
  assert.equal(fixture.door.opened.length, 0);
});

async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2_000; turn += 1) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  assert.fail('the awaited state did not come');
}

/** The stream's first event, then a connection that dies. */
function afterFirstEvent(response: Response): ReadableStream<Uint8Array> {
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
