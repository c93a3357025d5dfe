/**
 * Where an approver is told that something waits for them: a webhook, a mail. It only tells: a reply never approves, and a failed
 * notice never holds a run up. Source: DESIGN §3.10.
 */
import type { ApprovalId, Digest, RunId, Tenant } from '#contracts/ids.ts';

export interface InboxNotice {
  /** One per approval and occasion; a repeated notice has the same. */
  readonly noticeId: string;
  readonly occasion: 'requested' | 'closed';
  readonly approvalId: ApprovalId;
  readonly tenant: Tenant;
  readonly runId: RunId;
  /** The role that may decide. */
  readonly role: string;
  /** Rendered by code from the action; no parameter values beyond it. */
  readonly title: string;
  readonly actionDigest: Digest;
  readonly requestedBy: string;
  readonly expiresAt: string;
  /** Where it is decided; undefined when nothing is served. */
  readonly url: string | undefined;
}

export interface Inbox {
  readonly name: string;
  /** At least once. Throws CaseOpsError when the notice was not taken; the caller records that and goes on. */
  notify(notice: InboxNotice, signal: AbortSignal): Promise<void>;
}
