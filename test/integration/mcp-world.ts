/** Two tools served over loopback HTTP and a host that calls them: what the mcp tests share. */
import { httpAnswer } from '#authority/http-answer.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { ToolContract } from '#contracts/tool-contract.ts';
import type { HeldLease } from '#ports/issuer.ts';
import type { Store } from '#ports/store.ts';
import type { McpServerDefinition, ToolCaller, ToolEndpoint, ToolRecord } from '#ports/team-definition.ts';
import type { ToolHost, ToolOutcome } from '#ports/tool-host.ts';
import type { GuardedMcpOptions } from '#protocols/mcp/guarded-fetch.ts';
import type { ServerLimits } from '#protocols/mcp/server-slots.ts';
import { createMcpToolHost } from '#protocols/mcp/tool-host.ts';
import { openMcpDoor } from '#protocols/mcp/tool-server.ts';
import { defineTool, serveTool } from '#runtime/define-tool.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import { z } from 'zod';
import { guardFor, type LeaseWish, mint } from './mcp-lease.ts';

export const SERVER = 'claims-records';
export const BODY_BYTES_MAX = 65_536;

const input = z.strictObject({ claim_id: z.string(), note: z.string().optional() });
const record = z.strictObject({ claim_id: z.string(), who: z.string() });
const base = {
  server: SERVER,
  version: '1.0.0',
  input,
  record,
  resource: { type: 'claim', argument: 'claim_id' },
  source: 'claims-db',
  anchorType: 'claim',
  purposes: ['investigation'],
  // The tests share a machine; those about deadlines set their own.
  timeoutMs: 60_000,
} as const;

export const readClaim = defineTool({
  ...base,
  name: 'claims.read',
  description: 'Reads a claim.',
  actions: ['claims:read'],
});
export const noteClaim = defineTool({
  ...base,
  name: 'claims.note',
  description: 'Writes a note.',
  actions: ['claims:note'],
  risk: 'effect',
  sideEffect: 'external',
});

export type Handle = (
  args: z.output<typeof input>,
  caller: ToolCaller,
) => readonly ToolRecord<z.output<typeof record>>[] | Promise<readonly ToolRecord<z.output<typeof record>>[]>;

/** Answers with the claim that was asked for, and whose lease asked. */
export const answerClaim: Handle = ({ claim_id }, { leaseId, tenant }) => [
  { id: claim_id, version: 'v17', tenant, observedAt: '2026-07-22T14:11:09Z', data: { claim_id, who: leaseId } },
];

export interface World extends AsyncDisposable {
  readonly url: string;
  readonly contract: ToolContract;
  readonly host: ToolHost;
  /** How often a tool's handler was entered. */
  readonly entered: () => number;
  readonly guarded: GuardedMcpOptions;
  lease(wish?: Omit<LeaseWish, 'audience'> & { readonly audience?: string }): HeldLease;
  call(args: Record<string, unknown>, lease?: HeldLease, options?: CallOptions): Promise<ToolOutcome>;
  close(): Promise<void>;
}

export interface CallOptions {
  readonly contract?: ToolContract;
  readonly signal?: AbortSignal;
}

export interface WorldOptions {
  readonly handle?: Handle;
  /** Replaces what the server serves, such as by a widened contract. */
  readonly tools?: (tools: readonly ToolEndpoint[]) => readonly ToolEndpoint[];
  readonly fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>;
  readonly port?: number;
  readonly limits?: Partial<ServerLimits>;
}

/** The two tools with one handler. */
export function claimsServer(handle: Handle): McpServerDefinition {
  return { name: SERVER, version: '1.2.3', tools: [serveTool(readClaim, handle), serveTool(noteClaim, handle)] };
}

/** A guarded server in the making: its lease consumption is in a store of its own. */
export function guardedServer(audience: string, server: McpServerDefinition, store: Store): GuardedMcpOptions {
  return {
    server,
    guard: guardFor(audience),
    audience,
    commitUse: async (use) => ((await store.write([use])).ok ? 'ok' : 'consumed'),
    refuse: httpAnswer,
    bodyBytesMax: BODY_BYTES_MAX,
    clock: systemClock,
  };
}

export async function openWorld(options: WorldOptions = {}): Promise<World> {
  let entered = 0;
  const defined = claimsServer((args, caller) => {
    entered += 1;
    return (options.handle ?? answerClaim)(args, caller);
  });
  const server = { ...defined, tools: options.tools?.(defined.tools) ?? defined.tools };
  const store = openSqliteStore({ path: ':memory:', clock: systemClock });
  const door = await openMcpDoor({
    host: '127.0.0.1',
    port: options.port ?? 0,
    path: '/mcp',
    bodyBytesMax: BODY_BYTES_MAX,
  });
  const guarded = guardedServer(door.url, server, store);
  door.serve(guarded);
  const host = createMcpToolHost({
    servers: { [SERVER]: door.url },
    clock: systemClock,
    ...(options.fetch && { fetch: options.fetch }),
    ...(options.limits && { limits: options.limits }),
  });
  const lease: World['lease'] = (wish) => mint({ audience: door.url, ...wish });
  return {
    url: door.url,
    contract: readClaim.contract,
    host,
    guarded,
    lease,
    entered: () => entered,
    call: (args, held = lease(), { contract = readClaim.contract, signal = new AbortController().signal } = {}) =>
      host.call(contract, args, held, signal),
    close: () => door.close(),
    [Symbol.asyncDispose]: async () => {
      await host[Symbol.asyncDispose]();
      await door.close();
      await store[Symbol.asyncDispose]();
    },
  };
}

/** A request as an independent client would write it. */
export function callBody(args: Readonly<Record<string, unknown>>, name = 'claims.read'): string {
  return rpcBody('tools/call', { name, arguments: args });
}

export function rpcBody(method: string, params: Readonly<Record<string, unknown>> = {}): string {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  };
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } });
}

export interface RawRequest {
  readonly lease?: HeldLease | undefined;
  readonly body: string | Uint8Array<ArrayBuffer>;
  /** What the proof covers, when that is not the body. */
  readonly signed?: string;
  /** What the proof names as its target, when that is not the URL. */
  readonly target?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends exact bytes with a lease and its proof. */
export function post(
  url: string,
  { lease, body, signed, target = url, method = 'tools/call', headers }: RawRequest,
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(method === 'tools/call' && { 'mcp-name': 'claims.read' }),
      ...(lease && { authorization: `DPoP ${lease.token}`, dpop: lease.prove('POST', target, signed ?? body) }),
      ...headers,
    },
  });
}

/** Status and code of a problem+json answer. */
export async function problemOf(response: Response): Promise<readonly [status: number, code: unknown]> {
  assertProblem(response);
  const body = (await response.json()) as { readonly code?: unknown };
  return [response.status, body.code];
}

function assertProblem(response: Response): void {
  const type = response.headers.get('content-type');
  if (type !== 'application/problem+json')
    throw new CaseOpsError('ERR_USAGE', `Expected problem+json, got ${type} with ${response.status}.`, { at: 'test' });
}
