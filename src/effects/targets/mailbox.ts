/** The receiving side of the outbox: what the mail server says it was given, by Message-ID. It counts by itself. */
import { parseStrictJson } from '#kernel/strict-json.ts';
import type { Clock } from '#ports/clock.ts';
import { z } from 'zod';
import { exchange } from '../http/http-exchange.ts';

const delivered = z.looseObject({
  message_id: z.string(),
  /** How often a message with this id was taken on. */
  delivery_count: z.int().min(1),
  received_at: z.string(),
  envelope_to: z.array(z.string()),
  /** `sha256:` and hex of the content as it came. */
  content_digest: z.string(),
});
export type Delivered = z.infer<typeof delivered>;

export type Delivery =
  | { readonly found: 'delivered'; readonly delivered: Delivered }
  | { readonly found: 'absent' }
  | { readonly found: 'hidden'; readonly reason: string };

export interface Mailbox {
  /** Never rejects. `absent` is said by the server itself: it has taken on no such message. */
  find(messageId: string, signal: AbortSignal): Promise<Delivery>;
}

export interface HttpMailboxOptions {
  /** `GET <url>/messages/<message id>` answers with the delivery, or 404. */
  readonly url: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** A mailbox that is asked over HTTP. */
export function createHttpMailbox({ url, timeoutMs, clock }: HttpMailboxOptions): Mailbox {
  return {
    find: async (messageId, signal) => {
      const got = await exchange(
        {
          method: 'GET',
          url: new URL(`${url}/messages/${encodeURIComponent(messageId)}`),
          headers: { accept: 'application/json' },
          body: undefined,
          timeoutMs,
          continueWaitMs: undefined,
          replyBytesMax: 65_536,
        },
        clock,
        signal,
      );
      if (got.got === 'nothing') return { found: 'hidden', reason: got.reason };
      if (got.status === 404) return { found: 'absent' };
      if (got.status !== 200) return { found: 'hidden', reason: `it answered ${got.status}` };
      const json = parseStrictJson(got.body);
      const parsed = delivered.safeParse(json.ok ? json.value : undefined);
      return parsed.success && parsed.data.message_id === messageId
        ? { found: 'delivered', delivered: parsed.data }
        : { found: 'hidden', reason: 'it answered in another form than agreed' };
    },
  };
}
