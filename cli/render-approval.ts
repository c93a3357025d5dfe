/** Approvals and effects as text: what is to be done, before and after, and what a decision must name. */
import type { ApprovalRow, EffectRow } from 'caseops';

export function approvalLine({ approvalId, state, proposal, runId }: ApprovalRow): string {
  return `${approvalId}  ${state.padEnd(9)}  ${proposal.action.action} ${proposal.action.resource}  ${runId}  until ${proposal.expiresAt}`;
}

export function approvalText(row: ApprovalRow): string {
  const { proposal, decisions, closedReason } = row;
  const { view, rule, evidence, actionDigest } = proposal;
  return [
    `${row.approvalId}  ${row.state}`,
    view.title,
    '',
    ...view.rows.map(
      ({ pointer, before, after }) => `  ${pointer}\n    now   ${before ?? '(nothing)'}\n    then  ${after}`,
    ),
    ...Object.entries(proposal.presentational).map(
      ([name, value]) => `  ${name} (shown only)  ${JSON.stringify(value)}`,
    ),
    '',
    `Evidence  ${evidence.map(({ anchor, version }) => `${anchor}@${version}`).join(', ') || 'none'}`,
    `Decided by  ${rule.quorumCount} × ${rule.role} (${rule.mode}, policy ${rule.policyName})`,
    `Digest  ${actionDigest}`,
    `Expires  ${proposal.expiresAt}`,
    ...decisions.map(
      ({ by, disposition, reason, decidedAt }) =>
        `${decidedAt}  ${by} ${disposition}${reason === null ? '' : `: ${reason}`}`,
    ),
    ...(closedReason === null ? [] : [closedReason]),
    ...(row.state === 'pending'
      ? ['', `caseops approvals approve ${row.approvalId} --digest ${actionDigest} --as approver@${row.tenant}`]
      : []),
  ].join('\n');
}

export function effectLine({ effectId, state, action, resource, runId, updatedAt }: EffectRow): string {
  return `${effectId}  ${state.padEnd(19)}  ${action} ${resource}  ${runId}  ${updatedAt}`;
}

export function effectText(row: EffectRow): string {
  return [
    `${row.effectId}  ${row.state}`,
    `${row.action} on ${row.resource} through ${row.target}`,
    `Key  ${row.idempotencyKey}`,
    `Approval  ${row.approvalId}   Lease  ${row.leaseId}   Expected version  ${row.expectedVersion ?? '(none)'}`,
    ...(row.receipt === null ? [] : [`Receipt  ${row.receipt.reference}, applied ${row.receipt.appliedAt}`]),
    ...row.history.map(({ at, state, attempt, note }) => `${at}  #${attempt}  ${state.padEnd(19)}  ${note}`),
  ].join('\n');
}
