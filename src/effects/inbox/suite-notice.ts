/** A notice for the inbox adapters' tests. */
import type { InboxNotice } from '#ports/inbox.ts';

export const NOTICE: InboxNotice = {
  noticeId: 'apv_7.requested',
  occasion: 'requested',
  approvalId: 'apv_7',
  tenant: 't9',
  runId: 'run_1',
  role: 'approver',
  title: 'Send a notice to member m42',
  actionDigest: `sha256:${'a'.repeat(64)}`,
  requestedBy: 'requester@t9',
  expiresAt: '2026-07-23T10:00:00.000Z',
  url: 'http://127.0.0.1:8080/approvals/apv_7',
};
