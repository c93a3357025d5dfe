/**
 * One notice, at most once: the row is written before the first byte, calls of one process under one key share one attempt, and an
 * attempt that nobody settled is taken over only when it can no longer be under way and the receiving side says that nothing came.
 */
import type { EffectAction } from '#contracts/effect-action.ts';
import { digestOf, digestOfBytes } from '#kernel/digest.ts';
import type { Applied, ApplyRequest } from '#ports/effect-target.ts';
import { addressIn, composeMail } from '../mail/compose-mail.ts';
import { sendMail, type MailOutcome } from '../mail/send-mail.ts';
import { contentDigestOf } from './content-digest.ts';
import type { OutboxTargetOptions } from './outbox-options.ts';
import type { OutboxRow, OutboxRows } from './outbox-rows.ts';

export interface SenderOptions extends OutboxTargetOptions {
  readonly rows: OutboxRows;
  readonly timeoutMs: number;
  readonly settleMs: number;
}

export interface OutboxSender {
  send(request: ApplyRequest, signal: AbortSignal): Promise<Applied>;
  /** Whether an attempt of this process is running. */
  underWay(tenant: string, idempotencyKey: string): boolean;
}

/** The header that ties a message to the action it carries out. */
const ACTION_HEADER = 'X-CaseOps-Action';

const nameOf = (tenant: string, key: string): string => `${tenant} ${key}`;

export function createOutboxSender(options: SenderOptions): OutboxSender {
  const running = new Map<string, Promise<Applied>>();
  return {
    underWay: (tenant, key) => running.has(nameOf(tenant, key)),
    send: (request, signal) => {
      const name = nameOf(request.action.tenant, request.idempotencyKey);
      const other = options.rows.find(request.action.tenant, request.idempotencyKey);
      if (other !== undefined && other.content !== contentDigestOf(request.action))
        return Promise.resolve(refused('The key was used for another notice.', false));
      const before = running.get(name);
      if (before !== undefined) return before;
      const attempt = sendOnce(options, request, signal).finally(() => running.delete(name));
      running.set(name, attempt);
      return attempt;
    },
  };
}

/** `<40 hex@domain>`: one per tenant and key. */
export function messageIdOf(from: string, tenant: string, idempotencyKey: string): string {
  const domain = addressIn(from).split('@')[1] ?? 'caseops.invalid';
  return `<${digestOf([tenant, idempotencyKey]).slice(7, 47)}@${domain}>`;
}

async function sendOnce(options: SenderOptions, request: ApplyRequest, signal: AbortSignal): Promise<Applied> {
  const { action, idempotencyKey } = request;
  const row = options.rows.find(action.tenant, idempotencyKey);
  if (row?.state === 'sent') return { outcome: 'applied' };
  if (row?.state === 'sending') {
    const settled = await unsettled(options, row, signal);
    if (settled !== undefined) return settled;
  }
  const moved = await precondition(options, request, signal);
  if (moved !== undefined) return moved;
  const { to } = action.parameters;
  const address = typeof to === 'string' ? options.directory(action.tenant, to) : undefined;
  if (address === undefined) return refused('The directory has no address for this member.', false);
  const taken = await takeAttempt(options, request, { row, address });
  if (taken === undefined) return { outcome: 'unknown', message: 'Another process is sending this notice.' };
  const envelope = { from: addressIn(options.from), to: address, content: taken.content };
  const outcome = await sendMail({ server: options.smtp, ...options }, envelope, signal);
  return settle(options, taken.row, outcome);
}

/** What is known of an attempt that nobody settled; undefined when it is over and nothing came of it. */
async function unsettled(options: SenderOptions, row: OutboxRow, signal: AbortSignal): Promise<Applied | undefined> {
  const delivery = await options.mailbox.find(row.messageId, signal);
  if (delivery.found === 'delivered') {
    options.rows.settle(row, 'sent');
    return { outcome: 'applied' };
  }
  const overAtMs = row.attemptedAtMs + options.settleMs;
  if (delivery.found === 'absent' && options.clock.nowMs() >= overAtMs) return undefined;
  return { outcome: 'unknown', message: 'An earlier attempt may have sent this notice, or may still be under way.' };
}

async function precondition(
  { record }: SenderOptions,
  { action, expectedVersion }: ApplyRequest,
  signal: AbortSignal,
): Promise<Applied | undefined> {
  try {
    const { version } = await record(action.resource, action.tenant, signal);
    if (version === expectedVersion) return undefined;
    const message = `The record is at ${version ?? 'no version'}, not at ${expectedVersion ?? 'none'}.`;
    return { outcome: 'precondition_failed', currentVersion: version, message };
  } catch {
    return refused('The owner of the record that the notice rests on cannot be asked.', true);
  }
}

interface Attempt {
  readonly row: OutboxRow;
  readonly content: Uint8Array;
}

/** The same message on every attempt: its date is that of the first. Undefined when another process was first. */
async function takeAttempt(
  options: SenderOptions,
  { action, idempotencyKey }: ApplyRequest,
  { row, address }: { readonly row: OutboxRow | undefined; readonly address: string },
): Promise<Attempt | undefined> {
  const { rows, clock } = options;
  const composedAt = row?.composedAt ?? clock.now();
  const content = await compose(options, action, { address, composedAt, idempotencyKey });
  const attemptedAtMs = clock.nowMs();
  if (row !== undefined) {
    if (!rows.take(row, attemptedAtMs)) return undefined;
    return { row: { ...row, attempt: row.attempt + 1, attemptedAtMs, state: 'sending' }, content };
  }
  const first: OutboxRow = {
    tenant: action.tenant,
    idempotencyKey,
    messageId: messageIdOf(options.from, action.tenant, idempotencyKey),
    content: contentDigestOf(action),
    contentDigest: digestOfBytes(content),
    address,
    composedAt,
    state: 'sending',
    attempt: 1,
    attemptedAtMs,
  };
  return rows.insert(first) ? { row: first, content } : undefined;
}

function compose(
  { from }: SenderOptions,
  action: EffectAction,
  at: { readonly address: string; readonly composedAt: string; readonly idempotencyKey: string },
): Promise<Uint8Array> {
  const { subject, body } = action.parameters;
  return composeMail({
    from,
    to: at.address,
    subject: typeof subject === 'string' ? subject : '',
    body: typeof body === 'string' ? body : '',
    messageId: messageIdOf(from, action.tenant, at.idempotencyKey),
    date: at.composedAt,
    headers: { [ACTION_HEADER]: contentDigestOf(action) },
  });
}

function settle({ rows }: SenderOptions, row: OutboxRow, outcome: MailOutcome): Applied {
  switch (outcome.sent) {
    case 'yes':
      rows.settle(row, 'sent');
      return { outcome: 'applied' };
    case 'no':
      rows.settle(row, 'not_sent');
      return refused(`The mail server did not take it: ${outcome.reason}.`, outcome.retryable);
    case 'unknown':
      return {
        outcome: 'unknown',
        message: `The mail server was given the notice and did not say: ${outcome.reason}.`,
      };
  }
}

function refused(message: string, retryable: boolean): Applied {
  return { outcome: 'refused_before', message, retryable };
}
