/**
 * Tells the holders of a role by mail that an approval waits, with a link to where it is decided. The mail says that answering it
 * decides nothing, and nothing reads answers. Source: DESIGN §3.10.
 */
import { CaseOpsError } from '#contracts/error.ts';
import { digestOf } from '#kernel/digest.ts';
import type { Clock } from '#ports/clock.ts';
import type { Inbox, InboxNotice } from '#ports/inbox.ts';
import { addressIn, composeMail } from '../mail/compose-mail.ts';
import { sendMail, type SmtpServer } from '../mail/send-mail.ts';
import { attemptAgain, type Attempted } from './attempt-again.ts';

export interface SmtpInboxOptions {
  readonly smtp: SmtpServer;
  /** `CaseOps <no-reply@insurer.example>`. */
  readonly from: string;
  /** The addresses of a role's holders; from the configuration, never from a notice. */
  readonly holders: (tenant: string, role: string) => readonly string[];
  readonly clock: Clock;
  /** One attempt. Default 10,000. */
  readonly timeoutMs?: number;
  /** Per recipient. Default 3. */
  readonly attemptCountMax?: number;
  /** Before the second attempt; doubles each time. Default 1,000. */
  readonly backoffMs?: number;
}

/**
 * `notify` throws ERR_SERVER_UNREACHABLE when a recipient's mail was not taken, after it has tried the others, and ERR_CONFIG when
 * nobody holds the role. A mail that may have been taken is sent again under the same Message-ID.
 */
export function createSmtpInbox(options: SmtpInboxOptions): Inbox {
  return {
    name: 'mail',
    notify: async (notice, signal) => {
      const addresses = options.holders(notice.tenant, notice.role);
      if (addresses.length === 0)
        throw new CaseOpsError('ERR_CONFIG', `Nobody in ${notice.tenant} holds the role ${notice.role}.`, {
          at: 'effects',
        });
      const failures: string[] = [];
      for (const address of addresses) {
        const attempted = await mailTo(options, { notice, address }, signal);
        if (!attempted.taken) failures.push(attempted.reason);
      }
      if (failures.length === 0) return;
      throw new CaseOpsError(
        'ERR_SERVER_UNREACHABLE',
        `${failures.length} of ${addresses.length} mails of notice ${notice.noticeId} were not taken: ${failures[0]}.`,
        { at: 'effects', detail: { noticeId: notice.noticeId } },
      );
    },
  };
}

async function mailTo(
  options: SmtpInboxOptions,
  { notice, address }: { readonly notice: InboxNotice; readonly address: string },
  signal: AbortSignal,
): Promise<Attempted> {
  const { clock, from, smtp, timeoutMs = 10_000, attemptCountMax = 3, backoffMs = 1_000 } = options;
  const domain = addressIn(from).split('@')[1] ?? 'caseops.invalid';
  const content = await composeMail({
    from,
    to: address,
    subject: oneLine(notice.occasion === 'requested' ? `To approve: ${notice.title}` : `Closed: ${notice.title}`),
    body: bodyOf(notice),
    messageId: `<${digestOf([notice.noticeId, address]).slice(7, 47)}@${domain}>`,
    date: clock.now(),
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
  });
  const mail = { from: addressIn(from), to: address, content };
  const attempt = async (): Promise<Attempted> => {
    const outcome = await sendMail({ server: smtp, timeoutMs, clock }, mail, signal);
    if (outcome.sent === 'yes') return { taken: true };
    return { taken: false, later: outcome.sent === 'unknown' || outcome.retryable, reason: outcome.reason };
  };
  return attemptAgain({ attemptCountMax, backoffMs, clock }, attempt, signal);
}

function bodyOf(notice: InboxNotice): string {
  const waits = notice.occasion === 'requested';
  return [
    oneLine(notice.title),
    '',
    waits
      ? 'This waits for a decision by the role ' + notice.role + '.'
      : 'This is closed: there is nothing left to decide.',
    `Asked for by: ${notice.requestedBy}`,
    `Run: ${notice.runId}`,
    `Approval: ${notice.approvalId}`,
    `Digest of the action: ${notice.actionDigest}`,
    ...(waits ? [`Stands until: ${notice.expiresAt}`] : []),
    '',
    notice.url === undefined
      ? 'Decide it with: caseops approvals show ' + notice.approvalId
      : `Decide it here: ${notice.url}`,
    '',
    'Answering this mail decides nothing, and nobody reads the answers.',
    '',
  ].join('\n');
}

/** A title may hold what an untrusted record says: it stays one line of readable text. */
function oneLine(text: string): string {
  return text
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .slice(0, 200);
}
