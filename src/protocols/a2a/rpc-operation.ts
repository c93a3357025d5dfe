/** Reads a JSON-RPC request. No batches: A2A has none. Source: A2A 1.0.1 §9; JSON-RPC 2.0. */
import { A2A_ERROR_CODE, JsonRpcRequestMalformedError } from '@a2a-js/sdk/errors';
import { z } from 'zod';
import type { Operation, ReadOperation } from './operation.ts';
import {
  type Params,
  readLastEventId,
  readListParams,
  readSendParams,
  readTaskParams,
  firstFault,
} from './operation-params.ts';

const id = z.union([z.string().max(256), z.int(), z.null()]).optional();
const envelope = z.object({
  jsonrpc: z.literal('2.0'),
  id,
  method: z.string().min(1).max(128),
  params: z.unknown().optional(),
});

type Reader = (params: unknown, lastEventId: string | undefined) => Params<Operation>;

const METHODS: Readonly<Record<string, Reader>> = {
  SendMessage: (params) => readSendParams(params, false),
  SendStreamingMessage: (params) => readSendParams(params, true),
  GetTask: (params) => taskOperation(params, 'get'),
  CancelTask: (params) => taskOperation(params, 'cancel'),
  ListTasks: (params) => readListParams(params ?? {}),
  SubscribeToTask: (params, lastEventId) => {
    const read = readTaskParams(params);
    if (!read.ok) return read;
    const after = readLastEventId(lastEventId);
    return after.ok ? { ...read, value: { kind: 'subscribe', ...read.value, afterSeq: after.value } } : after;
  },
  GetExtendedAgentCard: () => ({ ok: true, value: { kind: 'extendedCard', tenant: undefined }, wire: {} }),
  CreateTaskPushNotificationConfig: push,
  GetTaskPushNotificationConfig: push,
  ListTaskPushNotificationConfigs: push,
  DeleteTaskPushNotificationConfig: push,
};

/** Refuses: no JSON-RPC 2.0 request (-32600), an unknown method (-32601), parameters that do not conform (-32602). */
export function readRpcOperation(body: unknown, lastEventId: string | undefined): ReadOperation {
  const read = envelope.safeParse(body);
  if (!read.success) {
    const message = `The body must be one JSON-RPC 2.0 request object: ${firstFault(read.error)}.`;
    return refused(A2A_ERROR_CODE.INVALID_REQUEST, message, idOf(body));
  }
  const { method, params } = read.data;
  const rpcId = read.data.id ?? null;
  const reader = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
  if (reader === undefined) return refused(A2A_ERROR_CODE.METHOD_NOT_FOUND, 'There is no such method.', rpcId);
  const operation = reader(params, lastEventId);
  if (!operation.ok) return { ok: false, error: operation.error, rpcId };
  return {
    ok: true,
    operation: operation.value,
    url: '/',
    body: { jsonrpc: '2.0', id: rpcId, method, params: operation.wire },
    rpcId,
  };
}

function taskOperation(params: unknown, kind: 'get' | 'cancel'): Params<Operation> {
  const read = readTaskParams(params);
  return read.ok ? { ...read, value: { kind, ...read.value } } : read;
}

function push(): Params<Operation> {
  return { ok: true, value: { kind: 'push', tenant: undefined }, wire: {} };
}

function idOf(body: unknown): string | number | null {
  if (typeof body !== 'object' || body === null || !('id' in body)) return null;
  const read = id.safeParse(body.id);
  return read.success ? (read.data ?? null) : null;
}

function refused(envelopeCode: number, message: string, rpcId: string | number | null): ReadOperation {
  return { ok: false, error: new JsonRpcRequestMalformedError({ envelopeCode, message }), rpcId };
}
