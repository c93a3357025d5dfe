/** The approvals as a fold of events, one row each: what an inbox lists. A store writes it in the transaction of the events. DESIGN §3.10. */
import { APPROVAL_VERSION, type ApprovalRow, type ApprovalState } from '#contracts/approval.ts';
import type { RunEvent } from '#contracts/event.ts';
import type { ApprovalId } from '#contracts/ids.ts';

const REASON_LENGTH_MAX = 2_000;

/** The approval whose row an event opens or changes; undefined for every other event. */
export function approvalOfEvent(event: RunEvent): ApprovalId | undefined {
  switch (event.kind) {
    case 'approval.requested':
    case 'approval.endorsed':
    case 'approval.granted':
    case 'approval.rejected':
    case 'approval.expired':
    case 'approval.staled':
    case 'approval.withdrawn':
    case 'approval.spent':
      return event.body.approvalId;
    default:
      return undefined;
  }
}

/** The row after the event; undefined when the event is of an approval that was never asked for. */
export function foldApprovalRow(row: ApprovalRow | undefined, event: RunEvent): ApprovalRow | undefined {
  if (event.kind === 'approval.requested') return requested(event);
  return row === undefined ? undefined : { ...changed(row, event), updatedAt: event.at };
}

function requested({ at, tenant, runId, body }: Extract<RunEvent, { kind: 'approval.requested' }>): ApprovalRow {
  const { approvalId, stepId, planVersion, proposal } = body;
  return {
    contractVersion: APPROVAL_VERSION,
    approvalId,
    tenant,
    runId,
    stepId,
    planVersion,
    state: 'pending',
    proposal,
    decisions: [],
    requestedAt: at,
    updatedAt: at,
    closedReason: null,
  };
}

function changed(row: ApprovalRow, event: RunEvent): ApprovalRow {
  switch (event.kind) {
    case 'approval.endorsed':
      return { ...row, decisions: [...row.decisions, event.body.decision] };
    case 'approval.granted':
    case 'approval.rejected': {
      const { decision } = event.body;
      const decisions = [...row.decisions, decision];
      const verb = event.kind === 'approval.granted' ? 'approved' : 'rejected';
      return closed({ ...row, decisions }, verb, `${decision.by} ${decision.disposition} it: ${decision.reason ?? ''}`);
    }
    case 'approval.expired':
      return closed(row, 'expired', `Nothing was begun before ${event.body.expiresAt}.`);
    case 'approval.staled': {
      const { field, expected, got } = event.body;
      return closed(row, 'stale', `The ${field} moved from ${expected} to ${got}.`);
    }
    case 'approval.withdrawn':
      return closed(row, 'withdrawn', `${event.body.by} withdrew it: ${event.body.reason}`);
    case 'approval.spent':
      return closed(row, 'spent', `It was spent on effect ${event.body.effectId}.`);
    default:
      return row;
  }
}

function closed(row: ApprovalRow, state: ApprovalState, reason: string): ApprovalRow {
  return { ...row, state, closedReason: reason.slice(0, REASON_LENGTH_MAX) };
}
