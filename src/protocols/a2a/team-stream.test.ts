import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HeldLease } from '#ports/issuer.ts';
import {
  answered,
  ask,
  BINDINGS,
  control,
  type Frame,
  nextId,
  readFrames,
  sent,
  start,
  until,
  work,
} from '#testing/a2a-requests.ts';
import { ISSUED_AT, plainWorkClaims } from '#testing/plain-guard.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { leaseFor, rawRequest, serveFixture, wireSend } from '#testing/served-team.ts';
import { fixtureDispatch } from '#testing/team-fixtures.ts';

for (const side of BINDINGS) {
  test(`${side}: a context id is kept, and one is made when none is given`, async () => {
    await using fixture = await start();
    const contexts: string[] = [];
    for (const contextId of ['ctx_mine', undefined]) {
      const dispatch = fixtureDispatch({ dispatchId: contextId === undefined ? 'dsp_2' : 'dsp_1' });
      const lease = leaseFor(plainWorkClaims(fixture.audiences[side], dispatch));
      const message = wireSend(dispatch, lease, contextId === undefined ? {} : { contextId });
      const params = { message, configuration: { returnImmediately: true } };
      const { body } = await answered(await ask(fixture, side, { op: 'send', params, lease }));
      const { task } = (side === 'rpc' ? body['result'] : body) as { task: { contextId: string } };
      contexts.push(task.contextId);
    }
    assert.deepEqual(contexts, ['ctx_mine', 'ctx_2']);
  });

  test(`${side}: a stream numbers its events, resumes after the last one seen, and ends with its reader`, async () => {
    await using fixture = await start();
    const lease = work(fixture, side);
    const stop = new AbortController();
    const params = { message: wireSend(fixtureDispatch(), lease) };
    const stream = await ask(fixture, side, { op: 'stream', params, lease, signal: stop.signal });
    assert.match(stream.headers.get('content-type') ?? '', /^text\/event-stream/);
    const frames = readFrames(stream);
    const [task] = fixture.door.opened;
    assert.ok(task);
    task.status('running');
    assert.deepEqual([await nextId(frames), await nextId(frames)], ['1', '2']);
    stop.abort();
    await until(() => fixture.door.followerCount === 0);
    task.deliver();
    task.status('running');
    task.end('completed');
    task.deliver({ artifactId: 'art_late' });
    const id = task.taskId;
    const again = control(fixture, side, { action: 'task:subscribe', taskId: id });
    const resumed = await ask(fixture, side, { op: 'subscribe', id, lease: again, headers: { 'last-event-id': '2' } });
    const ids: string[] = [];
    for await (const frame of readFrames(resumed)) ids.push(frame.id);
    assert.deepEqual(ids, ['2', '3', '4', '5']);
    const late = control(fixture, side, { action: 'task:subscribe', taskId: id });
    const ended = await answered(await ask(fixture, side, { op: 'subscribe', id, lease: late }));
    assert.equal(ended.reason, 'UNSUPPORTED_OPERATION');
  });

  test(`${side}: an open stream ends when the server closes and when its lease expires`, async () => {
    const clock = seededClock(ISSUED_AT * 1_000 + 1_000);
    const fixture = await serveFixture(clock);
    const id = await sent(fixture, side);
    const open = async (): Promise<AsyncIterator<Frame>> => {
      const lease = control(fixture, side, { action: 'task:subscribe', taskId: id });
      const frames = readFrames(await ask(fixture, side, { op: 'subscribe', id, lease }));
      await frames.next();
      return frames;
    };
    const expiring = await open();
    await clock.advance(120_000);
    assert.equal((await expiring.next()).done, true);
    const closing = await open();
    const closed = fixture.server.close();
    assert.equal((await closing.next()).done, true);
    await until(() => fixture.door.followerCount === 0);
    await clock.advance(1_000);
    await closed;
  });

  test(`${side}: push notifications and the extended card are declared off and refused`, async () => {
    await using fixture = await start();
    const lease = (): HeldLease => control(fixture, side, { action: 'task:read', taskId: 'tsk_1' });
    const push =
      side === 'rpc'
        ? await rawRequest(fixture.audiences.rpc, {
            body: JSON.stringify({
              jsonrpc: '2.0',
              id: 1,
              method: 'CreateTaskPushNotificationConfig',
              params: { taskId: 'tsk_1', url: 'https://x.test' },
            }),
            lease: lease(),
          })
        : await rawRequest(`${fixture.audiences.rest}/tasks/tsk_1/pushNotificationConfigs`, {
            body: '{"url":"https://x.test"}',
            lease: lease(),
          });
    assert.equal((await answered(push)).reason, 'PUSH_NOTIFICATION_NOT_SUPPORTED');
    const card =
      side === 'rpc'
        ? await rawRequest(fixture.audiences.rpc, {
            body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetExtendedAgentCard' }),
            lease: lease(),
          })
        : await rawRequest(`${fixture.audiences.rest}/extendedAgentCard`, { lease: lease() });
    assert.equal((await answered(card)).reason, 'EXTENDED_AGENT_CARD_NOT_CONFIGURED');
  });

  test(`${side}: a failure inside the team is masked`, async () => {
    await using fixture = await start();
    const lease = work(fixture, side);
    fixture.door.submit = () => Promise.reject(new Error('secret path /etc/keys'));
    const got = await answered(
      await ask(fixture, side, { op: 'send', params: { message: wireSend(fixtureDispatch(), lease) }, lease }),
    );
    assert.ok('error' in got.body);
    assert.ok(!JSON.stringify(got.body).includes('secret'));
  });
}
