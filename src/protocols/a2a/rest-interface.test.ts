import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answered, type Answered, ask, control, sent, start, work } from '#testing/a2a-requests.ts';
import { plainWorkClaims } from '#testing/plain-guard.ts';
import { leaseFor, type RawRequest, rawRequest, wireSend } from '#testing/served-team.ts';
import { fixtureDispatch } from '#testing/team-fixtures.ts';
import { CARD_PATH } from './card-endpoint.ts';

test('a lease for one interface is refused at the other', async () => {
  await using fixture = await start();
  const lease = work(fixture, 'rpc');
  const params = { message: wireSend(fixtureDispatch(), lease) };
  assert.equal((await answered(await ask(fixture, 'rest', { op: 'send', params, lease }))).reason, 'audience');
});

test('unknown paths, other methods and other tenants of the REST interface are refused in JSON', async () => {
  await using fixture = await start();
  const id = await sent(fixture, 'rest');
  const base = fixture.audiences.rest;
  const by = async (path: string, request: RawRequest = {}): Promise<Answered> =>
    answered(
      await rawRequest(base + path, {
        lease: control(fixture, 'rest', { action: 'task:read', taskId: id }),
        ...request,
      }),
    );
  assert.equal((await by('/nope')).status, 404);
  assert.equal((await by('/TASKS')).status, 404);
  assert.equal((await by(`/tasks/${id}/more`)).status, 404);
  assert.equal((await by(`/tasks/${id}`, { method: 'HEAD' })).status, 405);
  assert.equal((await by(`/tasks/${id}`, { method: 'DELETE' })).status, 405);
  assert.equal((await by(`/tasks/${id}?tenant=a&tenant=b`)).status, 400);
  assert.equal((await by(`/tasks/${id}`)).status, 200);
  assert.equal((await by(`/t9/tasks/${id}`)).status, 200);
  const foreign = await by(`/t8/tasks/${id}`);
  assert.deepEqual([foreign.status, foreign.reason], [403, 'tenant']);
  assert.equal((await by(`/t9/tasks/${id}?tenant=t8`)).status, 400);
  const outside = await rawRequest(`${fixture.server.url}/elsewhere`);
  assert.equal(outside.status, 404);
  assert.match(outside.headers.get('content-type') ?? '', /json/);
});

test('the list is paged, filtered by state, and without artifacts unless they are asked for', async () => {
  await using fixture = await start();
  for (const number of [1, 2, 3]) {
    const dispatch = fixtureDispatch({ dispatchId: `dsp_${number}` });
    const lease = leaseFor(plainWorkClaims(fixture.audiences.rest, dispatch));
    const params = { message: wireSend(dispatch, lease), configuration: { returnImmediately: true } };
    await answered(await ask(fixture, 'rest', { op: 'send', params, lease }));
  }
  fixture.door.opened[0]?.deliver();
  fixture.door.opened[0]?.end('completed');
  const list = async (
    query: string,
  ): Promise<{ tasks: { id: string; artifacts?: unknown[] }[]; nextPageToken: string; totalSize: number }> => {
    const lease = control(fixture, 'rest', { action: 'task:list' });
    return (await answered(await rawRequest(`${fixture.audiences.rest}/tasks${query}`, { lease }))).body as never;
  };
  const first = await list('?pageSize=2');
  assert.deepEqual(
    first.tasks.map((task) => task.id),
    ['tsk_3', 'tsk_2'],
  );
  assert.equal(first.totalSize, 3);
  const second = await list(`?pageSize=2&pageToken=${first.nextPageToken}`);
  assert.deepEqual([second.tasks.map((task) => task.id), second.nextPageToken], [['tsk_1'], '']);
  const done = await list('?status=TASK_STATE_COMPLETED&includeArtifacts=true');
  assert.deepEqual([done.tasks.length, done.totalSize, done.tasks[0]?.artifacts?.length], [1, 1, 1]);
  assert.equal((await list('?status=TASK_STATE_COMPLETED')).tasks[0]?.artifacts, undefined);
});

test('the card is served as its own bytes, with ETag and 304', async () => {
  await using fixture = await start();
  const first = await fetch(fixture.server.url + CARD_PATH);
  assert.equal(await first.text(), fixture.card);
  const etag = first.headers.get('etag') ?? '';
  assert.match(etag, /^"[0-9a-f]{64}"$/);
  const again = await fetch(fixture.server.url + CARD_PATH, { headers: { 'if-none-match': etag } });
  assert.deepEqual([again.status, await again.text()], [304, '']);
});
