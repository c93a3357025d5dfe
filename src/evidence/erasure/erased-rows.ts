/** Rows beside the log as they stay after an erasure: ids, digests, keys and states; no value, no text. INV-12, INV-13. Decision 0022. */
import type { ApprovalRow } from '#contracts/approval.ts';
import type { EffectRow } from '#contracts/effect-row.ts';
import type { LeaseRow } from '#contracts/lease.ts';

const ERASED = '[erased]';

/** Who decided when on which digest stays; what the action, its view and its evidence said does not. */
export function erasedApproval(row: ApprovalRow): ApprovalRow {
  const { proposal, decisions, closedReason } = row;
  const { action } = proposal;
  return {
    ...row,
    proposal: {
      ...proposal,
      action: { ...action, resource: nobody(action.resource), parameters: {} },
      presentational: {},
      before: null,
      view: { title: ERASED, rows: [] },
      evidence: [],
    },
    decisions: decisions.map((decision) => ({
      ...decision,
      reason: decision.reason === null ? null : ERASED,
      evidenceInView: [],
    })),
    closedReason: closedReason === null ? null : ERASED,
  };
}

/** Its idempotency key and digests stay, so that no second effect is ever applied under them. */
export function erasedEffect(row: EffectRow): EffectRow {
  const { receipt, history } = row;
  return {
    ...row,
    resource: nobody(row.resource),
    receipt: receipt === null ? null : { ...receipt, resource: nobody(receipt.resource), reference: ERASED },
    artifactRef: null,
    history: history.map((turn) => ({ ...turn, note: ERASED })),
  };
}

/** What it allowed and for how long stays; on whose record does not. */
export function erasedLease(row: LeaseRow): LeaseRow {
  return { ...row, resources: [...new Set(row.resources.map(nobody))] };
}

/** `member:m42` → `member:erased`. */
function nobody(resource: string): string {
  return `${resource.slice(0, Math.max(0, resource.indexOf(':')))}:erased`;
}
