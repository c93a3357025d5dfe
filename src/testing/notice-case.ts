/** The inquiry case's second goal: draft a notice and send it after approval. For tests of approvals and effects. */
import type { RootGrant } from '#contracts/lease.ts';
import type { GoalKind } from '#ports/goal-kind.ts';
import { INQUIRY_GRANT, INQUIRY_KIND } from './inquiry-case.ts';

export const NOTICE_TEXT = 'Draft the notice for C-102 and send it after approval.';

export const NOTICE_KIND: GoalKind = {
  ...INQUIRY_KIND,
  kind: 'claim-notice',
  recognise: { en: [['\\bsend\\b', '\\bapproval\\b']], ja: [] },
  outputs: [{ kind: 'notice_sent', required: true }],
  prohibitions: [],
  alwaysProhibitedActions: [],
  claims: [
    {
      key: 'sent',
      kind: 'fact',
      output: 'notice_sent',
      sentence: { en: 'The notice was sent as {reference}.', ja: '通知は {reference} として送信されました。' },
      slots: { reference: { anchorType: 'sent-notice', pointer: '/reference', format: 'quote' } },
      impact: { en: 'No notice was sent.', ja: '通知は送信されていません。' },
    },
  ],
};

export const APPROVER: RootGrant = { ...INQUIRY_GRANT, sub: 'approver@t9', actions: [], roles: ['approver'] };
export const SECOND_APPROVER: RootGrant = { ...APPROVER, sub: 'second@t9' };
