import type { Applied } from '#ports/effect-target.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { type EffectOwner, type OwnerFault, serveEffectOwner } from '#testing/effect-owner.ts';
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { actionOf, requestOf } from '../suite-target-action.ts';
import type { TargetSubject } from '../suite-target-subject.ts';
import { targetSuite } from '../target-suite.ts';
import { outcomeOf } from './http-outcome.ts';
import { ticketTarget } from './suite-tickets.ts';

const unending = new AbortController().signal;

interface TicketSubject extends TargetSubject {
  readonly owner: EffectOwner;
}

async function ticketSubject(overrides: Parameters<typeof ticketTarget>[2] = {}): Promise<TicketSubject> {
  const owner = await serveEffectOwner(() => '2026-07-23T09:00:00.000Z');
  owner.put('t9', 'T-1', { state: 'open', comment: '' });
  return {
    owner,
    target: ticketTarget(owner.origin, systemClock, overrides),
    tenant: 't9',
    resource: 'ticket:T-1',
    parameters: { state: 'closed', comment: 'done' },
    otherParameters: { state: 'closed', comment: 'done twice' },
    invalid: [
      {},
      { state: 'reopened' },
      { state: 'closed', comment: 1 },
      { state: 'closed', origin: 'http://elsewhere' },
    ],
    shown: { name: 'summary', value: 'Closes the ticket.' },
    effectCount: async (key) => owner.appliedCount(key),
    moveVersion: async () => owner.put('t9', 'T-1', { state: 'open', comment: 'by somebody else' }),
    spoil: async (key) => owner.spoil(key),
    loseReply: () => {
      owner.fault = 'drop_reply';
    },
    hide: async () => {
      owner.hideReadBack = true;
    },
    child: { script: new URL('./http-child.ts', import.meta.url), args: [owner.origin] },
    [Symbol.asyncDispose]: () => owner[Symbol.asyncDispose](),
  };
}

targetSuite('http', () => ticketSubject());

/** One write under a fault: its outcome, and what the owner applied. */
async function under(fault: OwnerFault): Promise<readonly [Applied, number]> {
  await using subject = await ticketSubject({ timeoutMs: 400 });
  const action = await actionOf(subject);
  subject.owner.fault = fault;
  const applied = await subject.target.apply(requestOf(action), unending);
  return [applied, subject.owner.appliedCount(action.idempotencyKey)];
}

for (const [what, fault, outcome, count] of [
  ['503 before it had the request is certain and may be tried again', 'unavailable_before', 'refused_before', 0],
  ['503 after it had the request is unknown, and was applied', 'unavailable_after', 'unknown', 1],
  ['a reply dropped after the effect is unknown, and was applied', 'drop_reply', 'unknown', 1],
  [
    'a connection dropped after the request was read is unknown, though nothing was applied',
    'drop_request',
    'unknown',
    0,
  ],
  ['no answer in time after the request is unknown, and was applied', 'hang', 'unknown', 1],
  ['a resource that moves between the read and the write is not written', 'move_version', 'precondition_failed', 0],
  ['202 says that it may yet happen: unknown', 'accept_only', 'unknown', 0],
  ['409 may be the same key under way: unknown', { status: 409 }, 'unknown', 0],
  ['408 is unknown', { status: 408 }, 'unknown', 0],
  ['a redirect is not followed and unknown', { status: 307 }, 'unknown', 0],
  ['400 is a refusal', { status: 400 }, 'refused_before', 0],
  ['429 is a refusal', { status: 429 }, 'refused_before', 0],
  ['500 is unknown', { status: 500 }, 'unknown', 0],
] as const) {
  test(`http: ${what}`, async () => {
    const [applied, applications] = await under(fault);
    assert.deepEqual([applied.outcome, applications], [outcome, count], JSON.stringify(applied));
  });
}

const reply = (status: number, bodySent = true): Applied =>
  outcomeOf({ got: 'reply', bodySent, status, etag: undefined, body: '' }, [503]);
const retryable = (applied: Applied): boolean => applied.outcome === 'refused_before' && applied.retryable;

test('http: only what may pass later is to be tried again', () => {
  for (const status of [400, 401, 403, 404, 410, 422]) assert.equal(retryable(reply(status)), false, `${status}`);
  for (const status of [425, 429]) assert.equal(retryable(reply(status)), true, `${status}`);
  assert.equal(retryable(reply(503)), true, 'the contract of this owner says that 503 has applied nothing');
  assert.equal(reply(502).outcome, 'unknown');
  assert.equal(retryable(reply(500, false)), true);
  assert.equal(reply(202, false).outcome, 'unknown');
  for (const status of [200, 201, 204]) assert.equal(reply(status).outcome, 'applied');
});

