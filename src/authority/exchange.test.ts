import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { CaseOpsError } from '#contracts/error.ts';
import type { LeaseDetail } from '#contracts/lease.ts';
import type { HeldLease, LeaseExchange } from '#ports/issuer.ts';
import type { Store } from '#ports/store.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import {
  ISSUER,
  TEAM,
  TEAM_WORKLOAD,
  TOKEN_ENDPOINT,
  TOOLS,
  leaseWorld,
  sendOperation,
  type LeaseWorld,
} from '#testing/lease-world.ts';
import { generateSigner } from './es256.ts';
import { createLeaseExchange } from './exchange-client.ts';
import type { EmbeddedIssuer } from './embedded-issuer.ts';
import { receivedLease } from './possession.ts';

const child: Omit<LeaseDetail, 'type'> = {
  locations: [],
  actions: ['claims:read'],
  resources: ['claim:C-102'],
  datatypes: ['internal'],
  purpose: 'completeness-check',
  bounds: { claim_id: { exact: 'C-102' }, row_count: { max: 20 }, fields: { subset: ['status'] } },
};

interface Scene extends AsyncDisposable {
  readonly world: LeaseWorld;
  readonly store: Store;
  readonly issuer: EmbeddedIssuer;
  readonly exchange: LeaseExchange;
  parent(use?: 'single' | 'count:4'): Promise<HeldLease>;
}

/** Issuer and team over the platform's fetch, without a socket: the form, the proof and the answer are the real ones. */
async function scene(): Promise<Scene> {
  const world = leaseWorld();
  const store = openSqliteStore({ path: ':memory:', clock: world.clock });
  const issuer = world.issuer(store);
  const exchange = createLeaseExchange({
    issuer: ISSUER,
    tokenEndpoint: TOKEN_ENDPOINT,
    clientId: 'team-claims',
    signer: world.teamKey,
    clock: world.clock,
    ids: world.ids,
    fetch: (url, init) => mounted(issuer, url, init),
  });
  return {
    world,
    store,
    issuer,
    exchange,
    parent: async (use = 'count:4') => {
      const { lease, row } = issuer.mintWork(world.workRequest({ use }));
      assert.deepEqual(await store.write([{ table: 'lease', row }]), { ok: true });
      const body = '{}';
      const sent = {
        authorization: `DPoP ${lease.token}`,
        proof: lease.prove('POST', TEAM, body),
        method: 'POST',
        target: TEAM,
        body: Buffer.from(body),
      };
      const got = world.guard().authenticate(sent);
      assert.equal(got.outcome, 'permit');
      return receivedLease(got.value);
    },
    [Symbol.asyncDispose]: async () => store[Symbol.asyncDispose](),
  };
}

async function mounted(issuer: EmbeddedIssuer, url: string, init: RequestInit): Promise<Response> {
  const headers = Object.fromEntries(new Headers(init.headers));
  const body = Buffer.from(typeof init.body === 'string' ? init.body : '');
  const answer = await issuer.handleTokenRequest({ method: init.method ?? 'GET', url, headers, body });
  return new Response(answer.body, { status: answer.status, headers: answer.headers });
}

const ask = { audience: TOOLS, detail: child, taskId: 'task-1', contextId: 'ctx-1', use: 'count:2' } as const;
const withCode = (code: string) => (error: unknown) => error instanceof CaseOpsError && error.code === code;
const never = AbortSignal.timeout(600_000);

function refusedWith(code: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof CaseOpsError);
    assert.deepEqual([error.code, error.detail['code']], ['ERR_LEASE', code]);
    return true;
  };
}

void test('an exchanged lease opens the tool server for the team and nothing else', async () => {
  await using at = await scene();
  const lease = await at.exchange.exchange({ parent: await at.parent(), ...ask }, never);
  const show = (target: string) => ({
    authorization: `DPoP ${lease.token}`,
    proof: lease.prove('POST', target, 'x'),
    method: 'POST',
    target,
    body: Buffer.from('x'),
  });
  const tools = at.world.guard({ boundary: 'mcp', audience: TOOLS });
  const got = tools.authenticate(show(TOOLS));
  assert.equal(got.outcome, 'permit');
  assert.deepEqual(got.value.lease.act, { sub: TEAM_WORKLOAD, act: { sub: 'spiffe://caseops.test/supervisor' } });
  assert.equal(got.value.lease.task.task_id, 'task-1');
  const call = sendOperation({ taskId: undefined, arguments: { claim_id: 'C-102', row_count: 20 } });
  assert.equal(tools.authorize(got.value, call).outcome, 'permit');
  assert.equal(tools.authorize(got.value, { ...call, arguments: { row_count: 21 } }).outcome, 'deny');
  const record = tools.consumption(got.value);
  assert.equal(record.table === 'consumption' && record.useCountMax, 2);
  const atTeam = at.world.guard().authenticate(show(TEAM));
  assert.equal(atTeam.outcome === 'deny' && atTeam.guard, 'audience');
});

