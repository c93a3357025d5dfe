import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { LEASE_EXTENSION } from '#contracts/lease.ts';
import type { HeldLease } from '#ports/issuer.ts';
import type { ToolHost, ToolOutcome } from '#ports/tool-host.ts';
import { createInProcessMcp } from '#protocols/mcp/in-process.ts';
import { createMessageToolHost, stdioServer } from '#protocols/mcp/message-host.ts';
import { serveMcpMessages } from '#protocols/mcp/message-server.ts';
import { createMcpToolHost } from '#protocols/mcp/tool-host.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/client';
import { issuerKeys, type LeaseWish, mint } from './mcp-lease.ts';
import {
  answerClaim,
  BODY_BYTES_MAX,
  claimsServer,
  guardedServer,
  type Handle,
  readClaim,
  rpcBody,
  SERVER,
} from './mcp-world.ts';

const AUDIENCE = 'stdio:claims-records';
const never = new AbortController().signal;

interface Scene extends AsyncDisposable {
  readonly host: ToolHost;
  readonly entered: () => number;
  lease(wish?: Omit<LeaseWish, 'audience'>): HeldLease;
  call(lease: HeldLease, signal?: AbortSignal): Promise<ToolOutcome>;
}

/** The same server over each way that has no socket. */
const ways = {
  'in-process': (handle: Handle) => {
    const audience = 'http://claims-records.test/mcp';
    const store = openSqliteStore({ path: ':memory:', clock: systemClock });
    const served = createInProcessMcp([guardedServer(audience, claimsServer(handle), store)]);
    const host = createMcpToolHost({ servers: { [SERVER]: audience }, clock: systemClock, fetch: served.fetch });
    return { audience, host, close: () => served.close() };
  },
  'in-memory': (handle: Handle) => {
    const store = openSqliteStore({ path: ':memory:', clock: systemClock });
    const open = (): InMemoryTransport => {
      const [client, server] = InMemoryTransport.createLinkedPair();
      serveMcpMessages(guardedServer(AUDIENCE, claimsServer(handle), store), server);
      return client;
    };
    const host = createMessageToolHost({ servers: { [SERVER]: { audience: AUDIENCE, open } }, clock: systemClock });
    return { audience: AUDIENCE, host, close: async () => undefined };
  },
} as const;

function scene(way: keyof typeof ways, handle: Handle = answerClaim): Scene {
  let entered = 0;
  const { audience, host, close } = ways[way]((args, caller) => {
    entered += 1;
    return handle(args, caller);
  });
  return sceneOf({ audience, host, close, entered: () => entered });
}

interface SceneParts {
  readonly audience: string;
  readonly host: ToolHost;
  readonly close: () => Promise<void>;
  readonly entered: () => number;
}

function sceneOf({ audience, host, close, entered }: SceneParts): Scene {
  return {
    host,
    entered,
    lease: (wish) => mint({ audience, ...wish }),
    call: (lease, signal = never) => host.call(readClaim.contract, { claim_id: 'C-102' }, lease, signal),
    [Symbol.asyncDispose]: async () => {
      await host[Symbol.asyncDispose]();
      await close();
    },
  };
}

function stdioScene(): Scene {
  const server = stdioServer({
    audience: AUDIENCE,
    command: process.execPath,
    args: ['--conditions=@caseops/source', fileURLToPath(new URL('mcp-stdio-server.ts', import.meta.url))],
    env: { CASEOPS_TEST_KEYS: JSON.stringify(issuerKeys), NODE_NO_WARNINGS: '1' },
    messageBytesMax: BODY_BYTES_MAX,
  });
  const host = createMessageToolHost({ servers: { [SERVER]: server }, clock: systemClock });
  return sceneOf({ audience: AUDIENCE, host, close: async () => undefined, entered: () => Number.NaN });
}

async function checkWay(at: Scene): Promise<void> {
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const lease = at.lease();
      return [lease.leaseId, await at.call(lease)] as const;
    }),
  );
  for (const [leaseId, outcome] of outcomes)
    assert.match(JSON.stringify(outcome), new RegExp(`"outcome":"ok".*"who":"${leaseId}"`));
  const lease = at.lease();
  const refusals = [
    at.call(at.lease({ actions: ['claims:note'] })),
    at.call(at.lease({ resources: ['claim:C-103'] })),
    at.call(at.lease({ bounds: {} })),
    at.call(at.lease({ use: 'control', actions: ['tool:discover'] })),
    at.call(lease).then(() => at.call(lease)),
  ];
  assert.deepEqual(
    (await Promise.all(refusals)).map((outcome) => (outcome.outcome === 'refused' ? outcome.code : outcome)),
    ['action', 'resource', 'bounds', 'lease_kind', 'lease_consumed'],
  );
  await at.host.verify([readClaim.contract], at.lease({ use: 'control', actions: ['tool:discover'] }), never);
  await assert.rejects(at.host.verify([readClaim.contract], at.lease(), never), { code: 'ERR_LEASE' });
}

