/**
 * Artifacts in an S3-compatible service: `<endpoint>/<bucket>/<prefix><tenant>/<hex>`, every request signed (AWS Signature Version 4) with
 * the digest of its body, so that a changed body is refused by the service too. The signing is `aws4fetch`'s, an optional peer.
 * Source: DESIGN §4 "files or S3".
 */
import { ARTIFACT_BYTES_MAX } from '#contracts/artifact.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { Digest, Tenant } from '#contracts/ids.ts';
import { digestOfBytes } from '#kernel/digest.ts';
import type { ArtifactStore } from '#ports/artifact-store.ts';
import type { Clock } from '#ports/clock.ts';
import { addressOf, assertSize, checked, hexOf } from './artifact-key.ts';

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface S3ArtifactsOptions {
  /** Scheme and host, such as `https://s3.eu-central-1.amazonaws.com`; the bucket is named in the path. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  /** Before every key, such as `caseops/`. Default none. */
  readonly prefix?: string;
  /** Asked for at each request, so that a rotated key is used at once. */
  readonly credentials: () => S3Credentials | Promise<S3Credentials>;
  readonly clock: Clock;
  readonly fetch?: typeof fetch;
  /** Of one try, the body included. Default 30,000 ms. */
  readonly timeoutMs?: number;
}

/** Tries of one request; every one of them may be repeated, since a key has one content. */
const TRY_COUNT_MAX = 3;
const BACKOFF_MS_FIRST = 100;
const TIMEOUT_MS_DEFAULT = 30_000;

/** Passes the artifact suite. Throws ERR_CONFIG when options are not well formed; ERR_STORE, retryable where a later try may help. */
export function createS3Artifacts(options: S3ArtifactsOptions): ArtifactStore {
  const base = baseOf(options);
  const urlOf = (tenant: Tenant, digest: Digest): string => `${base}${tenant}/${hexOf(tenant, digest)}`;
  return {
    put: async (tenant, bytes) => {
      const digest = addressOf(bytes);
      const answer = await request(options, { method: 'PUT', url: urlOf(tenant, digest), bytes });
      if (answer.status >= 300) throw refused(options, 'PUT', answer.status);
      return digest;
    },
    get: async (tenant, digest) => {
      const answer = await request(options, { method: 'GET', url: urlOf(tenant, digest) });
      if (answer.status === 404) return undefined;
      if (answer.status !== 200) throw refused(options, 'GET', answer.status);
      return checked(answer.bytes, { tenant, digest });
    },
    has: async (tenant, digest) => {
      const answer = await request(options, { method: 'HEAD', url: urlOf(tenant, digest) });
      if (answer.status !== 404 && answer.status !== 200) throw refused(options, 'HEAD', answer.status);
      return answer.status === 200;
    },
    remove: async (tenant, digest) => {
      const url = urlOf(tenant, digest);
      const before = await request(options, { method: 'HEAD', url });
      if (before.status === 404) return false;
      const answer = await request(options, { method: 'DELETE', url });
      if (answer.status !== 404 && answer.status >= 300) throw refused(options, 'DELETE', answer.status);
      return true;
    },
  };
}

interface Outgoing {
  readonly method: 'PUT' | 'GET' | 'HEAD' | 'DELETE';
  readonly url: string;
  readonly bytes?: Uint8Array;
}

interface Answer {
  readonly status: number;
  readonly bytes: Uint8Array;
}

/** Asks until there is an answer that a further try would not change. */
async function request(options: S3ArtifactsOptions, outgoing: Outgoing): Promise<Answer> {
  for (let count = 1; ; count += 1) {
    const isLast = count >= TRY_COUNT_MAX;
    try {
      const answer = await requestOnce(options, outgoing);
      if (isLast || !isPassing(answer.status)) return answer;
    } catch (error) {
      if (isLast || !(error instanceof CaseOpsError) || !error.retryable) throw error;
    }
    await options.clock.sleep(BACKOFF_MS_FIRST * 2 ** (count - 1));
  }
}

