/** Reads an HTTP+JSON request: method, path, query, body. Source: A2A 1.0.1 §11.3. */
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import type { Operation, ReadOperation } from './operation.ts';
import { type Params, readLastEventId, readListParams, readSendParams, readTaskParams } from './operation-params.ts';

export interface RestRequest {
  readonly method: string;
  /** Below the interface's base, with query, as received. */
  readonly url: string;
  readonly body: unknown;
  readonly lastEventId: string | undefined;
}

/** Refuses: unknown paths (404), known paths with another method (405, HEAD too), a repeated query name, unreadable parameters. */
export function readRestOperation(request: RestRequest): ReadOperation {
  const parts = split(request.url);
  if (parts === undefined) return refused(new RequestMalformedError('The request path or query is malformed.'));
  const route = findRoute(parts.path);
  if (route === undefined) return refused(new Error('There is no operation at this path.'), 404);
  if (!route.methods.includes(request.method))
    return refused(new Error(`This operation is ${route.methods.join(' or ')}.`), 405);
  const read = route.read({ ...request, query: parts.query, tenant: route.tenant });
  if (!read.ok) return refused(read.error);
  return { ok: true, operation: read.value, url: route.url(read.wire), body: route.bodyOf?.(read.wire), rpcId: null };
}

interface Asked extends RestRequest {
  readonly query: Readonly<Record<string, string>>;
  readonly tenant: string | undefined;
}

interface Route {
  readonly methods: readonly string[];
  readonly tenant: string | undefined;
  readonly read: (asked: Asked) => Params<Operation>;
  readonly url: (wire: Readonly<Record<string, unknown>>) => string;
  readonly bodyOf?: (wire: Readonly<Record<string, unknown>>) => unknown;
}

const HEADS = new Set(['message:send', 'message:stream', 'tasks', 'extendedAgentCard']);

function findRoute(path: readonly string[]): Route | undefined {
  const [first, ...rest] = path;
  if (first === undefined) return undefined;
  if (!HEADS.has(first) && rest[0] !== undefined && HEADS.has(rest[0])) return routeOf(rest, first);
  return routeOf(path, undefined);
}

function routeOf(path: readonly string[], tenant: string | undefined): Route | undefined {
  const [head, item, sub, subItem, ...more] = path;
  if (more.length > 0) return undefined;
  if (head === 'extendedAgentCard' && item === undefined)
    return { methods: ['GET'], tenant, read: (asked) => fixed({ kind: 'extendedCard', tenant: asked.tenant }), url };
  if ((head === 'message:send' || head === 'message:stream') && item === undefined) return sendRoute(head, tenant);
  if (head !== 'tasks') return undefined;
  if (item === undefined) return listRoute(tenant);
  if (sub === 'pushNotificationConfigs')
    return {
      methods: subItem === undefined ? ['GET', 'POST'] : ['GET', 'DELETE'],
      tenant,
      read: (asked) => fixed({ kind: 'push', tenant: asked.tenant }),
      url,
    };
  return sub === undefined ? taskRoute(item, tenant) : undefined;
}

function sendRoute(head: string, tenant: string | undefined): Route {
  return {
    methods: ['POST'],
    tenant,
    read: (asked) => readSendParams(withTenant(asked.body, asked), head === 'message:stream'),
    url: () => `/${head}`,
    bodyOf: (wire) => wire,
  };
}

function listRoute(tenant: string | undefined): Route {
  return {
    methods: ['GET'],
    tenant,
    read: (asked) => readListParams(listQuery(withTenant(asked.query, asked))),
    url: (wire) => {
      const query = new URLSearchParams(Object.entries(wire).map(([name, value]) => [name, String(value)]));
      return `/tasks?${query.toString()}`;
    },
  };
}

function taskRoute(item: string, tenant: string | undefined): Route {
  const colon = item.indexOf(':');
  const id = colon < 0 ? item : item.slice(0, colon);
  const verb = colon < 0 ? '' : item.slice(colon);
  const kind = ({ '': 'get', ':cancel': 'cancel', ':subscribe': 'subscribe' } as const)[verb];
  const methods = { get: ['GET'], cancel: ['POST'], subscribe: ['GET', 'POST'] };
  return {
    methods: kind === undefined ? ['GET'] : methods[kind],
    tenant,
    read: (asked) => {
      const read = readTaskParams(withTenant({ id: kind === undefined ? item : id, ...tenantOf(asked.query) }, asked));
      if (!read.ok) return read;
      if (kind !== 'subscribe') return { ...read, value: { kind: kind ?? 'get', ...read.value } };
      const after = readLastEventId(asked.lastEventId);
      if (!after.ok) return after;
      return { ...read, value: { kind, ...read.value, afterSeq: after.value } };
    },
    url: (wire) => `/tasks/${String(wire['id'])}${verb}`,
  };
}

/** Numbers and booleans of a query are text; anything else is refused by the schema that follows. */
function listQuery(query: unknown): unknown {
  if (typeof query !== 'object' || query === null) return query;
  return Object.fromEntries(
    Object.entries(query)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => {
        if (name === 'pageSize' || name === 'historyLength')
          return [name, /^\d{1,9}$/.test(value) ? Number(value) : value];
        if (name === 'includeArtifacts') return [name, value === 'true' ? true : value === 'false' ? false : value];
        return [name, value];
      }),
  );
}

/** A tenant in the path and another in query or body is two answers to one question: refused by making both visible as malformed. */
function withTenant(params: unknown, asked: Asked): unknown {
  if (asked.tenant === undefined || typeof params !== 'object' || params === null) return params;
  const inside = 'tenant' in params ? params.tenant : undefined;
  if (inside !== undefined && inside !== '' && inside !== asked.tenant) return undefined;
  return { ...params, tenant: asked.tenant };
}

function tenantOf(query: Readonly<Record<string, string>>): { readonly tenant?: string } {
  return query['tenant'] === undefined ? {} : { tenant: query['tenant'] };
}

function split(
  received: string,
): { readonly path: readonly string[]; readonly query: Readonly<Record<string, string>> } | undefined {
  const mark = received.indexOf('?');
  const path = (mark < 0 ? received : received.slice(0, mark)).split('/');
  const query: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(mark < 0 ? '' : received.slice(mark + 1))) {
    if (Object.hasOwn(query, name)) return undefined;
    query[name] = value;
  }
  const decoded = path.slice(1).map(decode);
  return decoded.every((segment) => segment !== undefined) ? { path: decoded, query } : undefined;
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

function url(): string {
  return '/';
}

function fixed(operation: Operation): Params<Operation> {
  return { ok: true, value: operation, wire: {} };
}

function refused(error: Error, status?: number): ReadOperation {
  return { ok: false, error, rpcId: null, ...(status === undefined ? {} : { status }) };
}
