/** What the outbox is made of. */
import type { Clock } from '#ports/clock.ts';
import type { LiveRecord } from '#ports/effect-target.ts';
import type { SmtpServer } from '../mail/send-mail.ts';
import type { Mailbox } from './mailbox.ts';

export interface OutboxTargetOptions {
  /** A SQLite file. */
  readonly path: string;
  readonly smtp: SmtpServer;
  /** `CaseOps <notices@insurer.example>`. */
  readonly from: string;
  /** The address of a member; undefined: unknown, and nothing is sent. Recipients come from here and nowhere else. */
  readonly directory: (tenant: string, memberId: string) => string | undefined;
  /** The draft or claim record that a notice rests on, as it is now; throws when its owner cannot be asked. */
  readonly record: (resource: string, tenant: string, signal: AbortSignal) => Promise<LiveRecord>;
  readonly mailbox: Mailbox;
  readonly clock: Clock;
  /** One attempt, from connecting to the server's last reply. Default 10,000. */
  readonly timeoutMs?: number;
  /** After an attempt has begun and nobody settled it, how long it may still be under way. Default: twice `timeoutMs`. */
  readonly settleMs?: number;
  readonly resourceType?: string;
}
