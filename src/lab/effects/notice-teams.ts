/** The teams of the notice goal as the drills need them: each claim has a draft of its own, `C-102` the draft `D-102`. */
import type { Dispatch } from '#contracts/dispatch.ts';
import type { RootGrant } from '#contracts/lease.ts';
import { SUPERVISOR_WORKLOAD } from '#runtime/workloads.ts';
import { INQUIRY_GRANT } from '#testing/inquiry-case.ts';
import type { Finding } from '#testing/scripted-team.ts';

export const REQUESTER: RootGrant = { ...INQUIRY_GRANT, may_act: { sub: SUPERVISOR_WORKLOAD } };
export const APPROVER: RootGrant = { ...REQUESTER, sub: 'approver@t9', actions: [], roles: ['approver'] };
export const SECOND_APPROVER: RootGrant = { ...APPROVER, sub: 'second@t9' };

/** Of the claim's notice. */
export function draftOf(claimId: string): string {
  return `D-${claimId.slice(2)}`;
}

/** What each team's records say about the claim that it is asked about. */
export function findNotice({ skillId, input }: Dispatch): Finding | undefined {
  const claimId = typeof input['claim_id'] === 'string' ? input['claim_id'] : 'C-102';
  const draftId = draftOf(claimId);
  const found: Readonly<Record<string, Finding>> = {
    'resolve-member': {
      data: { member_id: 'm42' },
      anchor: 'member:m42',
      version: 'v3',
      record: { member_id: 'm42', claim_id: claimId },
    },
    'claim-status': {
      data: { cause: 'pending_documents', missing_documents: ['accident_report'] },
      anchor: `claim:${claimId}`,
      version: 'v17',
      record: { claim_id: claimId, status: 'pending_documents', missing: ['accident_report'] },
    },
    'policy-guidance': {
      data: { next_action: 'Ask the member for the report.' },
      anchor: 'policy-rule:motor-7',
      version: 'v2',
      record: { rule_id: 'motor-7', next: 'Ask the member for the report.' },
    },
    'draft-notice': {
      data: { notice_draft: draftId },
      anchor: `notice-draft:${draftId}`,
      version: 'v1',
      record: { draft_id: draftId, body: 'Please send us the report.' },
    },
  };
  return found[skillId];
}