void test('the registry keeps the child with its parent and binds the task', async () => {
  await using at = await scene();
  const parent = await at.parent();
  const lease = await at.exchange.exchange({ parent, ...ask }, never);
  const row = await at.store.lease('t9', lease.leaseId);
  assert.deepEqual(
    [row?.parent, row?.depth, row?.actor, row?.use, row?.taskId],
    [parent.leaseId, 1, TEAM_WORKLOAD, 'count:2', 'task-1'],
  );
  assert.equal((await at.store.lease('t9', parent.leaseId))?.taskId, 'task-1');
});

void test('a second exchange for the same tool server is refused', async () => {
  await using at = await scene();
  const parent = await at.parent();
  await at.exchange.exchange({ parent, ...ask }, never);
  await assert.rejects(at.exchange.exchange({ parent, ...ask }, never), refusedWith('already_exchanged'));
  // Another attempt, under a lease of its own, may pass.
  await assert.rejects(at.exchange.exchange({ parent, ...ask }, never), { code: 'ERR_LEASE', retryable: true });
});

void test('two exchanges at once give one lease', async () => {
  await using at = await scene();
  const parent = await at.parent();
  const both = await Promise.allSettled([1, 2].map(() => at.exchange.exchange({ parent, ...ask }, never)));
  assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
});

void test('a parent for one call is not exchanged for two', async () => {
  await using at = await scene();
  const parent = await at.parent('single');
  await assert.rejects(at.exchange.exchange({ parent, ...ask }, never), refusedWith('narrowing.use'));
  await at.exchange.exchange({ parent, ...ask, use: 'single' }, never);
});

void test('a task other than the bound one is refused', async () => {
  await using at = await scene();
  const parent = await at.parent();
  await at.store.bindLeaseTask({ tenant: 't9', leaseId: parent.leaseId }, 'task-of-another');
  await assert.rejects(at.exchange.exchange({ parent, ...ask }, never), refusedWith('task'));
});

void test('a lease that the registry does not know is not exchanged', async () => {
  await using at = await scene();
  const { lease } = at.issuer.mintWork(at.world.workRequest());
  await assert.rejects(at.exchange.exchange({ parent: lease, ...ask }, never), refusedWith('lease_unknown'));
});

void test('a control lease is never exchanged', async () => {
  await using at = await scene();
  const request = { ...at.world.workRequest(), action: 'task:list' };
  const { lease } = at.issuer.mintControl(request);
  await assert.rejects(at.exchange.exchange({ parent: lease, ...ask }, never), refusedWith('lease_kind'));
});

void test('a workload with another key, or unknown, is not a client', async () => {
  await using at = await scene();
  const parent = await at.parent();
  for (const [clientId, signer] of [
    ['team-claims', generateSigner()],
    ['team-legal', at.world.teamKey],
  ] as const) {
    const foreign = createLeaseExchange({
      issuer: ISSUER,
      tokenEndpoint: TOKEN_ENDPOINT,
      clientId,
      signer,
      clock: at.world.clock,
      ids: at.world.ids,
      fetch: (url, init) => mounted(at.issuer, url, init),
    });
    await assert.rejects(foreign.exchange({ parent, ...ask }, never), refusedWith('client_assertion'));
  }
});

void test('a token request shown twice is refused by its assertion', async () => {
  await using at = await scene();
  const parent = await at.parent();
  const seen: RequestInit[] = [];
  const recording = createLeaseExchange({
    issuer: ISSUER,
    tokenEndpoint: TOKEN_ENDPOINT,
    clientId: 'team-claims',
    signer: at.world.teamKey,
    clock: at.world.clock,
    ids: at.world.ids,
    fetch: (url, init) => {
      seen.push(init);
      return mounted(at.issuer, url, init);
    },
  });
  await recording.exchange({ parent, ...ask }, never);
  const again = await mounted(at.issuer, TOKEN_ENDPOINT, seen[0] ?? {});
  const said = (await again.json()) as Record<string, string>;
  assert.deepEqual([again.status, said['error'], said['code']], [401, 'invalid_client', 'client_replayed']);
});

void test('an issuer that does not answer is unreachable, one that is given up is cancelled', async () => {
  await using at = await scene();
  const parent = await at.parent();
  const server = createServer((request) => request.socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const gone = createLeaseExchange({
    issuer: ISSUER,
    tokenEndpoint: `http://127.0.0.1:${port}/token`,
    clientId: 'team-claims',
    signer: at.world.teamKey,
    clock: at.world.clock,
    ids: at.world.ids,
  });
  await assert.rejects(gone.exchange({ parent, ...ask }, never), withCode('ERR_ISSUER_UNREACHABLE'));
  await assert.rejects(gone.exchange({ parent, ...ask }, AbortSignal.abort()), withCode('ERR_CANCELLED'));
  server.close();
});
