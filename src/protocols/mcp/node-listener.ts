/**
 * A web-standard handler on a Node HTTP server. Own code because the proof covers exact bytes: the SDK's adapter decodes a body to
 * text first (a byte order mark and invalid UTF-8 are lost) and answers an oversized one without problem+json. Source: SEAMS §1.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Listening {
  readonly host: string;
  readonly port: number;
  /** Ends open connections; a call in flight is cut. */
  close(): Promise<void>;
}

export interface ListenOptions {
  readonly path: string;
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** More is not buffered: the handler is given one byte beyond, which is enough to refuse it. */
  readonly bodyBytesMax: number;
}

export type WebHandler = (request: Request) => Promise<Response>;

/** Listens and hands each request on `path` to `handle`; any other path is 404. A client that goes away aborts the request's signal. */
export async function listen(options: ListenOptions, handle: WebHandler): Promise<Listening> {
  const server = createServer((incoming, outgoing) => {
    void answer({ incoming, outgoing, options }, handle);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { address, port } = server.address() as AddressInfo;
  return {
    host: address,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Arrived {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly options: ListenOptions;
}

async function answer(arrived: Arrived, handle: WebHandler): Promise<void> {
  const { incoming, outgoing, options } = arrived;
  const gone = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort();
  });
  try {
    const asked = incoming.url?.split('?', 1)[0];
    const response =
      asked === options.path
        ? await handle(await toRequest(incoming, options, gone.signal))
        : new Response(null, { status: 404 });
    const body = new Uint8Array(await response.arrayBuffer());
    for (const [name, value] of response.headers) outgoing.setHeader(name, value);
    outgoing.setHeader('content-length', body.byteLength);
    // A body that was not read to its end cannot be followed by another request on this connection.
    if (!incoming.complete) outgoing.setHeader('connection', 'close');
    outgoing.statusCode = response.status;
    outgoing.end(body);
    incoming.resume();
  } catch {
    if (!outgoing.headersSent) outgoing.statusCode = 500;
    outgoing.end();
  }
}

async function toRequest(incoming: IncomingMessage, options: ListenOptions, signal: AbortSignal): Promise<Request> {
  const headers = new Headers();
  for (let at = 0; at + 1 < incoming.rawHeaders.length; at += 2)
    headers.append(incoming.rawHeaders[at] ?? '', incoming.rawHeaders[at + 1] ?? '');
  const method = incoming.method ?? 'GET';
  const url = `http://${options.host}${incoming.url ?? '/'}`;
  if (method === 'GET' || method === 'HEAD') return new Request(url, { method, headers, signal });
  return new Request(url, { method, headers, signal, body: await readBody(incoming, options.bodyBytesMax) });
}

async function readBody(incoming: IncomingMessage, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let count = 0;
  // Not destroyed on leaving: the refusal still has to be written on this socket.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    count += chunk.byteLength;
    if (count > bytesMax) break;
  }
  return new Uint8Array(Buffer.concat(chunks).subarray(0, bytesMax + 1));
}
