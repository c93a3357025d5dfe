/**
 * An MCP server as one web-standard function behind the guard, for HTTP and in-process alike: exact bytes → authenticate → strict
 * parse → header match → operation → authorize → consume → SDK. First failure wins; nothing reaches a tool without all of them.
 * Source: SEAMS §1 "Server", LEASE "Checking".
 */
import type { ErrorRecord } from '#contracts/error.ts';
import { parseStrictJson } from '#kernel/strict-json.ts';
import type { Clock } from '#ports/clock.ts';
import type { Authenticated, Guard } from '#ports/guard.ts';
import type { RecordWrite } from '#ports/store.ts';
import type { McpServerDefinition } from '#ports/team-definition.ts';
import type { Telemetry } from '#ports/telemetry.ts';
import { createMcpHandler, isJsonContentType, type McpHttpHandler } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { admit, leaseConsumed } from './admission.ts';
import { readBounded } from './body.ts';
import { McpGrant } from './grant.ts';
import { createKeptAnswers, type KeptAnswer, type KeptAnswers } from './kept-answers.ts';
import { type AnswerRefusal, problemResponse, refusalResponse, rpcErrorResponse } from './problem.ts';
import { createSdkServer } from './sdk-server.ts';
import { MCP_METHODS, MCP_REVISION, mcpMessage, type McpMessage, RPC_ERRORS } from './wire.ts';

export interface GuardedMcpOptions {
  readonly server: McpServerDefinition;
  readonly guard: Guard;
  /** The configured URL: audience of the leases and `htu` of the proofs, whatever the Host header says. */
  readonly audience: string;
  /** Writes the consumption of a lease durably; `consumed` when it was used up before. Called before the tool. */
  readonly commitUse: (record: RecordWrite) => Promise<'ok' | 'consumed'>;
  readonly refuse: AnswerRefusal;
  readonly bodyBytesMax: number;
  readonly clock: Clock;
  readonly telemetry?: Telemetry | undefined;
}

export interface GuardedMcp {
  readonly fetch: (request: Request) => Promise<Response>;
  close(): Promise<void>;
}

interface Room extends GuardedMcpOptions {
  readonly handler: McpHttpHandler;
  readonly answers: KeptAnswers;
}

const JSON_DEPTH_MAX = 32;

/** Guards a defined MCP server. Speaks 2026-07-28 only; an unexpected exception is a 500 without its text. */
export function createGuardedMcp(options: GuardedMcpOptions): GuardedMcp {
  const handler = createMcpHandler(
    () =>
      createSdkServer(options.server, (context) => {
        const grant = context.http?.authInfo?.extra?.['lease'];
        return grant instanceof McpGrant ? grant : undefined;
      }),
    { legacy: 'reject', maxRequestBodySize: options.bodyBytesMax },
  );
  const room: Room = { ...options, handler, answers: createKeptAnswers(options.clock) };
  return {
    fetch: async (request) => {
      try {
        return await serve(request, room);
      } catch {
        return problemResponse({ status: 500, code: 'ERR_TOOL_FAILED', detail: `${options.server.name} failed.` });
      }
    },
    close: () => handler.close(),
  };
}

interface Exchange {
  readonly request: Request;
  readonly raw: Uint8Array<ArrayBuffer>;
  readonly message: McpMessage;
  readonly authenticated: Authenticated;
}

async function serve(request: Request, room: Room): Promise<Response> {
  if (request.method !== 'POST')
    return problemResponse({
      status: 405,
      code: 'ERR_USAGE',
      detail: `Expected POST, got ${request.method}: this server keeps no sessions and no streams.`,
      headers: { allow: 'POST' },
    });
  const raw = await readBounded(request.body, room.bodyBytesMax);
  if (!raw)
    return problemResponse({
      status: 413,
      code: 'ERR_JSON_SIZE',
      detail: `Expected a body of at most ${room.bodyBytesMax} bytes.`,
    });
  const checked = room.guard.authenticate({
    authorization: request.headers.get('authorization') ?? undefined,
    proof: request.headers.get('dpop') ?? undefined,
    method: request.method,
    target: room.audience,
    body: raw,
  });
  if (checked.outcome !== 'permit') return refusalResponse(room.refuse(checked));
  if (!isJsonContentType(request.headers.get('content-type')))
    return problemResponse({ status: 415, code: 'ERR_USAGE', detail: 'Expected content-type application/json.' });
  const message = readMessage(raw, room.bodyBytesMax);
  if (message instanceof Response) return message;
  if (message.id === undefined) return new Response(null, { status: 202 });
  return serveMessage({ request, raw, message, authenticated: checked.value }, room);
}

