/** The parameters of each operation, as both bindings carry them. Source: A2A 1.0.1 §3.1. */
import { TaskState, taskStateFromJSON, taskStateToJSON } from '@a2a-js/sdk';
import {
  type A2AError,
  ContentTypeNotSupportedError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import { z } from 'zod';
import { ARTIFACT_MEDIA_TYPE } from '#contracts/artifact.ts';
import { timestamp } from '#contracts/ids.ts';
import { readDispatchMessage, wireMessage } from './dispatch-message.ts';
import type { ListQuery, OperationOf } from './operation.ts';

const PAGE_SIZE_DEFAULT = 50;
const PAGE_SIZE_MAX = 100;

export type Params<T> =
  | { readonly ok: true; readonly value: T; readonly wire: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly error: A2AError };

const OUTPUT_MODES = new Set([ARTIFACT_MEDIA_TYPE, 'application/json', 'application/*', '*/*']);

const tenantName = z.string().max(64).optional();
const sendParams = z.object({
  tenant: tenantName,
  message: z.unknown(),
  configuration: z
    .object({
      acceptedOutputModes: z.array(z.string().max(256)).max(32).optional(),
      returnImmediately: z.boolean().optional(),
      taskPushNotificationConfig: z.unknown().optional(),
    })
    .optional(),
});

export function readSendParams(params: unknown, stream: boolean): Params<OperationOf<'send'>> {
  const read = sendParams.safeParse(params);
  if (!read.success) return malformed(`The parameters of a send do not conform: ${firstFault(read.error)}.`);
  const { configuration } = read.data;
  if (configuration?.taskPushNotificationConfig !== undefined)
    return { ok: false, error: new PushNotificationNotSupportedError() };
  const modes = configuration?.acceptedOutputModes ?? [];
  if (modes.length > 0 && !modes.some((mode) => OUTPUT_MODES.has(mode)))
    return { ok: false, error: new ContentTypeNotSupportedError(`Artifacts are ${ARTIFACT_MEDIA_TYPE} only.`) };
  const message = readDispatchMessage(read.data.message);
  if (!message.ok) return malformed(message.reason);
  // One dispatch is one task: a second turn would be another dispatch with a lease of its own.
  if (message.value.taskId !== undefined)
    return { ok: false, error: new UnsupportedOperationError('A task takes one message; task ids are made here.') };
  const tenant = named(read.data.tenant);
  const returnImmediately = configuration?.returnImmediately ?? false;
  const wire = { ...(tenant && { tenant }), message: wireMessage(message.value), configuration: { returnImmediately } };
  return { ok: true, value: { kind: 'send', stream, returnImmediately, message: message.value, tenant }, wire };
}

const TASK_ID = /^[A-Za-z0-9._~-]{1,128}$/;
const taskParams = z.object({ tenant: tenantName, id: z.string() });

/** A task id that cannot have been made here does not exist. */
export function readTaskParams(
  params: unknown,
): Params<{ readonly taskId: string; readonly tenant: string | undefined }> {
  const read = taskParams.safeParse(params);
  if (!read.success) return malformed(`The parameters must name a task: ${firstFault(read.error)}.`);
  if (!TASK_ID.test(read.data.id)) return { ok: false, error: new TaskNotFoundError('No such task.') };
  const tenant = named(read.data.tenant);
  return { ok: true, value: { taskId: read.data.id, tenant }, wire: { ...(tenant && { tenant }), id: read.data.id } };
}

const stateName = z
  .union([z.string().max(64), z.int()])
  .transform((value) => taskStateFromJSON(value))
  .refine((state) => state !== TaskState.UNRECOGNIZED);
const listParams = z.object({
  tenant: tenantName,
  contextId: z.string().max(128).optional(),
  status: stateName.optional(),
  pageSize: z.int().min(1).max(PAGE_SIZE_MAX).optional(),
  pageToken: z.string().max(512).optional(),
  historyLength: z.int().min(0).optional(),
  statusTimestampAfter: timestamp.optional(),
  includeArtifacts: z.boolean().optional(),
});

export function readListParams(params: unknown): Params<OperationOf<'list'>> {
  const read = listParams.safeParse(params);
  if (!read.success) {
    const where = read.error.issues[0]?.path.map(String).join('.') ?? '';
    return malformed(`The parameters of a list do not conform${where === '' ? '' : ` at ${where}`}.`);
  }
  const tenant = named(read.data.tenant);
  const state: TaskState | undefined =
    read.data.status === TaskState.TASK_STATE_UNSPECIFIED ? undefined : read.data.status;
  const query: ListQuery = {
    contextId: named(read.data.contextId),
    state,
    pageSize: read.data.pageSize ?? PAGE_SIZE_DEFAULT,
    pageToken: named(read.data.pageToken),
    updatedAfter: read.data.statusTimestampAfter,
    includeArtifacts: read.data.includeArtifacts ?? false,
  };
  const wire = {
    ...(tenant && { tenant }),
    ...(query.contextId && { contextId: query.contextId }),
    ...(state !== undefined && { status: taskStateToJSON(state) }),
    pageSize: query.pageSize,
    ...(query.pageToken && { pageToken: query.pageToken }),
    ...(query.updatedAfter && { statusTimestampAfter: query.updatedAfter }),
    ...(query.includeArtifacts && { includeArtifacts: true }),
  };
  return { ok: true, value: { kind: 'list', query, tenant }, wire };
}

/** Last-Event-ID: a sequence of the task's log. */
export function readLastEventId(header: string | undefined): Params<number | undefined> {
  if (header === undefined || header === '') return { ok: true, value: undefined, wire: {} };
  if (!/^\d{1,15}$/.test(header)) return malformed('Last-Event-ID must be the id of an event of this task.');
  return { ok: true, value: Number(header), wire: {} };
}

/** Where the first thing that does not conform is, what was expected there, and what came. */
export function firstFault({ issues: [first] }: z.ZodError): string {
  const where = first?.path.map((part) => `/${String(part)}`).join('') ?? '';
  return `at ${where || 'the top'}: ${first?.message ?? 'no value'}`;
}

/** A refusal that names what was expected. */
function malformed(message: string): { readonly ok: false; readonly error: A2AError } {
  return { ok: false, error: new RequestMalformedError(message) };
}

function named(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