test('in this process the same guard decides, call by call', async () => {
  await using at = scene('in-process');
  await checkWay(at);
});

test('over an in-memory transport the same guard decides, call by call', async () => {
  await using at = scene('in-memory');
  await checkWay(at);
});

test('over standard input and output the same guard decides, call by call', async () => {
  await using at = stdioScene();
  await checkWay(at);
});

test('a call that is stopped is stopped at the tool, on every way', async () => {
  for (const way of ['in-process', 'in-memory'] as const) {
    const begun = Promise.withResolvers<void>();
    const stopped = Promise.withResolvers<void>();
    await using at = scene(way, async (_args, { signal }) => {
      begun.resolve();
      signal.addEventListener('abort', () => stopped.resolve(), { once: true });
      await stopped.promise;
      return [];
    });
    const controller = new AbortController();
    const calling = at.call(at.lease(), controller.signal);
    await begun.promise;
    controller.abort();
    const outcome = await calling;
    assert.equal(outcome.outcome === 'cancelled' && outcome.reason, 'aborted', way);
    await stopped.promise;
  }
});

test('a child process that dies leaves an unknown outcome, and the next call starts another', async () => {
  await using at = stdioScene();
  const dying = at.host.call(readClaim.contract, { claim_id: 'C-die' }, at.lease(dyingWish), never);
  assert.equal((await dying).outcome, 'unknown_outcome');
  assert.equal((await at.call(at.lease())).outcome, 'ok');
});

const dyingWish = { resources: ['claim:C-die'], bounds: { claim_id: { exact: 'C-die' } } } as const;

test('a command that does not exist is unreachable, not unknown', async () => {
  const env = {};
  const server = stdioServer({
    audience: AUDIENCE,
    command: '/no/such/command',
    args: [],
    env,
    messageBytesMax: 1_024,
  });
  await using host = createMessageToolHost({ servers: { [SERVER]: server }, clock: systemClock });
  const outcome = await host.call(readClaim.contract, { claim_id: 'C-102' }, mint({ audience: AUDIENCE }), never);
  assert.equal(outcome.outcome === 'tool_error' && outcome.code, 'ERR_SERVER_UNREACHABLE');
});

test('a message without a lease, or with one that was signed for another message, is refused', async () => {
  const [client, server] = InMemoryTransport.createLinkedPair();
  const store = openSqliteStore({ path: ':memory:', clock: systemClock });
  let entered = 0;
  const defined = claimsServer((args, caller) => {
    entered += 1;
    return answerClaim(args, caller);
  });
  const served = serveMcpMessages(guardedServer(AUDIENCE, defined, store), server);
  const ask = async (meta: unknown, text = callText('C-102')): Promise<unknown> => {
    const { promise, resolve } = Promise.withResolvers<JSONRPCMessage>();
    Object.assign(client, { onmessage: resolve });
    const message = JSON.parse(text) as { params: { _meta: Record<string, unknown> } };
    message.params['_meta'][LEASE_EXTENSION] = meta;
    await client.send(message as unknown as JSONRPCMessage);
    const answer = await promise;
    return 'error' in answer ? (answer.error.data as { readonly code: string }).code : answer;
  };
  await client.start();
  const lease = mint({ audience: AUDIENCE });
  const canonical = await import('#kernel/canonical.ts');
  const signed = (text: string): object => ({
    lease: lease.token,
    proof: lease.prove('tools/call', AUDIENCE, canonical.canonicalText(JSON.parse(text)) ?? ''),
  });
  assert.equal(await ask(undefined), 'lease_missing');
  assert.equal(await ask({ grant: 'g1' }), 'lease_missing');
  assert.equal(await ask({ lease: lease.token }), 'lease_missing');
  assert.equal(await ask(signed(callText('C-103'))), 'body_digest');
  assert.equal(entered, 0);
  assert.match(JSON.stringify(await ask(signed(callText('C-102')))), /"records":\[\{"id":"C-102"/);
  await served.close();
});

function callText(claimId: string): string {
  return rpcBody('tools/call', { name: 'claims.read', arguments: { claim_id: claimId } });
}
