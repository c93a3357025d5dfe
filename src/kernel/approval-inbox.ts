/** The approvals as a fold of events, one row each: what an inbox lists. A store writes it in the transaction of the events. DESIGN §3.10. */
import { APPROVAL_VERSION, type ApprovalRow, type ApprovalState } from '#contracts/approval.ts';
import type { EventKind, RunEvent } from '#contracts/event.ts';
import type { ApprovalId } from '#contracts/ids.ts';

const REASON_LENGTH_MAX = 2_000;

type InboxEvent = Extract<RunEvent, { readonly kind: (typeof INBOX_KINDS)[number] }>;

const INBOX_KINDS = [
  'approval.requested',
  'approval.endorsed',
  'approval.granted',
  'approval.rejected',
  'approval.expired',
  'approval.staled',
  'approval.withdrawn',
  'approval.spent',
] as const satisfies readonly EventKind[];

/** The approval whose row an event opens or changes; undefined for every other event. */
export function approvalOfEvent(event: RunEvent): ApprovalId | undefined {
  return isInboxEvent(event) ? event.body.approvalId : undefined;
}

/** The row after the event; undefined when the event is of an approval that was never asked for. */
export function foldApprovalRow(row: ApprovalRow | undefined, event: RunEvent): ApprovalRow | undefined {
  if (!isInboxEvent(event)) return row;
  if (event.kind === 'approval.requested') return requested(event);
  return row === undefined ? undefined : { ...changed(row, event), updatedAt: event.at };
}

function isInboxEvent(event: RunEvent): event is InboxEvent {
  return INBOX_KINDS.some((kind) => kind === event.kind);
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

function changed(row: ApprovalRow, event: Exclude<InboxEvent, { kind: 'approval.requested' }>): ApprovalRow {
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
  }
}

function closed(row: ApprovalRow, state: ApprovalState, reason: string): ApprovalRow {
  return { ...row, state, closedReason: reason.slice(0, REASON_LENGTH_MAX) };
}
