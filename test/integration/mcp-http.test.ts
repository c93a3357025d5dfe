import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openMcpDoor, serveMcp } from '#protocols/mcp/tool-server.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import { mint } from './mcp-lease.ts';
import {
  answerClaim,
  callBody,
  claimsServer,
  guardedServer,
  openWorld,
  post,
  problemOf,
  rpcBody,
} from './mcp-world.ts';

test('a call under its lease reaches the tool and brings back records, revision and server version', async () => {
  await using world = await openWorld();
  const lease = world.lease();
  const outcome = await world.call({ claim_id: 'C-102' }, lease);
  assert.equal(outcome.outcome, 'ok', JSON.stringify(outcome));
  assert.deepEqual(outcome.outcome === 'ok' && outcome.output, {
    records: [
      {
        id: 'C-102',
        version: 'v17',
        tenant: 't9',
        observedAt: '2026-07-22T14:11:09Z',
        data: { claim_id: 'C-102', who: lease.leaseId },
      },
    ],
  });
  assert.equal(outcome.protocolRevision, '2026-07-28');
  assert.equal(outcome.serverVersion, '1.2.3');
});

test('two hundred calls at once, a lease each, are never mixed up', async () => {
  await using world = await openWorld({
    handle: async ({ claim_id }, { leaseId, tenant }) => {
      await new Promise((resolve) => {
        setTimeout(resolve, claim_id.length % 5);
      });
      return [
        { id: claim_id, version: 'v1', tenant, observedAt: '2026-07-22T14:11:09Z', data: { claim_id, who: leaseId } },
      ];
    },
  });
  const mixed = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const id = `C-${'1'.repeat(index % 7)}${index}`;
      const lease = world.lease({ resources: [`claim:${id}`], bounds: { claim_id: { exact: id } } });
      const outcome = await world.call({ claim_id: id }, lease);
      return JSON.stringify(outcome).includes(`"data":{"claim_id":"${id}","who":"${lease.leaseId}"}`) ? [] : [outcome];
    }),
  );
  assert.deepEqual(mixed.flat(), []);
  assert.equal(world.entered(), 200);
});

test('without a lease nothing is said but the challenge', async () => {
  await using world = await openWorld();
  const response = await post(world.url, { body: callBody({ claim_id: 'C-102' }) });
  assert.match(response.headers.get('www-authenticate') ?? '', /^DPoP/);
  assert.deepEqual(await problemOf(response), [401, 'lease_missing']);
  assert.equal(world.entered(), 0);
});

test('a body changed after it was signed is refused', async () => {
  await using world = await openWorld();
  const signed = callBody({ claim_id: 'C-102' });
  const response = await post(world.url, { lease: world.lease(), body: signed.replace('C-102', 'C-103'), signed });
  assert.deepEqual(await problemOf(response), [401, 'body_digest']);
});

test('a lease for another audience is refused by the server, and never sent by the host', async () => {
  await using world = await openWorld();
  const lease = world.lease({ audience: 'http://127.0.0.1:1/mcp' });
  assert.deepEqual(await problemOf(await post(world.url, { lease, body: callBody({ claim_id: 'C-102' }) })), [
    401,
    'audience',
  ]);
  const outcome = await world.call({ claim_id: 'C-102' }, lease);
  assert.equal(outcome.outcome === 'refused' && outcome.code, 'audience');
  assert.equal(world.entered(), 0);
});

test('what the lease does not cover is refused at the guard, each with its own code', async () => {
  await using world = await openWorld();
  const refusals = await Promise.all([
    world.call({ claim_id: 'C-103' }),
    world.call({ claim_id: 'C-102' }, world.lease({ bounds: { claim_id: { exact: 'C-103' } } })),
    world.call({ claim_id: 'C-102', note: 'an argument without a bound' }),
    world.call({ claim_id: 'C-102' }, world.lease({ actions: ['claims:note'] })),
    world.call({ claim_id: 'C-102' }, world.lease({ use: 'control', actions: ['tool:discover'] })),
    world.call({}),
  ]);
  assert.deepEqual(
    refusals.map((outcome) =>
      outcome.outcome === 'refused' ? `${outcome.boundary} ${outcome.code}` : outcome.outcome,
    ),
    ['mcp resource', 'mcp bounds', 'mcp bounds', 'mcp action', 'mcp lease_kind', 'mcp resource'],
  );
  assert.equal(world.entered(), 0);
});

test('a single-use lease is consumed by its call; the same bytes get the same answer without a second call', async () => {
  await using world = await openWorld();
  const lease = world.lease();
  const body = callBody({ claim_id: 'C-102' });
  const [first, again] = [await post(world.url, { lease, body }), await post(world.url, { lease, body })];
  assert.equal(first.status, 200);
  assert.equal(await again.text(), await first.text());
  assert.equal(world.entered(), 1);
  const other = await world.call({ claim_id: 'C-102' }, lease);
  assert.equal(other.outcome === 'refused' && other.code, 'lease_consumed');
  assert.equal(world.entered(), 1);
});

test('two identical requests at once make one call', async () => {
  await using world = await openWorld();
  const lease = world.lease();
  const body = callBody({ claim_id: 'C-102' });
  const answers = await Promise.all(Array.from({ length: 8 }, () => post(world.url, { lease, body })));
  assert.deepEqual(
    answers.map(({ status }) => status),
    answers.map(() => 200),
  );
  assert.equal(world.entered(), 1);
});

test('a counted lease covers as many calls as it says', async () => {
  await using world = await openWorld();
  const lease = world.lease({ use: 'count:2' });
  const outcomes = [];
  for (let call = 0; call < 3; call += 1) outcomes.push((await world.call({ claim_id: 'C-102' }, lease)).outcome);
  assert.deepEqual(outcomes, ['ok', 'ok', 'refused']);
});

