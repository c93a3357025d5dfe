/**
 * A team as an A2A 1.0.1 server: HTTP+JSON and JSON-RPC over one door, behind one guard. Express because the SDK's HTTP binding needs
 * it; nothing of the SDK runs before the gate. Source: PROTOCOLS "A2A"; DESIGN §2.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { AgentCard } from '@a2a-js/sdk';
import { jsonRpcHandler, restHandler } from '@a2a-js/sdk/server/express';
import express, { type ErrorRequestHandler, type Express } from 'express';
import { CaseOpsError } from '#contracts/error.ts';
import { parseStrictJson } from '#kernel/strict-json.ts';
import type { Clock } from '#ports/clock.ts';
import type { Guard, Refusal } from '#ports/guard.ts';
import type { TeamDoor } from '#ports/team-door.ts';
import type { Telemetry } from '#ports/telemetry.ts';
import { CARD_PATH, createCardEndpoint } from './card-endpoint.ts';
import { maskErrors } from './masked-handler.ts';
import { callerOfRequest, createGate, type ProblemAnswer } from './request-gate.ts';
import { createTeamHandler } from './team-handler.ts';
import { answerOf, type Binding } from './wire-error.ts';

/** Paths of the two interfaces below the server's URL. */
export const INTERFACE_PATHS = { rest: '/rest', rpc: '/rpc' } as const;

export interface A2aServerOptions {
  readonly host: string;
  /** 0: any free port; what depends on it is made in `describe`. */
  readonly port: number;
  /** Larger bodies are refused with 413; a dispatch is far below 1 MiB. */
  readonly bodyBytesMax: number;
  readonly clock: Clock;
  readonly telemetry?: Telemetry | undefined;
  /** `continue` (default) or `new`: see the gate. */
  readonly traces?: 'continue' | 'new' | undefined;
}

/** One interface and its own guard: a lease for one interface is not good at the other. */
interface GuardedInterface {
  /** Base URL as leases and proofs name it: `${url}/rest` or `${url}/rpc` unless a proxy stands before. */
  readonly audience: string;
  readonly guard: Guard;
}

/** What is served; made once the server's URL is known, since card and audiences name it. */
export interface ServedTeam {
  readonly door: TeamDoor;
  /** The signed card's wire JSON, served byte for byte. */
  readonly card: string;
  readonly rest: GuardedInterface;
  readonly rpc: GuardedInterface;
  /** How the guard's refusals look in HTTP. */
  readonly refuse: (refusal: Refusal) => ProblemAnswer;
}

export interface A2aServer {
  /** `http://127.0.0.1:41234`, without a slash at the end. */
  readonly url: string;
  /** Ends open streams, then stops listening; resolves when all connections are closed. */
  readonly close: () => Promise<void>;
}

/** Listens, then describes itself, then serves; until then every request is answered 503. Rejects when the port is taken. */
export async function serveA2a(
  options: A2aServerOptions,
  describe: (url: string) => Promise<ServedTeam>,
): Promise<A2aServer> {
  const stopping = new AbortController();
  let handle: (request: IncomingMessage, response: ServerResponse) => void = answerStarting;
  const server = createServer((request, response) => handle(request, response));
  server.requestTimeout = 30_000;
  server.headersTimeout = 10_000;
  const url = await listen(server, options);
  const close = async (): Promise<void> => {
    stopping.abort();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    const force = options.clock.at(options.clock.nowMs() + 1_000, () => server.closeAllConnections());
    await closed;
    force();
  };
  try {
    handle = createApp(options, await describe(url), stopping.signal);
  } catch (error) {
    await close();
    throw error;
  }
  return { url, close };
}

function createApp(options: A2aServerOptions, served: ServedTeam, stopping: AbortSignal): Express {
  const card = AgentCard.fromJSON(parseCard(served.card));
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.get(CARD_PATH, createCardEndpoint(served.card));
  const { telemetry: told } = options;
  if (told !== undefined)
    app.get('/metrics', (_request, response) => {
      response.setHeader('content-type', 'text/plain; version=0.0.4; charset=utf-8').end(told.metrics());
    });
  const { door, refuse } = served;
  for (const { path, binding, guarded, adapter } of [
    { path: INTERFACE_PATHS.rest, binding: 'HTTP+JSON', guarded: served.rest, adapter: restHandler },
    { path: INTERFACE_PATHS.rpc, binding: 'JSONRPC', guarded: served.rpc, adapter: jsonRpcHandler },
  ] as const) {
    const { bodyBytesMax, clock, telemetry, traces } = options;
    const own = { binding, bodyBytesMax, clock, telemetry, traces, stopping };
    const gate = createGate({ door, refuse, ...guarded, ...own });
    const requestHandler = maskErrors(createTeamHandler(door, card), binding);
    app.use(
      path,
      gate,
      adapter({ requestHandler, userBuilder: (request) => Promise.resolve(callerOfRequest(request)) }),
      errorAnswer(binding),
    );
  }
  app.use((_request, response) => {
    const missing = answerOf(new Error('There is nothing at this path.'), 'HTTP+JSON', { status: 404 });
    response.status(404).setHeader('content-type', 'application/json').end(missing.body);
  });
  app.use(errorAnswer('HTTP+JSON'));
  return app;
}

/** Express would answer in HTML and with the error's text. */
function errorAnswer(binding: Binding): ErrorRequestHandler {
  return (_error, _request, response, next) => {
    if (response.headersSent) {
      next(_error);
      return;
    }
    const answer = answerOf(new Error('Internal error.'), binding, { status: 500 });
    response.status(500).setHeader('content-type', 'application/json').end(answer.body);
  };
}

function answerStarting(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' }).end('{"error":"starting"}');
}

function parseCard(text: string): unknown {
  const parsed = parseStrictJson(text);
  if (parsed.ok) return parsed.value;
  throw new CaseOpsError('ERR_CONFIG', `The team's card is not readable: ${parsed.error.message}`, { at: 'a2a' });
}

function listen(server: Server, options: A2aServerOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      const address = server.address();
      if (address === null || typeof address === 'string') return reject(new Error('The server has no TCP address.'));
      const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
      resolve(`http://${host}:${address.port}`);
    });
  });
}
