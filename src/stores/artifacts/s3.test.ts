import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ARTIFACT_BYTES_MAX } from '#contracts/artifact.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { serveS3, type S3Server, type S3ServerOptions } from '#testing/s3-server.ts';
import { artifactSuite } from './artifact-suite.ts';
import { createS3Artifacts, type S3ArtifactsOptions } from './s3.ts';

const place: S3ServerOptions = {
  bucket: 'caseops-artifacts',
  region: 'eu-central-1',
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'a test secret/with+signs=',
  clock: systemClock,
};

const openAt = (server: Pick<S3Server, 'endpoint'>, over: Partial<S3ArtifactsOptions> = {}) =>
  createS3Artifacts({
    endpoint: server.endpoint,
    bucket: place.bucket,
    region: place.region,
    prefix: 'caseops/',
    credentials: () => ({ accessKeyId: place.accessKeyId, secretAccessKey: place.secretAccessKey }),
    clock: systemClock,
    ...over,
  });

/** Changes what is sent after it was signed. */
const tampering: typeof fetch = (input, init) =>
  fetch(input, init?.method === 'PUT' ? { ...init, body: 'changed' } : init);

const silent: typeof fetch = (_input, init) =>
  new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(new Error('aborted'))));

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

artifactSuite('s3', async () => {
  const server = await serveS3(place);
  return {
    open: () => openAt(server),
    bytesMax: ARTIFACT_BYTES_MAX,
    damage: async (tenant, digest) => {
      const key = `caseops/${tenant}/${digest.slice('sha256:'.length)}`;
      const held = server.objects.get(key) ?? new Uint8Array();
      server.objects.set(
        key,
        Uint8Array.from(held, (byte, index) => (index === 0 ? byte ^ 1 : byte)),
      );
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
});

test('a request is signed: with another secret, region or clock the service refuses it and nothing is stored', async () => {
  await using server = await serveS3(place);
  const late = { ...systemClock, now: () => '2020-01-01T00:00:00.000Z' };
  const wrong: readonly Partial<S3ArtifactsOptions>[] = [
    { credentials: () => ({ accessKeyId: place.accessKeyId, secretAccessKey: 'another' }) },
    { credentials: () => ({ accessKeyId: 'ANOTHER', secretAccessKey: place.secretAccessKey }) },
    { region: 'us-east-1' },
    { clock: late },
  ];
  for (const over of wrong) {
    const store = openAt(server, over);
    await assert.rejects(store.put('t9', bytesOf('x')), { code: 'ERR_STORE', retryable: false, message: /403/ });
    await assert.rejects(store.has('t9', `sha256:${'0'.repeat(64)}`), { code: 'ERR_STORE' });
  }
  assert.equal(server.objects.size, 0);
});

test('bytes that are changed on their way are refused by the service, since the signature covers their digest', async () => {
  await using server = await serveS3(place);
  await assert.rejects(openAt(server, { fetch: tampering }).put('t9', bytesOf('as it was')), { code: 'ERR_STORE' });
  assert.equal(server.objects.size, 0);
});

test('a passing failure is tried again, a lasting one ends after three tries and says whether to try later', async () => {
  await using server = await serveS3(place);
  const store = openAt(server);
  server.faults.push(503, 429);
  const digest = await store.put('t9', bytesOf('at the third try'));
  assert.deepEqual(
    server.log.map(({ status }) => status),
    [503, 429, 200],
  );
  server.faults.push(500, 500, 500);
  await assert.rejects(store.get('t9', digest), {
    code: 'ERR_STORE',
    retryable: true,
    message: /answered GET with 500/,
  });
  server.faults.push('cut');
  assert.equal(new TextDecoder().decode(await store.get('t9', digest)), 'at the third try');
});

test('a redirect is not followed, and a place that does not answer is named without the key', async () => {
  await using server = await serveS3(place);
  server.faults.push('redirect', 'redirect', 'redirect');
  await assert.rejects(openAt(server).put('t9', bytesOf('x')), (error: Error) => {
    assert.match(error.message, /caseops-artifacts at http:\/\/127\.0\.0\.1:\d+ could not be reached/);
    assert.doesNotMatch(error.message, /test secret|AKID/);
    return true;
  });
  assert.equal(server.objects.size, 0);
});

test('a service that does not answer is given up after the time of a try', async () => {
  const store = openAt({ endpoint: 'http://127.0.0.1:9' }, { fetch: silent, timeoutMs: 20 });
  await assert.rejects(store.has('t9', `sha256:${'0'.repeat(64)}`), { code: 'ERR_STORE', message: /within 20 ms/ });
});

test('an object beyond the wall is refused before it is read', async () => {
  await using server = await serveS3(place);
  const store = openAt(server);
  const digest = await store.put('t9', bytesOf('x'));
  server.objects.set(`caseops/t9/${digest.slice(7)}`, new Uint8Array(ARTIFACT_BYTES_MAX + 1));
  await assert.rejects(store.get('t9', digest), { code: 'ERR_ARTIFACT_SIZE' });
});

test('an endpoint, bucket or prefix that could lead elsewhere is refused when it is configured', () => {
  const at = { endpoint: 'http://127.0.0.1:1' };
  for (const endpoint of ['ftp://x', 'http://user:pw@host', 'http://host/path', 'host', 'http://host/?x'])
    assert.throws(() => openAt({ endpoint }), { code: 'ERR_CONFIG' }, endpoint);
  for (const over of [{ bucket: '../x' }, { bucket: 'A' }, { prefix: '../' }, { prefix: 'no-slash' }])
    assert.throws(() => openAt(at, over), { code: 'ERR_CONFIG' }, JSON.stringify(over));
});
