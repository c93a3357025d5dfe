/**
 * What people may ask of approvals and effects: part of the one door to runs. Every call acts for an authenticated person; another
 * tenant's approval does not exist for them. Implemented by control. Source: DESIGN §3.10.
 */
import type { ApprovalDecision, ApprovalRow, ApprovalState, Disposition } from '#contracts/approval.ts';
import type { EffectRow, EffectState } from '#contracts/effect-row.ts';
import type { RootGrant } from '#contracts/lease.ts';

export interface DecideRequest {
  readonly approvalId: string;
  /** Of the action that the person saw; another than the pending one is ERR_APPROVAL_DIGEST. */
  readonly digest: string;
  readonly disposition: Disposition;
  /** Needed with everything but a plain approval. */
  readonly reason: string | null;
  /** What was shown besides the view, `claim:C-102@v17`; undefined: the packet's evidence. */
  readonly evidenceInView: readonly string[] | undefined;
  readonly channel: Exclude<ApprovalDecision['channel'], 'policy'>;
  /** The same key and decision return the same row; another decision under it is ERR_IDEMPOTENCY_KEY_REUSED. */
  readonly idempotencyKey?: string | undefined;
}

export interface ReconcileRequest {
  readonly effectId: string;
  /** Undefined: ask the owner. Given: what the person found out, with the reason in writing. */
  readonly finding: 'applied' | 'absent' | undefined;
  readonly reason: string | null;
}

export interface ApprovalDesk {
  /** Newest first. */
  approvals(
    grant: RootGrant,
    query: { readonly state: ApprovalState | undefined; readonly runId: string | undefined; readonly limit: number },
  ): Promise<readonly ApprovalRow[]>;
  /** ERR_NOT_FOUND. */
  approval(grant: RootGrant, approvalId: string): Promise<ApprovalRow>;
  /**
   * The row after the decision; the same decision again returns it unchanged. ERR_APPROVER (role, requester), ERR_APPROVAL_DIGEST,
   * ERR_APPROVAL_STATE, ERR_APPROVAL_EXPIRED, ERR_APPROVAL_STALE, ERR_USAGE (no reason).
   */
  decide(grant: RootGrant, request: DecideRequest): Promise<ApprovalRow>;
  /** By the requester only. */
  withdraw(grant: RootGrant, request: { readonly approvalId: string; readonly reason: string }): Promise<ApprovalRow>;
  /** A new proposal for a stale one, on the live version; returns the new row, or the old one when the effect was there already. */
  repropose(grant: RootGrant, approvalId: string, signal: AbortSignal): Promise<ApprovalRow>;
  /** Latest change first. */
  effects(
    grant: RootGrant,
    query: { readonly state: EffectState | undefined; readonly runId: string | undefined; readonly limit: number },
  ): Promise<readonly EffectRow[]>;
  /** ERR_NOT_FOUND. */
  effect(grant: RootGrant, effectId: string): Promise<EffectRow>;
  /** The row afterwards: unchanged when the owner does not say. A person's finding needs the approvers' role and a reason. */
  reconcile(grant: RootGrant, request: ReconcileRequest, signal: AbortSignal): Promise<EffectRow>;
  /** Undoes an applied effect; needs the approvers' role and a reason. */
  compensate(
    grant: RootGrant,
    request: { readonly effectId: string; readonly reason: string },
    signal: AbortSignal,
  ): Promise<EffectRow>;
}
