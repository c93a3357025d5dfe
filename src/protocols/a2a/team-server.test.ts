import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LeaseClaims } from '#contracts/lease.ts';
import type { HeldLease } from '#ports/issuer.ts';
import { ISSUED_AT, plainControlClaims, plainWorkClaims } from '#testing/plain-guard.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import {
  leaseFor,
  type RawRequest,
  rawRequest,
  serveFixture,
  type ServedFixture,
  wireSend,
} from '#testing/served-team.ts';
import { fixtureDispatch } from '#testing/team-fixtures.ts';
import { CARD_PATH } from './card-endpoint.ts';

const BINDINGS = ['rest', 'rpc'] as const;
type Side = (typeof BINDINGS)[number];
type ControlAction = 'task:read' | 'task:list' | 'task:cancel' | 'task:subscribe';

const start = (): Promise<ServedFixture> => serveFixture(seededClock(ISSUED_AT * 1_000 + 1_000));

let leaseCount = 0;
const work = (fixture: ServedFixture, side: Side, over: Partial<LeaseClaims> = {}): HeldLease =>
  leaseFor(plainWorkClaims(fixture.audiences[side], fixtureDispatch(), over));
function control(
  fixture: ServedFixture,
  side: Side,
  asked: { readonly action: ControlAction; readonly taskId?: string; readonly over?: Partial<LeaseClaims> },
): HeldLease {
  const jti = `lse_c${(leaseCount += 1)}`;
  return leaseFor(plainControlClaims(fixture.audiences[side], { ...asked, jti }, asked.over));
}

const completing = (fixture: ServedFixture): void => {
  fixture.door.onOpen = (task) => {
    task.status('running');
    task.deliver();
    task.end('completed');
  };
};

interface Answered {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Headers;
  /** ErrorInfo's reason, or the problem's code. */
  readonly reason: string | undefined;
  readonly rpcCode: number | undefined;
}

async function answered(response: Response): Promise<Answered> {
  const text = await response.text();
  const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
  const error = body['error'] as { code?: number; details?: Info[]; data?: Info[] } | undefined;
  const info = (error?.details ?? error?.data ?? [])[0];
  const code = body['code'] as string | undefined;
  const rpcCode = 'jsonrpc' in body ? error?.code : undefined;
  return { status: response.status, body, headers: response.headers, reason: info?.reason ?? code, rpcCode };
}
interface Info {
  readonly reason: string;
  readonly metadata?: Record<string, string>;
}

const OPERATIONS = {
  send: { method: 'SendMessage', path: () => '/message:send', verb: 'POST' },
  stream: { method: 'SendStreamingMessage', path: () => '/message:stream', verb: 'POST' },
  get: { method: 'GetTask', path: (id: string) => `/tasks/${id}`, verb: 'GET' },
  list: { method: 'ListTasks', path: () => '/tasks', verb: 'GET' },
  cancel: { method: 'CancelTask', path: (id: string) => `/tasks/${id}:cancel`, verb: 'POST' },
  subscribe: { method: 'SubscribeToTask', path: (id: string) => `/tasks/${id}:subscribe`, verb: 'POST' },
} as const;

/** The same operation over either binding. */
function ask(
  fixture: ServedFixture,
  side: Side,
  asked: RawRequest & { readonly op: keyof typeof OPERATIONS; readonly params?: object; readonly id?: string },
): Promise<Response> {
  const { op, params = asked.id === undefined ? {} : { id: asked.id }, id = '', ...request } = asked;
  const { method, path, verb } = OPERATIONS[op];
  if (side === 'rpc')
    return rawRequest(fixture.audiences.rpc, {
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
      ...request,
    });
  const body = op === 'send' || op === 'stream' ? { body: JSON.stringify(params) } : {};
  return rawRequest(fixture.audiences.rest + path(id), { method: verb, ...body, ...request });
}

async function sent(fixture: ServedFixture, side: Side): Promise<string> {
  const lease = work(fixture, side);
  const params = { message: wireSend(fixtureDispatch(), lease), configuration: { returnImmediately: true } };
  const { status } = await answered(await ask(fixture, side, { op: 'send', params, lease }));
  assert.equal(status, 200);
  return fixture.door.opened.at(-1)?.taskId ?? '';
}