test('http: an owner that is not there was certainly not written to', async () => {
  const subject = await ticketSubject();
  const request = requestOf(await actionOf(subject));
  await subject[Symbol.asyncDispose]();
  const applied = await subject.target.apply(request, unending);
  assert.ok(applied.outcome === 'refused_before' && applied.retryable, JSON.stringify(applied));
  assert.match(applied.message, /ECONNREFUSED/);
  assert.equal((await subject.target.readBack('k', request.action, unending)).found, 'hidden');
  await assert.rejects(subject.target.read('ticket:T-1', 't9', unending), { code: 'ERR_SERVER_UNREACHABLE' });
});

async function withServer(listener: RequestListener, body: (origin: string) => Promise<void>): Promise<void> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await body(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('http: an owner that does not know 100 Continue gets the body after the wait', async () => {
  await using subject = await ticketSubject();
  const action = await actionOf(subject);
  const bodies: string[] = [];
  const server = createServer();
  server.on('checkContinue', (request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      bodies.push(body);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const target = ticketTarget(origin, systemClock, { continueWaitMs: 50 });
  assert.deepEqual(await target.apply(requestOf(action), unending), { outcome: 'applied' });
  assert.deepEqual(bodies, ['{"comment":"done","state":"closed"}']);
  server.closeAllConnections();
  server.close();
});

test('http: the request carries the key, the version, the credentials, and nothing that is only shown', async () => {
  await using subject = await ticketSubject();
  const action = await actionOf(subject);
  const seen: unknown[] = [];
  await withServer(
    (request, response) => {
      const { authorization, 'idempotency-key': key, 'if-match': ifMatch, 'if-none-match': ifNone } = request.headers;
      seen.push([request.method, request.url, authorization, key, ifMatch, ifNone]);
      response.end();
    },
    async (origin) => {
      const target = ticketTarget(origin, systemClock, {
        headers: () => ({ authorization: 'Bearer owner-credential' }),
      });
      await target.apply(requestOf(action), unending);
      await target.apply(requestOf({ ...action, expectedVersion: null, resource: 'ticket:T.9' }), unending);
    },
  );
  const key = `"${action.idempotencyKey}"`;
  assert.deepEqual(seen, [
    ['PUT', '/tenants/t9/tickets/T-1', 'Bearer owner-credential', key, '"v1"', undefined],
    ['PUT', '/tenants/t9/tickets/T.9', 'Bearer owner-credential', key, undefined, '*'],
  ]);
});

test('http: what an action names stays one path segment of the configured origin', async () => {
  const urls: (string | undefined)[] = [];
  await withServer(
    (request, response) => {
      urls.push(request.url);
      response.writeHead(404).end();
    },
    async (origin) => {
      const target = ticketTarget(origin, systemClock);
      for (const id of ['../../admin', 'a?b#c', '//elsewhere.example/x', 'a%2fb'])
        await target.read(`ticket:${id}`, 't9', unending);
    },
  );
  assert.deepEqual(urls, [
    '/tenants/t9/tickets/..%2F..%2Fadmin',
    '/tenants/t9/tickets/a%3Fb%23c',
    '/tenants/t9/tickets/%2F%2Felsewhere.example%2Fx',
    '/tenants/t9/tickets/a%252fb',
  ]);
});

test('http: dots alone lead nowhere', async () => {
  await using subject = await ticketSubject();
  const action = { ...(await actionOf(subject)), resource: 'ticket:..' };
  const applied = await subject.target.apply(requestOf(action), unending);
  assert.ok(applied.outcome === 'refused_before' && !applied.retryable);
  assert.equal((await subject.target.readBack('.', action, unending)).found, 'hidden');
  await assert.rejects(subject.target.read('ticket:.', 't9', unending), { code: 'ERR_USAGE' });
});

test('http: a weak entity tag, a reply that is no JSON and one that is too large are not taken for a version', async () => {
  for (const [etag, body] of [
    ['W/"v1"', '{}'],
    ['"v1"', 'not json'],
    ['"v1"', `"${'x'.repeat(300_000)}"`],
  ] as const) {
    await withServer(
      (_, response) => void response.setHeader('etag', etag).end(body),
      async (origin) => {
        await assert.rejects(ticketTarget(origin, systemClock).read('ticket:T-1', 't9', unending), {
          name: 'CaseOpsError',
        });
      },
    );
  }
});

test('http: an effect shown in another form than agreed is hidden, not absent', async () => {
  await using subject = await ticketSubject();
  const action = await actionOf(subject);
  await withServer(
    (_, response) => void response.end('{"reference": ""}'),
    async (origin) => {
      const found = await ticketTarget(origin, systemClock).readBack('k', action, unending);
      assert.equal(found.found, 'hidden');
    },
  );
});

test('http: an aborted request after the body was sent is unknown', async () => {
  await using subject = await ticketSubject();
  const action = await actionOf(subject);
  subject.owner.fault = 'hang';
  const abort = new AbortController();
  const applying = subject.target.apply(requestOf(action), abort.signal);
  while (subject.owner.appliedCount(action.idempotencyKey) === 0) await systemClock.sleep(5);
  abort.abort();
  assert.equal((await applying).outcome, 'unknown');
});