test('a work lease discovers nothing, and lists only what it could call', async () => {
  await using world = await openWorld();
  const discover = await post(world.url, {
    lease: world.lease(),
    body: rpcBody('server/discover'),
    method: 'server/discover',
  });
  assert.deepEqual(await problemOf(discover), [403, 'lease_kind']);
  const names = async (lease = world.lease()): Promise<readonly string[]> => {
    const response = await post(world.url, { lease, body: rpcBody('tools/list'), method: 'tools/list' });
    const { result } = (await response.json()) as {
      readonly result: { readonly tools: readonly { readonly name: string }[] };
    };
    return result.tools.map(({ name }) => name);
  };
  assert.deepEqual(await names(), ['claims.read']);
  assert.deepEqual(await names(world.lease({ use: 'control', actions: ['tool:discover'] })), [
    'claims.read',
    'claims.note',
  ]);
  const none = world.lease({ actions: ['other:read'] });
  const response = await post(world.url, { lease: none, body: rpcBody('tools/list'), method: 'tools/list' });
  assert.deepEqual(await problemOf(response), [403, 'action']);
});

test('a request that is malformed is refused with a problem before any tool', async () => {
  await using world = await openWorld();
  const send = async (body: string | Uint8Array<ArrayBuffer>, headers?: Record<string, string>): Promise<unknown> =>
    problemOf(await post(world.url, { lease: world.lease(), body, ...(headers && { headers }) }));
  const good = callBody({ claim_id: 'C-102' });
  assert.deepEqual(await send('{'), [400, 'ERR_JSON_SYNTAX']);
  assert.deepEqual(await send(good.replace('"claim_id":"C-102"', '"claim_id":"C-102","claim_id":"C-103"')), [
    400,
    'ERR_JSON_DUPLICATE_NAME',
  ]);
  assert.deepEqual(await send(`[${good}]`), [400, 'ERR_SCHEMA']);
  assert.deepEqual(
    await send(callBody({ claim_id: '['.repeat(8) }).replace('"[[[[[[[["', `${'['.repeat(40)}${']'.repeat(40)}`)),
    [400, 'ERR_JSON_DEPTH'],
  );
  assert.deepEqual(await send(new Uint8Array([0x7b, 0xff, 0x7d])), [400, 'ERR_JSON_SYNTAX']);
  assert.deepEqual(await send(good, { 'content-type': 'text/plain' }), [415, 'ERR_USAGE']);
  assert.equal(world.entered(), 0);
});

test('an oversized body is a 413 problem, whether its length is announced or not', async () => {
  await using world = await openWorld();
  const body = callBody({ claim_id: 'C'.repeat(300_000) });
  assert.deepEqual(await problemOf(await post(world.url, { lease: world.lease(), body })), [413, 'ERR_JSON_SIZE']);
  const outcome = await world.call({ claim_id: 'C'.repeat(300_000) });
  assert.equal(outcome.outcome === 'refused' && outcome.code, 'ERR_JSON_SIZE');
});

test('GET has no stream to offer', async () => {
  await using world = await openWorld();
  const response = await fetch(world.url);
  assert.equal(response.headers.get('allow'), 'POST');
  assert.deepEqual(await problemOf(response), [405, 'ERR_USAGE']);
});

test('headers that say something else than the body are refused, and the lease is not used up', async () => {
  await using world = await openWorld();
  const lease = world.lease();
  const body = callBody({ claim_id: 'C-102' });
  for (const headers of [{ 'mcp-name': 'claims.note' }, { 'mcp-method': 'tools/list' }]) {
    const response = await post(world.url, { lease, body, headers });
    const { error } = (await response.json()) as { readonly error: { readonly code: number } };
    assert.deepEqual([response.status, error.code], [400, -32_020]);
  }
  assert.equal((await post(world.url, { lease, body })).status, 200);
});

test('methods that are not served are unknown, whatever the SDK could do', async () => {
  await using world = await openWorld();
  for (const method of ['subscriptions/listen', 'initialize', 'tasks/get', 'resources/list']) {
    const response = await post(world.url, { lease: world.lease(), body: rpcBody(method), method });
    const { error } = (await response.json()) as { readonly error: { readonly code: number } };
    assert.deepEqual([response.status, error.code], [404, -32_601], method);
  }
});

test('a server is served under its configured audience, whatever address the request came by', async () => {
  await using free = await openWorld();
  const { port } = new URL(free.url);
  await free.close();
  const audience = 'http://claims-records.test/tools';
  const store = openSqliteStore({ path: ':memory:', clock: systemClock });
  const options = guardedServer(audience, claimsServer(answerClaim), store);
  const served = await serveMcp({ ...options, host: '127.0.0.1', port: Number(port) });
  assert.equal(served.url, `http://127.0.0.1:${port}/tools`);
  const body = callBody({ claim_id: 'C-102' });
  const named = await post(served.url, { lease: mint({ audience }), body, target: audience });
  assert.equal(named.status, 200);
  assert.deepEqual(await problemOf(await post(served.url, { lease: mint({ audience }), body })), [401, 'proof_target']);
  assert.equal((await fetch(`http://127.0.0.1:${port}/elsewhere`)).status, 404);
  await served.close();
  await assert.rejects(fetch(served.url));
});

test('a door that does not serve yet says so', async () => {
  const door = await openMcpDoor({ host: '127.0.0.1', port: 0, path: '/mcp', bodyBytesMax: 1_024 });
  assert.deepEqual(await problemOf(await fetch(door.url, { method: 'POST', body: '{}' })), [
    503,
    'ERR_SERVER_UNREACHABLE',
  ]);
  await door.close();
});
