/**
 * One HTTP request that knows how far it came. The body is held back until the owner says `100 Continue` (RFC 9110 §10.1.1), so that a
 * refusal before it is certain to have changed nothing; after the first byte of the body nothing is certain any more.
 */
import type { Clock } from '#ports/clock.ts';
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';

export interface HttpRequest {
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** From the start to the last byte of the reply. */
  readonly timeoutMs: number;
  /** How long `100 Continue` is waited for from an owner that may not know it; then the body is sent. Undefined: it is not asked for. */
  readonly continueWaitMs: number | undefined;
  readonly replyBytesMax: number;
}

export type HttpExchange =
  | {
      readonly got: 'reply';
      readonly bodySent: boolean;
      readonly status: number;
      readonly etag: string | undefined;
      readonly body: string;
    }
  | { readonly got: 'nothing'; readonly bodySent: boolean; readonly reason: string };

/** Never rejects; redirects are replies and are not followed. */
export function exchange(request: HttpRequest, clock: Clock, signal: AbortSignal): Promise<HttpExchange> {
  return new Promise((resolve) => {
    const open = request.url.protocol === 'https:' ? httpsRequest : httpRequest;
    const { body, method } = request;
    const { continueWaitMs } = request;
    const length = body === undefined ? {} : { 'content-length': `${utf8Length(body)}` };
    const expecting = continueWaitMs === undefined ? length : { ...length, expect: '100-continue' };
    // A connection of its own: one that was kept and has died says nothing about this request.
    const out = open(request.url, {
      method,
      headers: { ...request.headers, ...(body === undefined ? {} : expecting) },
      signal,
      agent: false,
    });
    let bodySent = false;
    const disarm: (() => void)[] = [];
    const end = (exchanged: HttpExchange): void => {
      for (const stop of disarm) stop();
      out.destroy();
      resolve(exchanged);
    };
    const nothing = (reason: string): void => end({ got: 'nothing', bodySent, reason });
    const send = (): void => {
      if (bodySent || body === undefined) return;
      bodySent = true;
      out.end(body);
    };
    disarm.push(clock.at(clock.nowMs() + request.timeoutMs, () => nothing('no reply in time')));
    out.once('error', (error) => nothing(reasonOf(error)));
    out.once('continue', send);
    out.once('response', (reply) => {
      disarm.push(() => out.off('continue', send));
      readReply(reply, request.replyBytesMax).then(
        (text) => end({ got: 'reply', bodySent, status: reply.statusCode ?? 0, etag: reply.headers.etag, body: text }),
        (error: unknown) => nothing(reasonOf(error)),
      );
    });
    if (body === undefined) out.end();
    else if (continueWaitMs === undefined) send();
    else awaitContinue(out, () => disarm.push(clock.at(clock.nowMs() + continueWaitMs, send)));
  });
}

/** The wait for `100 Continue` starts when there is a connection: until then nothing could have been answered. */
function awaitContinue(out: ClientRequest, arm: () => void): void {
  out.flushHeaders();
  out.once('socket', (socket) => (socket.connecting ? socket.once('connect', arm) : arm()));
}

async function readReply(reply: IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of reply as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > bytesMax) throw new Error(`the reply is larger than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown failure';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
