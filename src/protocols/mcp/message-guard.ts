/**
 * The server's side of a message transport: the guard decides over each request before the SDK sees it, and what the client wrote
 * under our metadata key is always replaced by a grant that we issue. No lease means deny here too. Source: SEAMS §1, LEASE.
 */
import { LEASE_EXTENSION } from '#contracts/lease.ts';
import type { Authenticated, Checked, Refusal } from '#ports/guard.ts';
import {
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
  type ServerContext,
  type Transport,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { admit, leaseConsumed } from './admission.ts';
import type { McpGrant } from './grant.ts';
import type { GuardedMcpOptions } from './guarded-fetch.ts';
import { messageLease, provenText, withMeta } from './message-proof.ts';
import { mcpMessage, RPC_ERRORS } from './wire.ts';
import { wrapTransport } from './wrap-transport.ts';

export type MessageGuardOptions = Pick<GuardedMcpOptions, 'server' | 'guard' | 'audience' | 'commitUse'>;

export interface MessageGuard {
  readonly transport: Transport;
  /** The grant of the request that the SDK is serving. */
  grantOf(context: ServerContext): McpGrant | undefined;
}

/** Decorates a server's transport. Of a client's notifications only `notifications/cancelled` passes, after its request. */
export function guardTransport(inner: Transport, options: MessageGuardOptions): MessageGuard {
  const door: Door = { ...options, inner, grants: new Map(), deciding: new Map(), grantCount: 0 };
  const transport = wrapTransport(inner, {
    send: (message, sendOptions) => {
      if (isJSONRPCResponse(message)) forget(door, message.id);
      return inner.send(message, sendOptions);
    },
    receive: (message, deliver) => {
      if (isJSONRPCRequest(message)) void decide(door, message, deliver);
      else if ('method' in message && message.method === 'notifications/cancelled') void cancel(door, message, deliver);
    },
  });
  return { transport, grantOf: (context) => door.grants.get(grantIn(context))?.grant };
}

interface Door extends MessageGuardOptions {
  readonly inner: Transport;
  readonly grants: Map<string, { readonly grant: McpGrant; readonly id: RequestId }>;
  /** Requests that wait for their lease's consumption: a cancellation must not overtake its request. */
  readonly deciding: Map<RequestId, Promise<void>>;
  grantCount: number;
}

type Deliver = (message: JSONRPCMessage) => void;

async function decide(door: Door, message: JSONRPCRequest, deliver: Deliver): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  door.deciding.set(message.id, promise);
  try {
    const decided = await judge(door, message);
    if ('granted' in decided) deliver(granted(door, message, decided.granted));
    else await door.inner.send({ jsonrpc: '2.0', id: message.id, error: decided.error });
  } catch {
    await door.inner
      .send({ jsonrpc: '2.0', id: message.id, error: { code: -32_603, message: `${door.server.name} failed.` } })
      .catch(() => undefined);
  } finally {
    door.deciding.delete(message.id);
    resolve();
  }
}

interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: object;
}

async function judge(
  door: Door,
  request: JSONRPCRequest,
): Promise<{ readonly granted: McpGrant } | { readonly error: RpcError }> {
  const checked = authenticate(door, request);
  if (checked.outcome !== 'permit') return { error: refusalError(checked) };
  const message = mcpMessage.safeParse(withMeta(request, undefined));
  if (!message.success)
    return { error: { code: RPC_ERRORS.invalidRequest, message: 'Expected one JSON-RPC request.' } };
  const admission = admit(message.data, checked.value, door);
  switch (admission.kind) {
    case 'unknown-method':
      return { error: { code: RPC_ERRORS.methodNotFound, message: 'This server has no such method.' } };
    case 'refused':
      return { error: refusalError(admission.refusal) };
    case 'list':
      return { granted: admission.grant };
    case 'call': {
      const used = await door.commitUse(door.guard.consumption(checked.value));
      if (used === 'consumed') return { error: refusalError(leaseConsumed(checked.value.lease.jti)) };
      return { granted: admission.grant };
    }
  }
}

function authenticate({ guard, audience }: Door, request: JSONRPCRequest): Checked<Authenticated> {
  const shown = messageLease.safeParse(request.params?.['_meta']?.[LEASE_EXTENSION]).data;
  return guard.authenticate({
    authorization: shown && `DPoP ${shown.lease}`,
    proof: shown?.proof,
    method: request.method,
    target: audience,
    // A message without a canonical form has a body that no proof covers.
    body: new TextEncoder().encode(provenText(request) ?? '!not-canonical'),
  });
}

function refusalError({ outcome, code, boundary, message }: Refusal): RpcError {
  return { code: RPC_ERRORS.refused, message: 'refused', data: { outcome, code, boundary, detail: message } };
}

function granted(door: Door, message: JSONRPCRequest, grant: McpGrant): JSONRPCMessage {
  const key = `g${(door.grantCount += 1)}`;
  door.grants.set(key, { grant, id: message.id });
  return withMeta(message, { grant: key });
}

function forget(door: Door, id: RequestId | undefined): void {
  for (const [key, held] of door.grants) if (held.id === id) door.grants.delete(key);
}

const cancelled = z.looseObject({ requestId: z.union([z.string(), z.number()]) });

async function cancel(door: Door, message: JSONRPCMessage, deliver: Deliver): Promise<void> {
  const asked = 'params' in message ? cancelled.safeParse(message.params).data : undefined;
  if (!asked) return;
  await door.deciding.get(asked.requestId);
  deliver(message);
}

const grantKey = z.looseObject({ grant: z.string() });

function grantIn({ mcpReq: { _meta: meta } }: ServerContext): string {
  return grantKey.safeParse(meta?.[LEASE_EXTENSION]).data?.grant ?? '';
}
