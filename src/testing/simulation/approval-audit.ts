/** Approvals and effects of a run, watched from outside: INV-04, INV-12 and INV-13 as its events show them. */
import type { RunEvent } from '#contracts/event.ts';
import type { Proposal } from '#contracts/proposal.ts';
import { canonicalText } from '#kernel/canonical.ts';
import type { Entries, RunAccount } from './run-account.ts';
import type { Report } from './violation.ts';

export interface ApprovalAccount {
  readonly proposal: Proposal;
  /** Different persons who approved exactly this. */
  readonly approvers: Set<string>;
  granted: boolean;
  readonly spentOn: string[];
}

export const APPROVAL_ENTRIES: Entries<Report> = {
  'approval.requested': (run, { body: { approvalId, proposal } }) =>
    void run.approvals.set(approvalId, { proposal, approvers: new Set(), granted: false, spentOn: [] }),
  'approval.endorsed': (run, { body }, report) => approve(run, body, report),
  'approval.granted': (run, { body }, report) => {
    approve(run, body, report);
    const approval = run.approvals.get(body.approvalId);
    if (approval !== undefined) approval.granted = true;
  },
  'approval.spent': (run, { body: { approvalId, effectId } }, report) => {
    const approval = run.approvals.get(approvalId);
    approval?.spentOn.push(effectId);
    if (approval === undefined || approval.spentOn.length > 1)
      report('INV-13', `Approval ${approvalId} of ${run.runId} is spent ${approval?.spentOn.length ?? 0} times.`);
  },
  'effect.intended': intended,
};

function approve(
  run: RunAccount,
  { approvalId, decision }: Extract<RunEvent, { kind: 'approval.granted' }>['body'],
  report: Report,
): void {
  const approval = run.approvals.get(approvalId);
  const { by, actionDigest } = decision;
  if (by === run.requestedBy) report('INV-04', `${by} approves their own request in ${run.runId}.`);
  if (approval?.proposal.actionDigest !== actionDigest)
    report('INV-04', `Approval ${approvalId} of ${run.runId} is given for another action.`);
  approval?.approvers.add(by);
}

function intended(run: RunAccount, { body, at }: Extract<RunEvent, { kind: 'effect.intended' }>, report: Report): void {
  const { effectId, approvalId, action, liveVersion, leaseId } = body;
  const approval = run.approvals.get(approvalId);
  const wrong = (what: string): void => report('INV-04', `Effect ${effectId} of ${run.runId} ${what}.`);
  if (approval === undefined) return wrong('has no approval record');
  const { proposal, approvers, granted, spentOn } = approval;
  if (!granted || approvers.size < proposal.rule.quorumCount) wrong(`is begun on ${approvers.size} approvals`);
  if (!spentOn.includes(effectId)) wrong('is begun without spending its approval');
  if (canonicalText(action) !== canonicalText(proposal.action)) wrong('is another action than was approved');
  if (action.expectedVersion !== liveVersion)
    wrong(`is begun on version ${liveVersion}, not ${action.expectedVersion}`);
  if (action.idempotencyKey.length === 0 || leaseId.length === 0) wrong('has no key or no lease');
  if (Date.parse(proposal.expiresAt) <= Date.parse(at)) wrong('is begun after its approval expired');
}
