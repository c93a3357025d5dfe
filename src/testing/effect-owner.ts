/**
 * Somebody else's HTTP API that keeps what `Idempotency-Key` and `If-Match` promise, on a free port, and fails as it is told. It counts
 * what it applied by itself. For tests, drills and campaigns.
 */
import { canonicalText } from '#kernel/canonical.ts';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Each is used up by one write, except `hide_readback`, which is a state of the owner. */
export type OwnerFault =
  /** 503 instead of `100 Continue`: it never has the request. */
  | 'unavailable_before'
  /** 503 after it applied. */
  | 'unavailable_after'
  /** Applies, then drops the connection without a word. */
  | 'drop_reply'
  /** Takes the request, applies nothing, drops the connection. */
  | 'drop_request'
  /** Applies and never answers. */
  | 'hang'
  /** Somebody else's change is applied just before. */
  | 'move_version'
  /** Answers 202 and applies nothing. */
  | 'accept_only'
  /** Answers with this status before it looks. */
  | { readonly status: number };

export interface OwnerEffect {
  readonly reference: string;
  readonly resource_id: string;
  readonly version: string;
  readonly applied_at: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface EffectOwner extends AsyncDisposable {
  readonly origin: string;
  /** The fault of the next write. */
  fault: OwnerFault | undefined;
  /** While true, the owner answers no question about effects. */
  hideReadBack: boolean;
  /** How often an effect was applied under this key, of any tenant. */
  appliedCount(key: string): number;
  /** Of all keys. */
  readonly appliedTotal: number;
  /** Sets a resource as somebody else would: one version further. */
  put(tenant: string, id: string, record: Readonly<Record<string, unknown>>): void;
  /** Changes a resource or a shown effect without a new version. */
  spoil(key: string): void;
}

/** The paths to configure an HTTP target with. */
export const OWNER_PATHS = {
  resource: '/tenants/{tenant}/tickets/{id}',
  effect: '/tenants/{tenant}/effects/{key}',
} as const;

interface Resource {
  version: number;
  record: Readonly<Record<string, unknown>>;
}

interface World {
  readonly resources: Map<string, Resource>;
  readonly effects: Map<string, OwnerEffect & { readonly body: string }>;
  readonly applied: string[];
  fault: OwnerFault | undefined;
  hideReadBack: boolean;
  readonly now: OwnerClock;
}

/** RFC 3339. */
type OwnerClock = () => string;

/** Listens on 127.0.0.1. `now`: RFC 3339, of the effects it shows. */
export async function serveEffectOwner(now: OwnerClock): Promise<EffectOwner> {
  const world: World = {
    resources: new Map(),
    effects: new Map(),
    applied: [],
    fault: undefined,
    hideReadBack: false,
    now,
  };
  const server = createServer((request, response) => void answer(world, request, response));
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (world.fault === 'unavailable_before') {
      world.fault = undefined;
      response.writeHead(503, { connection: 'close' }).end();
      return;
    }
    response.writeContinue();
    void answer(world, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    get fault() {
      return world.fault;
    },
    set fault(fault) {
      world.fault = fault;
    },
    get hideReadBack() {
      return world.hideReadBack;
    },
    set hideReadBack(hidden) {
      world.hideReadBack = hidden;
    },
    appliedCount: (key) => world.applied.filter((applied) => applied === key).length,
    get appliedTotal() {
      return world.applied.length;
    },
    put: (tenant, id, record) => put(world, `${tenant}/${id}`, record),
    spoil: (key) => spoil(world, key),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function put({ resources }: World, at: string, record: Readonly<Record<string, unknown>>): number {
  const version = (resources.get(at)?.version ?? 0) + 1;
  resources.set(at, { version, record });
  return version;
}

function spoil({ effects, resources }: World, key: string): void {
  for (const [at, effect] of effects) {
    if (!at.endsWith(`/${key}`)) continue;
    const tenant = at.slice(0, at.indexOf('/'));
    const resource = resources.get(`${tenant}/${effect.resource_id}`);
    if (resource !== undefined) resource.record = { ...resource.record, state: 'spoilt' };
  }
}

async function answer(world: World, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, , tenant = '', kind, rest = ''] = (request.url ?? '').split('/').map(decodeURIComponent);
  if (request.method === 'PUT' && kind === 'tickets') return write(world, `${tenant}/${rest}`, { request, response });
  if (request.method === 'GET' && kind === 'tickets') {
    const resource = world.resources.get(`${tenant}/${rest}`);
    return resource === undefined
      ? reply(response, { status: 404 })
      : reply(response, { status: 200, body: resource.record, etag: `"v${resource.version}"` });
  }
  if (request.method === 'GET' && kind === 'effects') {
    if (world.hideReadBack) return reply(response, { status: 503 });
    const effect = world.effects.get(`${tenant}/${rest}`);
    if (effect === undefined) return reply(response, { status: 404 });
    const { body: _, ...shown } = effect;
    return reply(response, { status: 200, body: shown });
  }
  reply(response, { status: 405 });
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly etag?: string | undefined;
}

function reply(response: ServerResponse, { status, body, etag }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...(etag === undefined ? {} : { etag }) });
  response.end(JSON.stringify(body ?? {}));
}

interface Wire {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

async function write(world: World, at: string, { request, response }: Wire): Promise<void> {
  const body = await text(request);
  const fault = world.fault;
  world.fault = undefined;
  if (typeof fault === 'object') return reply(response, { status: fault.status });
  if (fault === 'drop_request') return void request.socket.destroy();
  if (fault === 'accept_only') return reply(response, { status: 202 });
  if (fault === 'move_version') put(world, at, { ...world.resources.get(at)?.record, moved: true });
  const [status, etag] = decide(world, at, { request, body });
  if (fault === 'drop_reply') return void request.socket.destroy();
  if (fault === 'hang') return;
  if (fault === 'unavailable_after') return reply(response, { status: 503 });
  reply(response, { status, etag });
}

function decide(
  world: World,
  at: string,
  { request, body }: { readonly request: IncomingMessage; readonly body: string },
): readonly [status: number, etag?: string] {
  const key = /^"(.+)"$/.exec(String(request.headers['idempotency-key'] ?? ''))?.[1];
  if (key === undefined) return [400];
  const tenant = at.slice(0, at.indexOf('/'));
  const first = world.effects.get(`${tenant}/${key}`);
  const same = `${at} ${canonicalText(JSON.parse(body))}`;
  if (first !== undefined) return first.body === same ? [200, `"${first.version}"`] : [422];
  const current = world.resources.get(at);
  const etag = current === undefined ? undefined : `"v${current.version}"`;
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
  if (ifMatch === undefined && ifNoneMatch === undefined) return [428];
  if (ifMatch !== undefined ? ifMatch !== etag : current !== undefined) return etag === undefined ? [412] : [412, etag];
  const parameters = JSON.parse(body) as Readonly<Record<string, unknown>>;
  const version = `v${put(world, at, parameters)}`;
  world.applied.push(key);
  const reference = `change-${world.applied.length}`;
  const effect = { reference, resource_id: at.slice(tenant.length + 1), version, applied_at: world.now(), parameters };
  world.effects.set(`${tenant}/${key}`, { ...effect, body: same });
  return [200, `"${version}"`];
}