function readMessage(raw: Uint8Array, bytesMax: number): McpMessage | Response {
  const parsed = parseStrictJson(raw, { bytesMax, depthMax: JSON_DEPTH_MAX });
  if (!parsed.ok) return badBody(parsed.error);
  const message = mcpMessage.safeParse(parsed.value);
  if (message.success) return message.data;
  const faults = message.error.issues.slice(0, 10).map((issue) => `${pointerOf(issue.path)}: ${issue.message}`);
  return problemResponse({
    status: 400,
    code: 'ERR_SCHEMA',
    detail: `Expected one JSON-RPC request; ${faults.join('; ')}.`,
  });
}

function pointerOf(path: readonly PropertyKey[]): string {
  return path.length === 0 ? 'at the top' : `at ${path.map((part) => `/${String(part)}`).join('')}`;
}

function badBody({ code, message }: ErrorRecord): Response {
  return problemResponse({ status: 400, code, detail: message });
}

async function serveMessage(exchange: Exchange, room: Room): Promise<Response> {
  const { message, authenticated } = exchange;
  const id = message.id ?? null;
  if (!headersMatch(exchange.request.headers, message))
    return rpcErrorResponse(400, {
      code: RPC_ERRORS.headerMismatch,
      message: 'The Mcp-Method and Mcp-Name headers must say the same as the body.',
      id,
    });
  const admission = admit(message, authenticated, room);
  switch (admission.kind) {
    case 'unknown-method':
      return rpcErrorResponse(404, { code: RPC_ERRORS.methodNotFound, message: 'This server has no such method.', id });
    case 'refused':
      return refusalResponse(room.refuse(admission.refusal));
    case 'list':
      return forward(exchange, admission.grant, room);
    case 'call':
      return serveCall(exchange, admission.grant, room);
  }
}

async function serveCall(exchange: Exchange, grant: McpGrant, room: Room): Promise<Response> {
  const { authenticated } = exchange;
  const { lease, requestDigest } = authenticated;
  const key = JSON.stringify([lease.iss, lease.jti, requestDigest]);
  const answer = await room.answers.once(key, lease.exp * 1_000, async () => {
    if ((await room.commitUse(room.guard.consumption(authenticated))) === 'consumed')
      return keep(refusalResponse(room.refuse(leaseConsumed(lease.jti))));
    return keep(await tracedCall(exchange, grant, room));
  });
  return new Response(answer.body, {
    status: answer.status,
    headers: new Headers(answer.headers.map(([n, v]) => [n, v])),
  });
}

/** The server's span of a call, in the trace that the caller names; what the caller names is read only after it was authorised. */
async function tracedCall(exchange: Exchange, grant: McpGrant, room: Room): Promise<Response> {
  const asked = askedTrace(exchange);
  const toolName = grant.tools[0]?.contract.tool;
  const { lease } = grant;
  const span = room.telemetry?.startSpan(`tools/call ${toolName ?? ''}`, {
    parent: asked,
    kind: 'server',
    attributes: {
      mcpMethod: MCP_METHODS.call,
      mcpRevision: MCP_REVISION,
      toolName,
      toolServer: room.server.name,
      tenant: lease.tenant,
      leaseId: lease.jti,
    },
  });
  const within = new McpGrant(lease, grant.tools, span === undefined ? asked : span.traceparent);
  try {
    const response = await forward(exchange, within, room);
    span?.end({ attributes: { httpStatus: response.status } });
    return response;
  } finally {
    // Of a call that was not answered; of one that was, this changes nothing.
    span?.end({ error: 'ERR_TOOL_FAILED' });
  }
}

/** The header; else the request's metadata, as on transports without headers. */
function askedTrace({ request, message }: Exchange): string | undefined {
  const told = request.headers.get('traceparent') ?? tracedMeta.safeParse(message.params?.['_meta']).data?.traceparent;
  return told?.slice(0, TRACEPARENT_LENGTH);
}

const tracedMeta = z.looseObject({ traceparent: z.string() });
const TRACEPARENT_LENGTH = 55;

async function keep(response: Response): Promise<KeptAnswer> {
  return {
    status: response.status,
    headers: [...response.headers],
    body: new Uint8Array(await response.arrayBuffer()),
  };
}

function forward({ request, raw, message, authenticated }: Exchange, grant: McpGrant, room: Room): Promise<Response> {
  // Lease and proof stop here: neither the SDK nor a tool sees them.
  const headers = new Headers(request.headers);
  headers.delete('authorization');
  headers.delete('dpop');
  return room.handler.fetch(new Request(request.url, { method: 'POST', headers, body: raw, signal: request.signal }), {
    authInfo: { token: '', clientId: authenticated.lease.client_id, scopes: [], extra: { lease: grant } },
    parsedBody: message,
  });
}

function headersMatch(headers: Headers, message: McpMessage): boolean {
  if (headers.get('mcp-method') !== message.method) return false;
  return message.method !== MCP_METHODS.call || headers.get('mcp-name') === message.params?.['name'];
}
