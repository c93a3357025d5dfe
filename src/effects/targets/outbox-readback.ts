/** What became of a notice, by the receiving side; the outbox's own row says only whether an attempt may still be under way. */
import type { EffectAction } from '#contracts/effect-action.ts';
import type { AppliedEffect, PostconditionFinding, ReadBack } from '#ports/effect-target.ts';
import { z } from 'zod';
import { contentDigestOf } from './content-digest.ts';
import type { Delivered } from './mailbox.ts';
import type { OutboxRow } from './outbox-rows.ts';
import { messageIdOf, type OutboxSender, type SenderOptions } from './outbox-sender.ts';

interface ReadOptions extends SenderOptions {
  readonly sender: OutboxSender;
}

/** `absent` only when the mail server has no such message and no attempt can still be under way. */
export async function readDelivery(
  options: ReadOptions,
  { key, action }: { readonly key: string; readonly action: EffectAction },
  signal: AbortSignal,
): Promise<ReadBack> {
  const { rows, mailbox, from, clock, settleMs, sender } = options;
  const before = sender.underWay(action.tenant, key);
  const delivery = await mailbox.find(messageIdOf(from, action.tenant, key), signal);
  if (delivery.found === 'hidden')
    return { found: 'hidden', message: `The mailbox cannot be asked: ${delivery.reason}.` };
  const row = rows.find(action.tenant, key);
  if (delivery.found === 'delivered') return shown(delivery.delivered, { row, action });
  if (row?.state === 'sent')
    return { found: 'hidden', message: 'The mail server took the notice and does not show it.' };
  const settledAtMs = (row?.attemptedAtMs ?? 0) + settleMs;
  if (before || (row?.state === 'sending' && clock.nowMs() < settledAtMs))
    return { found: 'hidden', message: 'An attempt may still be under way.' };
  return { found: 'absent' };
}

function shown(
  delivered: Delivered,
  { row, action }: { readonly row: OutboxRow | undefined; readonly action: EffectAction },
): ReadBack {
  const { message_id, delivery_count, received_at, envelope_to, content_digest } = delivered;
  const { to } = action.parameters;
  return {
    found: 'applied',
    reference: message_id,
    version: null,
    appliedAt: received_at,
    record: {
      message_id,
      member_id: to ?? null,
      received_at,
      delivery_count,
      envelope_to: [...envelope_to],
      content_digest,
      composed: row === undefined ? null : { content: row.content, digest: row.contentDigest, address: row.address },
    },
    data: { message_id, member_id: to ?? null, received_at },
  };
}

const record = z.object({
  message_id: z.string(),
  delivery_count: z.number(),
  envelope_to: z.array(z.string()),
  content_digest: z.string(),
  composed: z.object({ content: z.string(), digest: z.string(), address: z.string() }).nullable(),
});

/** One delivery, to the address the directory gave, of the bytes that were composed for this action. */
export function outboxPostcondition(action: EffectAction, applied: AppliedEffect): readonly PostconditionFinding[] {
  const parsed = record.safeParse(applied.record);
  if (!parsed.success) return [{ pointer: '', expected: 'a delivery record', got: 'another record' }];
  const { delivery_count, envelope_to, content_digest, composed } = parsed.data;
  return [
    ...differs('/delivery_count', '1', String(delivery_count)),
    ...differs('/composed/content', contentDigestOf(action), composed?.content ?? 'nothing'),
    ...differs('/content_digest', composed?.digest ?? 'nothing composed', content_digest),
    ...differs('/envelope_to', composed?.address ?? 'nobody', envelope_to.join(', ')),
  ];
}

function differs(pointer: string, expected: string, got: string): readonly PostconditionFinding[] {
  return expected === got ? [] : [{ pointer, expected, got }];
}
