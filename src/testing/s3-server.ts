/**
 * A small S3 on the loopback for tests: PUT, GET and HEAD of objects below one bucket. It checks each signature by its own reading of AWS
 * Signature Version 4 (docs.aws.amazon.com, "Create a signed AWS API request"), and the digest of each body.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Clock } from '#ports/clock.ts';

export interface S3ServerOptions {
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly clock: Clock;
}

export interface S3Server extends AsyncDisposable {
  readonly endpoint: string;
  /** By key; a test may change them. */
  readonly objects: Map<string, Uint8Array>;
  /** What was asked, in order: `PUT t9/ab…`, with the status that it got. */
  readonly log: { readonly request: string; readonly status: number }[];
  /** Answers the next requests instead of looking: a status, `cut` (half of the body, then the end), or `redirect`. */
  readonly faults: (number | 'cut' | 'redirect')[];
}

const SKEW_MS_MAX = 900_000;

export async function serveS3(options: S3ServerOptions): Promise<S3Server> {
  const objects = new Map<string, Uint8Array>();
  const log: { request: string; status: number }[] = [];
  const faults: (number | 'cut' | 'redirect')[] = [];
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      const body = await readBody(request);
      const given = faultAnswer(faults.shift(), options) ?? answerOf(options, { request, body, objects });
      log.push({ request: `${request.method} ${keyOf(options, request) ?? ''}`, status: given.status });
      send(request, response, given);
    };
    void answer();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    objects,
    log,
    faults,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

interface Answer {
  readonly status: number;
  readonly body?: Uint8Array;
  readonly location?: string;
  readonly isCut?: boolean;
}

function faultAnswer(fault: number | 'cut' | 'redirect' | undefined, { bucket }: S3ServerOptions): Answer | undefined {
  if (fault === undefined) return undefined;
  if (fault === 'redirect') return { status: 307, location: `http://127.0.0.1:9/${bucket}` };
  return fault === 'cut' ? { status: 200, body: new Uint8Array(1_000), isCut: true } : { status: fault };
}

function answerOf(
  options: S3ServerOptions,
  asked: { readonly request: IncomingMessage; readonly body: Buffer; readonly objects: Map<string, Uint8Array> },
): Answer {
  const { request, body, objects } = asked;
  if (signatureFault(options, request, body) !== undefined) return { status: 403 };
  const key = keyOf(options, request);
  if (key === undefined) return { status: 404 };
  if (request.method === 'PUT') {
    objects.set(key, Uint8Array.from(body));
    return { status: 200 };
  }
  if (request.method === 'DELETE') {
    objects.delete(key);
    return { status: 204 };
  }
  const held = objects.get(key);
  return held === undefined ? { status: 404 } : { status: 200, body: held };
}

/** Why a request is not one that the key's owner has signed; undefined when it is. */
function signatureFault(options: S3ServerOptions, request: IncomingMessage, body: Buffer): string | undefined {
  const { headers } = request;
  const match = /^AWS4-HMAC-SHA256 Credential=([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
    headers.authorization ?? '',
  );
  const [, credential = '', signedHeaders = '', signature = ''] = match ?? [];
  const stamp = String(headers['x-amz-date']);
  const scope = `${stamp.slice(0, 8)}/${options.region}/s3/aws4_request`;
  if (credential !== `${options.accessKeyId}/${scope}`) return 'credential';
  if (Math.abs(millisOf(stamp) - options.clock.nowMs()) > SKEW_MS_MAX) return 'time';
  const bodyHash = sha256(body);
  if (headers['x-amz-content-sha256'] !== bodyHash) return 'body';
  const names = signedHeaders.split(';');
  if (!['host', 'x-amz-content-sha256', 'x-amz-date'].every((name) => names.includes(name))) return 'headers';
  const url = new URL(request.url ?? '/', 'http://s3');
  const canonical = [
    request.method,
    url.pathname,
    '',
    ...names.map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    signedHeaders,
    bodyHash,
  ].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', stamp, scope, sha256(canonical)].join('\n');
  const key = scope
    .split('/')
    .reduce<Buffer>((secret, part) => hmac(secret, part), Buffer.from(`AWS4${options.secretAccessKey}`));
  return timingSafeEqual(Buffer.from(hmac(key, toSign).toString('hex')), Buffer.from(signature))
    ? undefined
    : 'signature';
}

function keyOf({ bucket }: S3ServerOptions, { url = '' }: IncomingMessage): string | undefined {
  return url.startsWith(`/${bucket}/`) ? url.slice(bucket.length + 2) : undefined;
}

function send(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  const { status, body = new Uint8Array(), location, isCut } = answer;
  response.writeHead(status, {
    'content-length': isCut === true ? body.byteLength * 2 : body.byteLength,
    ...(location === undefined ? {} : { location }),
  });
  if (request.method === 'HEAD') response.end();
  else if (isCut === true) response.write(body, () => response.destroy());
  else response.end(body);
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** `20260801T090000Z`. */
function millisOf(stamp: string): number {
  return Date.parse(stamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

function hmac(key: Buffer, data: string): Buffer {
  return createHmac('sha256', key).update(data).digest();
}
