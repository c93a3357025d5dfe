/** What a client meets over HTTP when it repeats itself or asks for too much. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INQUIRY_TEXT } from '#testing/inquiry-world.ts';
import { type InquiryService, openInquiryService } from '../campaigns/inquiry-service.ts';

const LIMITS = { runsInFlightMax: 4, runsInFlightPerTenantMax: 4, queueLengthMax: 100, goalsPerMinuteMax: 100 };

function submit(service: InquiryService, tenant: string, by: { key?: string; text?: string } = {}): Promise<Response> {
  return fetch(`${service.url}/api/v1/runs`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tenant}`,
      'content-type': 'application/json',
      ...(by.key === undefined ? {} : { 'idempotency-key': by.key }),
    },
    body: JSON.stringify({ text: by.text ?? INQUIRY_TEXT }),
  });
}

const bodyOf = async (response: Response): Promise<Record<string, unknown>> =>
  (await response.json()) as Record<string, unknown>;

test('the same request under one key 20 times at once is one run; another request under the key is 409', async () => {
  await using service = await openInquiryService({ limits: { ...LIMITS, runsInFlightMax: 1 }, workMs: 300 });
  const responses = await Promise.all(Array.from({ length: 20 }, () => submit(service, 't9', { key: 'k1' })));
  const runs = await Promise.all(responses.map(bodyOf));
  assert.deepEqual([...new Set(responses.map(({ status }) => status))], [202]);
  assert.equal(new Set(runs.map(({ runId }) => runId)).size, 1);
  assert.equal((await service.store.runs({ limit: 100 })).length, 1);
  const replayed = responses.map(({ headers }) => headers.get('idempotency-replayed'));
  assert.equal(replayed.filter((value) => value === 'true').length, 19);
  assert.equal(replayed.filter((value) => value === null).length, 1);
  assert.deepEqual([service.admission.inFlightCount, service.admission.waitingCount], [1, 0]);

  const other = await submit(service, 't9', { key: 'k1', text: 'Why is C-103 held?' });
  assert.equal(other.status, 409);
  assert.equal((await bodyOf(other))['code'], 'ERR_IDEMPOTENCY_KEY_REUSED');
  const foreign = await submit(service, 't8', { key: 'k1' });
  assert.equal(foreign.headers.get('idempotency-replayed'), null);
  assert.equal((await service.store.runs({ limit: 100 })).length, 2);
});

test('another request under a key that is being opened at this moment is 409, whichever came first', async () => {
  await using service = await openInquiryService({ limits: LIMITS, workMs: 10 });
  const texts = ['Why is C-102 held?', 'Why is C-103 held?'];
  const responses = await Promise.all(texts.map((text) => submit(service, 't9', { key: 'k', text })));
  assert.deepEqual(
    responses.map(({ status }) => status).toSorted((a, b) => a - b),
    [202, 409],
  );
  assert.equal((await service.store.runs({ limit: 100 })).length, 1);
});

test('a tenant over its rate gets 429 with Retry-After and RateLimit; another tenant does not', async () => {
  await using service = await openInquiryService({ limits: { ...LIMITS, goalsPerMinuteMax: 2 }, workMs: 10 });
  const first = await submit(service, 't9');
  assert.equal(first.status, 202);
  assert.equal(first.headers.get('ratelimit-policy'), '"goals";q=2;w=60');
  assert.match(first.headers.get('ratelimit') ?? '', /^"goals";r=1;t=\d+$/);
  await submit(service, 't9');
  const refused = await submit(service, 't9');
  assert.equal(refused.status, 429);
  const { code, retryable } = await bodyOf(refused);
  assert.deepEqual([code, retryable], ['ERR_RATE_LIMITED', true]);
  const afterS = Number(refused.headers.get('retry-after'));
  assert.ok(afterS >= 1 && afterS <= 30, `${afterS} s`);
  assert.match(refused.headers.get('ratelimit') ?? '', /^"goals";r=0;/);
  assert.equal((await submit(service, 't8')).status, 202);
  assert.equal((await service.store.runs({ limit: 100 })).length, 3);
});

test('a full queue is 429 with Retry-After, and nothing of the goal is recorded', async () => {
  const limits = { ...LIMITS, runsInFlightMax: 1, queueLengthMax: 2 };
  await using service = await openInquiryService({ limits, workMs: 500 });
  const responses = await Promise.all(Array.from({ length: 4 }, () => submit(service, 't9')));
  assert.deepEqual(
    responses.map(({ status }) => status).toSorted((a, b) => a - b),
    [202, 202, 429, 429],
  );
  const refused = responses.find(({ status }) => status === 429);
  assert.ok(Number(refused?.headers.get('retry-after')) >= 1);
  assert.equal(refused === undefined ? '' : (await bodyOf(refused))['code'], 'ERR_QUEUE_FULL');
  assert.equal((await service.store.runs({ limit: 100 })).length, 2);
});