for (const side of BINDINGS) {
  test(`${side}: a dispatch comes back as a completed task with its artifact, and can be read again`, async () => {
    await using fixture = await start();
    completing(fixture);
    const lease = work(fixture, side);
    const response = await ask(fixture, side, {
      op: 'send',
      params: { message: wireSend(fixtureDispatch(), lease) },
      lease,
    });
    assert.equal(response.headers.get('a2a-extensions'), 'urn:caseops:ext:authority-lease:v1');
    const { body } = await answered(response);
    const { task } = (side === 'rpc' ? body['result'] : body) as { task: Record<string, unknown> };
    assert.equal((task['status'] as { state: string }).state, 'TASK_STATE_COMPLETED');
    assert.equal((task['artifacts'] as unknown[]).length, 1);
    const id = String(task['id']);
    const read = await ask(fixture, side, {
      op: 'get',
      id,
      lease: control(fixture, side, { action: 'task:read', taskId: id }),
    });
    assert.equal(read.status, 200);
    assert.ok(!fixture.door.stored().includes(lease.token.slice(6, 80)));
  });

  test(`${side}: every operation wants a lease, and says so with a challenge`, async () => {
    await using fixture = await start();
    const id = await sent(fixture, side);
    for (const op of ['send', 'stream', 'get', 'list', 'cancel', 'subscribe'] as const) {
      const got = await answered(await ask(fixture, side, { op, id }));
      assert.deepEqual([op, got.status, got.reason], [op, 401, 'lease_missing']);
      assert.match(got.headers.get('www-authenticate') ?? '', /^DPoP/);
    }
  });

  test(`${side}: every operation wants the extension`, async () => {
    await using fixture = await start();
    const id = await sent(fixture, side);
    const lease = (): HeldLease => control(fixture, side, { action: 'task:read', taskId: id });
    for (const op of ['send', 'stream', 'get', 'list', 'cancel', 'subscribe'] as const) {
      const headers = { 'a2a-extensions': 'urn:other' };
      const got = await answered(await ask(fixture, side, { op, id, lease: lease(), headers }));
      assert.deepEqual([op, got.reason], [op, 'EXTENSION_SUPPORT_REQUIRED']);
      if (side === 'rpc') assert.equal(got.rpcCode, -32_008);
      else assert.equal(got.status, 400);
    }
  });

  test(`${side}: another version is refused, a patch number does not matter, absent means 0.3`, async () => {
    await using fixture = await start();
    const id = await sent(fixture, side);
    const by = async (headers: Record<string, string>, query = ''): Promise<Answered> => {
      const lease = control(fixture, side, { action: 'task:read', taskId: id });
      if (side === 'rpc') {
        const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'GetTask', params: { id } });
        return answered(await rawRequest(fixture.audiences.rpc + query, { body, lease, headers }));
      }
      return answered(await rawRequest(`${fixture.audiences.rest}/tasks/${id}${query}`, { lease, headers }));
    };
    for (const version of ['1.0', '1.0.1', '1.0.17']) {
      const got = await by({ 'a2a-version': version });
      assert.deepEqual([version, got.status, got.reason], [version, 200, undefined]);
    }
    assert.equal((await by({ 'a2a-version': '' }, '?A2A-Version=1.0')).reason, undefined);
    for (const version of ['2.0', '0.3', '1', '']) {
      const got = await by({ 'a2a-version': version });
      assert.deepEqual([version, got.reason], [version, 'VERSION_NOT_SUPPORTED']);
      if (side === 'rpc') assert.equal(got.rpcCode, -32_009);
      else assert.equal(got.status, 400);
    }
  });

  test(`${side}: a control lease does not send, a work lease does not read, and neither goes beyond its task`, async () => {
    await using fixture = await start();
    const id = await sent(fixture, side);
    const reading = control(fixture, side, { action: 'task:read' });
    const params = { message: wireSend(fixtureDispatch({ dispatchId: 'dsp_2' }), reading) };
    assert.equal(
      (await answered(await ask(fixture, side, { op: 'send', params, lease: reading }))).reason,
      'lease_kind',
    );
    const working = work(fixture, side, { jti: 'lse_w2' });
    assert.equal((await answered(await ask(fixture, side, { op: 'get', id, lease: working }))).reason, 'lease_kind');
    const other = control(fixture, side, { action: 'task:read', taskId: 'tsk_other' });
    assert.equal((await answered(await ask(fixture, side, { op: 'get', id, lease: other }))).reason, 'task');
    const elsewhere = { task: { run: 'run_2', step: 's2', attempt: 1, task_id: id } } as const;
    const foreign = control(fixture, side, { action: 'task:read', taskId: id, over: elsewhere });
    assert.equal((await answered(await ask(fixture, side, { op: 'get', id, lease: foreign }))).reason, 'run');
    for (const op of ['cancel', 'subscribe', 'list'] as const) {
      const bound = op === 'list' ? {} : { taskId: id };
      const wrong = control(fixture, side, { action: 'task:read', ...bound });
      assert.deepEqual(
        [op, (await answered(await ask(fixture, side, { op, id, lease: wrong }))).reason],
        [op, 'action'],
      );
    }
    assert.equal(fixture.door.opened.length, 1);
  });

  test(`${side}: to another caller a task is not found, exactly like one that never was`, async () => {
    await using fixture = await start();
    const id = await sent(fixture, side);
    for (const over of [
      { sub: 'eve@t9' },
      { act: { sub: 'spiffe://caseops.test/other' } },
      { tenant: 't8' },
    ] satisfies Partial<LeaseClaims>[]) {
      for (const [op, action] of [
        ['get', 'task:read'],
        ['cancel', 'task:cancel'],
        ['subscribe', 'task:subscribe'],
      ] as const) {
        const lease = (taskId: string): HeldLease =>
          control(fixture, side, {
            action,
            taskId,
            over: { ...over, task: { run: 'run_1', step: 's2', attempt: 1, task_id: taskId } },
          });
        const theirs = await answered(await ask(fixture, side, { op, id, lease: lease(id) }));
        const nobodys = await answered(await ask(fixture, side, { op, id: 'tsk_999', lease: lease('tsk_999') }));
        assert.equal(theirs.reason, 'TASK_NOT_FOUND');
        assert.deepEqual([theirs.status, theirs.body], [nobodys.status, nobodys.body]);
      }
      const list = await answered(
        await ask(fixture, side, { op: 'list', lease: control(fixture, side, { action: 'task:list', over }) }),
      );
      const page = (side === 'rpc' ? list.body['result'] : list.body) as { tasks: unknown[]; totalSize: number };
      assert.deepEqual([page.tasks, page.totalSize], [[], 0]);
    }
  });

  test(`${side}: a message is refused without parts, role, message id, lease reference or a lawful dispatch`, async () => {
    await using fixture = await start();
    const lease = work(fixture, side);
    const whole = wireSend(fixtureDispatch(), lease);
    const bad: readonly (readonly [string, object])[] = [
      ['no message', {}],
      ['empty parts', { message: { ...whole, parts: [] } }],
      ['two parts', { message: { ...whole, parts: [{ data: fixtureDispatch() }, { data: fixtureDispatch() }] } }],
      ['text part', { message: { ...whole, parts: [{ text: 'do it' }] } }],
      ['no role', { message: { ...whole, role: undefined } }],
      ['agent role', { message: { ...whole, role: 'ROLE_AGENT' } }],
      ['no message id', { message: { ...whole, messageId: undefined } }],
      ['snake case', { message: { ...whole, messageId: undefined, message_id: 'dsp_1' } }],
      ['no lease reference', { message: { ...whole, metadata: {} } }],
      [
        'foreign lease reference',
        {
          message: {
            ...whole,
            metadata: wireSend(fixtureDispatch(), work(fixture, side, { jti: 'lse_other' }))['metadata'],
          },
        },
      ],
      [
        'unknown member of the dispatch',
        { message: { ...whole, parts: [{ data: { ...fixtureDispatch(), extra: 1 } }] } },
      ],
      ['another team', { message: { ...whole, parts: [{ data: fixtureDispatch({ team: 'member' }) }] } }],
      ['another tenant', { tenant: 't8', message: whole }],
    ];
    for (const [what, params] of bad) {
      const got = await answered(await ask(fixture, side, { op: 'send', params, lease }));
      assert.ok('error' in got.body, what);
      if (side === 'rpc') assert.deepEqual([what, got.rpcCode], [what, -32_602]);
      else assert.deepEqual([what, got.status], [what, 400]);
    }
    const follow = await answered(
      await ask(fixture, side, { op: 'send', params: { message: { ...whole, taskId: 'tsk_1' } }, lease }),
    );
    assert.equal(follow.reason, 'UNSUPPORTED_OPERATION');
    assert.equal(fixture.door.opened.length, 0);
  });

  test(`${side}: bodies that are too large, not JSON, or name a member twice are refused in JSON`, async () => {
    await using fixture = await start();
    const lease = work(fixture, side);
    const url = side === 'rpc' ? fixture.audiences.rpc : `${fixture.audiences.rest}/message:send`;
    const large = await rawRequest(url, { body: JSON.stringify({ x: 'x'.repeat(100_001) }), lease });
    assert.equal(large.status, 413);
    assert.match(large.headers.get('content-type') ?? '', /json/);
    assert.ok('error' in (await answered(large)).body);
    for (const body of ['{', '{"a":1,"a":2}', '{"message":{"messageId":"a","messageId":"b"}}']) {
      const got = await answered(await rawRequest(url, { body, lease }));
      if (side === 'rpc') assert.equal(got.rpcCode, -32_700);
      else assert.equal(got.status, 400);
      assert.match(got.headers.get('content-type') ?? '', /json/);
    }
    const html = await answered(
      await rawRequest(url, { body: '{}', lease, headers: { 'content-type': 'text/plain' } }),
    );
    assert.equal(html.reason, 'CONTENT_TYPE_NOT_SUPPORTED');
  });

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

interface Frame {
  readonly id: string;
  readonly data: string;
}

async function* readFrames(response: Response): AsyncGenerator<Frame, void, undefined> {
  let text = '';
  assert.ok(response.body);
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const lines = text.slice(0, end).split('\n');
      text = text.slice(end + 2);
      const field = (name: string): string => lines.find((line) => line.startsWith(name))?.slice(name.length) ?? '';
      yield { id: field('id: '), data: field('data: ') };
    }
  }
}

async function nextId(frames: AsyncIterator<Frame>): Promise<string | undefined> {
  const step = await frames.next();
  return step.done === true ? undefined : step.value.id;
}

async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2_000; turn += 1) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  assert.fail('the awaited state did not come');
}
