/**
 * Tells a webhook that an approval waits, with a link to where it is decided. The body is signed as Standard Webhooks does it, so that
 * the receiver knows who says so and when. Whatever the receiver answers, only its status is looked at: a reply never approves.
 * Source: DESIGN §3.10.
 */
import { CaseOpsError } from '#contracts/error.ts';
import { canonicalText } from '#kernel/canonical.ts';
import type { Clock } from '#ports/clock.ts';
import type { Inbox, InboxNotice } from '#ports/inbox.ts';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { exchange } from '../http/http-exchange.ts';
import { attemptAgain, type Attempted } from './attempt-again.ts';

export interface WebhookInboxOptions {
  readonly url: string;
  /** Shared with the receiver; read at each notice and never kept. At least 24 bytes. */
  readonly secret: () => Uint8Array;
  readonly clock: Clock;
  /** One attempt. Default 5,000. */
  readonly timeoutMs?: number;
  /** Default 4. */
  readonly attemptCountMax?: number;
  /** Before the second attempt; doubles each time. Default 500. */
  readonly backoffMs?: number;
}

const SECRET_BYTES_MIN = 24;

/** `notify` throws ERR_SERVER_UNREACHABLE when no attempt was taken, ERR_CONFIG when the secret is too short. */
export function createWebhookInbox(options: WebhookInboxOptions): Inbox {
  const { clock, attemptCountMax = 4, backoffMs = 500 } = options;
  return {
    name: 'webhook',
    notify: async (notice, signal) => {
      const policy = { attemptCountMax, backoffMs, clock };
      const attempted = await attemptAgain(policy, () => post(options, notice, signal), signal);
      if (attempted.taken) return;
      throw new CaseOpsError(
        'ERR_SERVER_UNREACHABLE',
        `The webhook did not take notice ${notice.noticeId}: ${attempted.reason}.`,
        {
          at: 'effects',
          detail: { noticeId: notice.noticeId },
        },
      );
    },
  };
}

async function post(options: WebhookInboxOptions, notice: InboxNotice, signal: AbortSignal): Promise<Attempted> {
  const secret = options.secret();
  if (secret.byteLength < SECRET_BYTES_MIN)
    throw new CaseOpsError('ERR_CONFIG', `A webhook secret has at least ${SECRET_BYTES_MIN} bytes.`, { at: 'effects' });
  const body = canonicalText({ ...notice, url: notice.url ?? null }) ?? '';
  const timestamp = String(Math.floor(options.clock.nowMs() / 1_000));
  const got = await exchange(
    {
      method: 'POST',
      url: new URL(options.url),
      headers: {
        'content-type': 'application/json',
        'webhook-id': notice.noticeId,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signatureOf(secret, { id: notice.noticeId, timestamp, body })}`,
      },
      body,
      timeoutMs: options.timeoutMs ?? 5_000,
      continueWaitMs: undefined,
      replyBytesMax: 65_536,
    },
    options.clock,
    signal,
  );
  if (got.got === 'nothing') return { taken: false, later: true, reason: got.reason };
  if (got.status >= 200 && got.status < 300) return { taken: true };
  const later = got.status >= 500 || got.status === 429 || got.status === 408;
  return { taken: false, later, reason: `it answered ${got.status}` };
}

export interface SignedWebhook {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly timestamp: string;
  readonly body: string;
}

function signatureOf(secret: Uint8Array, { id, timestamp, body }: SignedWebhook): string {
  return createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
}

/** For receivers: whether one of the signatures in the header is of this secret, and the notice not older or newer than `ageSMax`. */
export function isWebhookGenuine(
  webhook: SignedWebhook & { readonly signature: string },
  against: { readonly secret: Uint8Array; readonly nowMs: number; readonly ageSMax: number },
): boolean {
  const ageS = Math.abs(against.nowMs / 1_000 - Number(webhook.timestamp));
  if (!(ageS <= against.ageSMax)) return false;
  const expected = Buffer.from(signatureOf(against.secret, webhook));
  return webhook.signature.split(' ').some((signature) => {
    const given = Buffer.from(signature.replace(/^v1,/, ''));
    return signature.startsWith('v1,') && given.byteLength === expected.byteLength && timingSafeEqual(given, expected);
  });
}
