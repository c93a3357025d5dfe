import { systemClock } from '#runtime/system-clock.ts';
import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { NOTICE } from './suite-notice.ts';
import { createWebhookInbox, isWebhookGenuine } from './webhook-inbox.ts';

const secret = new TextEncoder().encode('a secret of more than 24 bytes');
const unending = new AbortController().signal;

interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly received: { readonly headers: IncomingHttpHeaders; readonly body: string }[];
}

/** Answers with these statuses, one a request, then 204; 0 drops the connection. */
async function receiver(...statuses: number[]): Promise<Receiver> {
  const received: Receiver['received'] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ headers: request.headers, body });
      const status = statuses.shift() ?? 204;
      if (status === 0) return void request.socket.destroy();
      response.writeHead(status, { location: '/elsewhere', 'content-type': 'application/json' });
      return void response.end(status === 204 ? '' : '{"approved": true, "disposition": "approved"}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

const inboxAt = (url: string) =>
  createWebhookInbox({ url, secret: () => secret, clock: systemClock, timeoutMs: 500, backoffMs: 1 });

test('a waiting approval is told with a link and a signature that the receiver can check', async () => {
  await using hook = await receiver();
  await inboxAt(hook.url).notify(NOTICE, unending);
  const [got] = hook.received;
  assert.ok(got !== undefined && hook.received.length === 1);
  assert.deepEqual(JSON.parse(got.body), NOTICE);
  const header = (name: string): string => String(got.headers[name]);
  const webhook = {
    id: header('webhook-id'),
    timestamp: header('webhook-timestamp'),
    signature: header('webhook-signature'),
    body: got.body,
  };
  const against = { secret, nowMs: systemClock.nowMs(), ageSMax: 300 };
  assert.equal(webhook.id, NOTICE.noticeId);
  assert.equal(isWebhookGenuine(webhook, against), true);
  assert.equal(isWebhookGenuine({ ...webhook, body: got.body.replace('m42', 'm43') }, against), false);
  assert.equal(isWebhookGenuine({ ...webhook, id: 'other' }, against), false);
  assert.equal(isWebhookGenuine({ ...webhook, signature: 'v1,' }, against), false);
  assert.equal(isWebhookGenuine({ ...webhook, signature: webhook.signature.replace('v1,', 'v2,') }, against), false);
  assert.equal(isWebhookGenuine({ ...webhook, timestamp: 'now' }, against), false);
  assert.equal(isWebhookGenuine(webhook, { ...against, nowMs: against.nowMs + 301_000 }), false);
  assert.equal(isWebhookGenuine(webhook, { ...against, secret: new Uint8Array(32) }), false);
  assert.equal(isWebhookGenuine({ ...webhook, signature: `v1,AAAA ${webhook.signature}` }, against), true);
});

test('a receiver that is busy or gone is told again, each time under the same id', async () => {
  await using hook = await receiver(503, 0, 429);
  await inboxAt(hook.url).notify(NOTICE, unending);
  assert.deepEqual(
    hook.received.map(({ headers }) => headers['webhook-id']),
    Array.from({ length: 4 }, () => NOTICE.noticeId),
  );
});

test('a receiver that stays busy is given up on, and one that refuses is not asked again', async () => {
  await using busy = await receiver(503, 503, 503, 503, 503);
  await assert.rejects(inboxAt(busy.url).notify(NOTICE, unending), { code: 'ERR_SERVER_UNREACHABLE' });
  assert.equal(busy.received.length, 4);
  for (const status of [400, 401, 410, 307]) {
    await using refusing = await receiver(status);
    await assert.rejects(inboxAt(refusing.url).notify(NOTICE, unending), { code: 'ERR_SERVER_UNREACHABLE' });
    assert.equal(refusing.received.length, 1, `${status}`);
  }
});

test('what a receiver answers is not read: a reply never approves', async () => {
  await using hook = await receiver(200);
  assert.equal(await inboxAt(hook.url).notify(NOTICE, unending), undefined);
});

test('a secret that is too short signs nothing', async () => {
  await using hook = await receiver();
  const inbox = createWebhookInbox({ url: hook.url, secret: () => new Uint8Array(8), clock: systemClock });
  await assert.rejects(inbox.notify(NOTICE, unending), { code: 'ERR_CONFIG' });
  assert.equal(hook.received.length, 0);
});