async function requestOnce(options: S3ArtifactsOptions, outgoing: Outgoing): Promise<Answer> {
  const { clock, fetch: network = fetch, timeoutMs = TIMEOUT_MS_DEFAULT } = options;
  const headers = await signed(options, outgoing);
  const timeout = new AbortController();
  const disarm = clock.at(clock.nowMs() + timeoutMs, () => timeout.abort());
  try {
    const response = await network(outgoing.url, {
      method: outgoing.method,
      headers,
      // A redirect would carry the bytes to a place that nobody configured.
      redirect: 'error',
      signal: timeout.signal,
      ...(outgoing.bytes === undefined ? {} : { body: outgoing.bytes as Uint8Array<ArrayBuffer> }),
    });
    return { status: response.status, bytes: await readBounded(response) };
  } catch (error) {
    if (error instanceof CaseOpsError) throw error;
    const why = timeout.signal.aborted ? `gave no answer within ${timeoutMs} ms` : 'could not be reached';
    throw new CaseOpsError('ERR_STORE', `The artifact bucket ${options.bucket} at ${options.endpoint} ${why}.`, {
      at: 'store',
      cause: error,
    });
  } finally {
    disarm();
  }
}

async function signed(options: S3ArtifactsOptions, { method, url, bytes }: Outgoing): Promise<Headers> {
  const { AwsV4Signer } = await loadSigner();
  const { accessKeyId, secretAccessKey, sessionToken } = await options.credentials();
  const body = bytes ?? new Uint8Array();
  const signer = new AwsV4Signer({
    method,
    url,
    headers: { 'x-amz-content-sha256': digestOfBytes(body).slice('sha256:'.length) },
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    service: 's3',
    region: options.region,
    // `20260801T090000Z`: from the clock port, as all time here.
    datetime: options.clock.now().replace(/[-:]|\.\d+/g, ''),
  });
  return (await signer.sign()).headers;
}

async function loadSigner(): Promise<typeof import('aws4fetch')> {
  try {
    return await import('aws4fetch');
  } catch (error) {
    throw new CaseOpsError('ERR_CONFIG', 'Artifacts in S3 need the package aws4fetch beside caseops: install it.', {
      at: 'store',
      cause: error,
    });
  }
}

async function readBounded(response: Response): Promise<Uint8Array> {
  const declared = Number(response.headers.get('content-length') ?? 0);
  if (response.status === 200 && declared > ARTIFACT_BYTES_MAX) {
    await response.body?.cancel();
    assertSize(declared);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    assertSize(size);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The service says "later", or its own failure. */
function isPassing(status: number): boolean {
  return status === 429 || status >= 500;
}

function refused({ bucket, endpoint }: S3ArtifactsOptions, method: string, status: number): CaseOpsError {
  const advice = status === 403 ? '; check its key, its clock and the bucket policy' : '';
  return new CaseOpsError(
    'ERR_STORE',
    `The artifact bucket ${bucket} at ${endpoint} answered ${method} with ${status}${advice}.`,
    {
      at: 'store',
      retryable: isPassing(status),
      detail: { status, bucket },
    },
  );
}

function baseOf({ endpoint, bucket, prefix = '' }: S3ArtifactsOptions): string {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  const plain = url !== undefined && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === '';
  if (!plain || url.username !== '')
    throw new CaseOpsError('ERR_CONFIG', 'The endpoint of an artifact bucket is a scheme and a host, nothing more.', {
      at: 'store',
    });
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket) || !/^([A-Za-z0-9_-]+\/)*$/.test(prefix))
    throw new CaseOpsError('ERR_CONFIG', `Bucket ${bucket} or prefix ${prefix} cannot stand in a path.`, {
      at: 'store',
    });
  return `${url.origin}/${bucket}/${prefix}`;
}
