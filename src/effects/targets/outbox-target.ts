/**
 * Sends a notice to a member by SMTP. Mail has no idempotency key and no precondition of its own: the outbox keeps a row per
 * Message-ID, derived from the key, and asks the receiving side what it was given before it sends anything a second time. The draft's
 * version is compared just before sending, which is weaker than an owner's precondition and declared so. Source: DESIGN §3.10; INV-12, INV-16.
 */
import { digestOf } from '#kernel/digest.ts';
import type { EffectTarget } from '#ports/effect-target.ts';
import { z } from 'zod';
import type { OutboxTargetOptions } from './outbox-options.ts';
import { outboxPostcondition, readDelivery } from './outbox-readback.ts';
import { openOutboxRows } from './outbox-rows.ts';
import { createOutboxSender } from './outbox-sender.ts';
import { parseParameters } from './parse-parameters.ts';

const accepted = z
  .strictObject({
    /** A member id; what looks like an address is refused. */
    to: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'A recipient is named by member id, never by address.'),
    subject: z
      .string()
      .min(1)
      .max(300)
      .regex(/^[^\p{Cc}\u2028\u2029]*$/u, 'A subject is one line.'),
    body: z
      .string()
      .min(1)
      .max(20_000)
      .regex(/^(?:[^\p{Cc}]|[\n\t])*$/u, 'A body has no control characters but line feeds and tabs.'),
    draft_digest: z.string().optional(),
    /** Shown to the approver only. */
    note: z.string().max(2_000).optional(),
  })
  .transform((parameters, context) => {
    const digest = draftDigestOf(parameters);
    if (parameters.draft_digest !== undefined && parameters.draft_digest !== digest) {
      const message = 'The digest is of another subject and body.';
      context.addIssue({ code: 'custom', path: ['draft_digest'], message });
    }
    return { ...parameters, draft_digest: digest };
  });

/** What a draft's digest covers. */
export function draftDigestOf({ subject, body }: { readonly subject: string; readonly body: string }): string {
  return digestOf({ subject, body });
}

/** Dispose it to close its file. */
export function createOutboxTarget(options: OutboxTargetOptions): EffectTarget & Disposable {
  const rows = openOutboxRows(options.path);
  const timeoutMs = options.timeoutMs ?? 10_000;
  const timing = { timeoutMs, settleMs: options.settleMs ?? 2 * timeoutMs };
  const sender = createOutboxSender({ ...options, ...timing, rows });
  return {
    name: 'notice-outbox',
    action: 'notify:send',
    resourceType: options.resourceType ?? 'notice-draft',
    evidenceType: 'sent-notice',
    presentational: ['note'],
    precondition: 'none',
    authoritativeAbsence: true,
    validate: (value) => parseParameters(accepted, value),
    read: options.record,
    apply: (request, signal) => sender.send(request, signal),
    readBack: (key, action, signal) => readDelivery({ ...options, ...timing, rows, sender }, { key, action }, signal),
    postcondition: outboxPostcondition,
    [Symbol.dispose]: () => rows[Symbol.dispose](),
  };
}
