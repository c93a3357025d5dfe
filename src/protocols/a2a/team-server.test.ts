import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LeaseClaims } from '#contracts/lease.ts';
import type { HeldLease } from '#ports/issuer.ts';
import {
  answered,
  type Answered,
  ask,
  BINDINGS,
  completing,
  control,
  sent,
  start,
  work,
} from '#testing/a2a-requests.ts';
import { rawRequest, wireSend } from '#testing/served-team.ts';
import { fixtureDispatch } from '#testing/team-fixtures.ts';

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
}
