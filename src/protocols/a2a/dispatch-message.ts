/**
 * A dispatch as an A2A message: one data part that holds the dispatch, the message id that deduplicates it, and under the extension's
 * URI the lease's id and digest, never the lease. Source: PROTOCOLS "A2A"; A2A 1.0.1 §4.1.4.
 */
import { z } from 'zod';
import { type Message, Role } from '@a2a-js/sdk';
import { dispatch, type Dispatch } from '#contracts/dispatch.ts';
import { digest, type Digest } from '#contracts/ids.ts';
import { LEASE_EXTENSION } from '#contracts/lease.ts';
import { digestOf, digestOfBytes } from '#kernel/digest.ts';
import type { HeldLease } from '#ports/issuer.ts';

export const DISPATCH_MEDIA_TYPE = 'application/vnd.caseops.dispatch+json';

/** The lease that travels beside a message, by reference. */
const leaseReference = z.strictObject({ jti: z.string().min(1).max(80), digest });
type LeaseReference = z.infer<typeof leaseReference>;

const id = z.string().min(1).max(128);
const part = z.object({ data: z.unknown().optional(), mediaType: z.string().max(128).optional() });
/** Members A2A defines and we use; others are dropped before the message goes on. Names in camelCase only. */
const message = z.object({
  messageId: z.string().min(1).max(256),
  contextId: z.string().max(128).optional(),
  taskId: z.string().max(128).optional(),
  role: z.literal('ROLE_USER'),
  parts: z.array(part).min(1).max(16),
  metadata: z.record(z.string(), z.unknown()).optional(),
  referenceTaskIds: z.array(id).max(64).optional(),
});

/** A message as read: what it asks, under which id, with which lease beside it. */
export interface DispatchMessage {
  readonly messageId: string;
  readonly contextId: string | undefined;
  readonly taskId: string | undefined;
  readonly dispatch: Dispatch;
  readonly leaseReference: LeaseReference;
  readonly referenceTaskIds: readonly string[];
  readonly payloadDigest: Digest;
}

export type ReadMessage =
  | { readonly ok: true; readonly value: DispatchMessage }
  | { readonly ok: false; readonly reason: string };

/** Reads the wire form of a message. The reason of a refusal names the member and never repeats its value. */
export function readDispatchMessage(wire: unknown): ReadMessage {
  const read = message.safeParse(wire);
  if (!read.success) return refused('message', read.error);
  const { parts, metadata } = read.data;
  const [only] = parts;
  if (parts.length !== 1 || only?.data === undefined)
    return { ok: false, reason: 'message.parts must be exactly one data part that holds a dispatch.' };
  const parsed = dispatch.safeParse(only.data);
  if (!parsed.success) return refused('message.parts[0].data', parsed.error);
  const reference = leaseReference.safeParse(metadata?.[LEASE_EXTENSION]);
  if (!reference.success) return refused(`message.metadata[${LEASE_EXTENSION}]`, reference.error);
  const referenceTaskIds = read.data.referenceTaskIds ?? [];
  return {
    ok: true,
    value: {
      messageId: read.data.messageId,
      contextId: nonEmpty(read.data.contextId),
      taskId: nonEmpty(read.data.taskId),
      dispatch: parsed.data,
      leaseReference: reference.data,
      referenceTaskIds,
      payloadDigest: payloadDigestOf(parsed.data, referenceTaskIds),
    },
  };
}

/** What a message asks, without its id and without the lease: two messages with one digest ask the same. */
export function payloadDigestOf(asked: Dispatch, referenceTaskIds: readonly string[]): Digest {
  return digestOf({ parts: [{ data: asked }], skillId: asked.skillId, referenceTaskIds });
}

/** The message of a dispatch in the SDK's form; its id is the dispatch id, so that a repeat is the same message. */
export function dispatchMessage(asked: Dispatch, lease: HeldLease, contextId = ''): Message {
  return {
    messageId: asked.dispatchId,
    contextId,
    taskId: '',
    role: Role.ROLE_USER,
    parts: [
      { content: { $case: 'data', value: asked }, metadata: undefined, filename: '', mediaType: DISPATCH_MEDIA_TYPE },
    ],
    metadata: { [LEASE_EXTENSION]: referenceOf(lease) },
    extensions: [LEASE_EXTENSION],
    referenceTaskIds: [],
  };
}

/** The wire form of what was read: nothing that was not understood goes on. */
export function wireMessage(read: DispatchMessage): Readonly<Record<string, unknown>> {
  return {
    messageId: read.messageId,
    ...(read.contextId === undefined ? {} : { contextId: read.contextId }),
    role: 'ROLE_USER',
    parts: [{ data: read.dispatch, mediaType: DISPATCH_MEDIA_TYPE }],
    metadata: { [LEASE_EXTENSION]: read.leaseReference },
    extensions: [LEASE_EXTENSION],
    referenceTaskIds: read.referenceTaskIds,
  };
}

/** Id of the lease and sha-256 of its signing input. */
function referenceOf(lease: HeldLease): LeaseReference {
  return { jti: lease.leaseId, digest: digestOfBytes(lease.token.slice(0, lease.token.lastIndexOf('.'))) };
}

function refused(where: string, error: z.ZodError): ReadMessage {
  const [issue] = error.issues;
  const path = issue === undefined ? '' : issue.path.map((step) => `.${String(step)}`).join('');
  return { ok: false, reason: `${where}${path} does not conform: ${issue?.message ?? 'unreadable'}.` };
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
