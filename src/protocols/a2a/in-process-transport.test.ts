import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LeaseClaims } from '#contracts/lease.ts';
import type { HeldLease } from '#ports/issuer.ts';
import type { TeamTransport, TeamUpdate } from '#ports/team-transport.ts';
import { createMemoryTeamDoor, type MemoryTeamDoor } from '#testing/memory-team-door.ts';
import { createPlainGuard, ISSUED_AT, plainControlClaims, plainLease, plainWorkClaims } from '#testing/plain-guard.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { fixtureDispatch, fixtureTeam } from '#testing/team-fixtures.ts';
import { createInProcessTransport } from './in-process-transport.ts';

const AUDIENCE = 'inprocess:claims';
const never = new AbortController().signal;

function inProcess(): { readonly door: MemoryTeamDoor; readonly transport: TeamTransport } {
  const door = createMemoryTeamDoor({ team: fixtureTeam(), clock: seededClock(ISSUED_AT * 1_000) });
  const transport = createInProcessTransport({
    door,
    guard: createPlainGuard(AUDIENCE),
    audience: AUDIENCE,
    workload: 'spiffe://caseops.test/team/claims',
    toolAudiences: {},
  });
  return { door, transport };
}

const work = (over: Partial<LeaseClaims> = {}, dispatch = fixtureDispatch()): HeldLease =>
  plainLease(plainWorkClaims(AUDIENCE, dispatch, over));

const cancelling = (jti: string, over: Partial<LeaseClaims> = {}): HeldLease =>
  plainLease(plainControlClaims(AUDIENCE, { action: 'task:cancel', taskId: 'tsk_1', jti }, over));

async function collect(updates: AsyncIterable<TeamUpdate>): Promise<TeamUpdate[]> {
  const all: TeamUpdate[] = [];
  for await (const update of updates) all.push(update);
  return all;
}

test('a team in this process is announced, asked and answered like one over the wire', async () => {
  const { door, transport } = inProcess();
  door.onOpen = (task) => {
    task.status('running');
    task.deliver();
    task.end('completed');
  };
  const announced = await transport.discover(never);
  assert.deepEqual(announced.card.interfaces, [{ url: AUDIENCE, binding: 'INPROCESS' }]);
  assert.equal(announced.skills.length, 1);
  const updates = await collect(transport.send(fixtureDispatch(), work(), never));
  assert.deepEqual(
    updates.map((update) => update.kind),
    ['started', 'artifact'],
  );
  assert.deepEqual(await collect(transport.send(fixtureDispatch(), work({ jti: 'lse_again' }), never)), updates);
  assert.equal(door.opened.length, 1);
});

test('no lease for it means no, in memory too', async () => {
  const { door, transport } = inProcess();
  const foreign = plainLease(plainWorkClaims('inprocess:member', fixtureDispatch()));
  const control = plainLease(plainControlClaims(AUDIENCE, { action: 'task:read', jti: 'lse_c' }));
  const wider = fixtureDispatch({ resources: ['claim:C-103'] });
  for (const [lease, dispatch, code] of [
    [foreign, fixtureDispatch(), 'audience'],
    [control, fixtureDispatch(), 'lease_kind'],
    [work(), wider, 'resource'],
    [work({ sub: 'eve@t9' }), fixtureDispatch(), 'subject'],
  ] as const) {
    const [update] = await collect(transport.send(dispatch, lease, never));
    assert.equal(update?.kind === 'failed' && update.error.detail?.['code'], code);
  }
  const [elsewhere] = await collect(
    transport.send(fixtureDispatch({ team: 'member' }), work({}, fixtureDispatch({ team: 'member' })), never),
  );
  assert.equal(elsewhere?.kind === 'failed' && elsewhere.error.code, 'ERR_SCHEMA');
  assert.equal(door.opened.length, 0);
});

test('another payload under the same message id is a conflict, and a used lease sends nothing else', async () => {
  const { door, transport } = inProcess();
  door.onOpen = (task) => {
    task.deliver();
    task.end('completed');
  };
  await collect(transport.send(fixtureDispatch(), work(), never));
  const changed = fixtureDispatch({ language: 'ja' });
  const [conflict] = await collect(transport.send(changed, work({ jti: 'lse_2' }), never));
  assert.equal(conflict?.kind === 'failed' && conflict.error.code, 'ERR_IDEMPOTENCY_KEY_REUSED');
  const [consumed] = await collect(transport.send(fixtureDispatch({ dispatchId: 'dsp_2' }), work(), never));
  assert.equal(consumed?.kind === 'failed' && consumed.error.code, 'ERR_LEASE_CONSUMED');
});

test('a task in this process is cancelled under a control lease of its own', async () => {
  const { transport } = inProcess();
  const updates = transport.send(fixtureDispatch(), work(), never)[Symbol.asyncIterator]();
  await updates.next();
  await assert.rejects(transport.cancel('tsk_1', work({ jti: 'lse_w' }), never), { code: 'ERR_DENIED' });
  assert.equal(await transport.cancel('tsk_1', cancelling('lse_e', { sub: 'eve@t9' }), never), 'unknown');
  assert.equal(await transport.cancel('tsk_1', cancelling('lse_c1'), never), 'cancelled');
  const last = (await updates.next()).value as TeamUpdate;
  assert.equal(last.kind === 'failed' && last.error.code, 'ERR_CANCELLED');
  assert.equal(await transport.cancel('tsk_1', cancelling('lse_c2'), never), 'not_cancelable');
});
