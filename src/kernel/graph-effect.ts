/** The part of the context graph that says what was approved, by whom, and what was applied under it. INV-04. Source: DESIGN §5, §3.10. */
import type { EventBody, RunEvent } from '#contracts/event.ts';
import type { EffectReceipt } from '#contracts/receipt.ts';
import { failure } from './failure.ts';
import { nodeId } from './graph-node.ts';
import type { GraphFold } from './graph-plan.ts';
import { addEvidence } from './graph-step.ts';

type Kinds<P extends string> = Extract<RunEvent['kind'], `${P}.${string}`>;
type ApprovalEvent = Extract<RunEvent, { readonly kind: Kinds<'approval'> }>;
type EffectEvent = Extract<RunEvent, { readonly kind: Kinds<'effect'> }>;

/** An approval and the decisions about it. */
export function addApproval({ draft }: GraphFold, event: ApprovalEvent): void {
  const id = nodeId('approval', event.body.approvalId);
  switch (event.kind) {
    case 'approval.requested': {
      const { approvalId, stepId, proposal } = event.body;
      draft.node({ kind: 'approval', ref: approvalId, status: 'pending', digest: proposal.actionDigest });
      return draft.edge('AUTHORIZED_BY', nodeId('step', stepId), id);
    }
    case 'approval.endorsed':
    case 'approval.granted':
    case 'approval.rejected': {
      const { by, disposition, channel } = event.body.decision;
      const detail = { by, disposition, channel };
      const decision = draft.node({ kind: 'decision', ref: String(event.seq), status: disposition, detail });
      if (event.kind !== 'approval.endorsed')
        draft.status(id, event.kind === 'approval.granted' ? 'approved' : 'rejected');
      return draft.edge('VALIDATED_BY', id, decision);
    }
    case 'approval.expired':
      return draft.status(id, 'expired');
    case 'approval.staled':
      return draft.status(id, 'stale');
    case 'approval.withdrawn':
      return draft.status(id, 'withdrawn');
    case 'approval.spent':
      return draft.status(id, 'spent');
  }
}

/** An effect, what authorised it, what was read back of it and how it was undone. */
export function addEffect(fold: GraphFold, event: EffectEvent): void {
  const { draft } = fold;
  const id = nodeId('effect', event.body.effectId);
  switch (event.kind) {
    case 'effect.intended':
      return addIntent(fold, event.body);
    case 'effect.sent':
      draft.node({ kind: 'effect', ref: event.body.effectId, detail: { outcome: event.body.outcome } });
      return undefined;
    case 'effect.confirmed': {
      const { receipt, findings, evidence } = event.body;
      draft.status(id, findings.length === 0 ? 'completed' : 'partially_completed');
      draft.edge('PRODUCED', id, addEvidence(draft, evidence));
      return addReceipt(fold, receipt);
    }
    case 'effect.failed': {
      const { code, kind } = event.body.error;
      draft.status(id, 'failed');
      return draft.edge(
        'BLOCKED_BY',
        id,
        draft.node({ kind: 'error', ref: String(event.seq), status: kind, detail: { code } }),
      );
    }
    case 'effect.unknown':
      return draft.status(id, 'unknown');
    case 'effect.reconciled': {
      const { finding, source, by } = event.body;
      const absent = source === 'owner' ? 'not_started' : 'failed';
      draft.status(id, finding === 'applied' ? 'completed' : absent);
      const detail = { by, source };
      const decision = draft.node({ kind: 'decision', ref: String(event.seq), status: finding, detail });
      return draft.edge('VALIDATED_BY', id, decision);
    }
    case 'effect.retried':
      draft.status(id, 'in_progress');
      return draft.edge('AUTHORIZED_BY', id, draft.node({ kind: 'lease', ref: event.body.leaseId }));
    case 'effect.compensated': {
      draft.status(id, 'compensated');
      const detail = { by: event.body.by };
      const decision = draft.node({ kind: 'decision', ref: String(event.seq), status: 'compensated', detail });
      return draft.edge('COMPENSATED_BY', id, decision);
    }
    case 'effect.replayed':
      return addReplay(fold, event.body);
  }
}

/** An effect whose approval the log does not have is a violation of INV-04. */
function addIntent({ draft }: GraphFold, body: EventBody<'effect.intended'>): void {
  const { effectId, approvalId, stepId, leaseId, attempt, action, actionDigest, liveVersion } = body;
  const approval = nodeId('approval', approvalId);
  const effect = draft.node({
    kind: 'effect',
    ref: effectId,
    status: 'in_progress',
    digest: actionDigest,
    detail: {
      action: action.action,
      target: action.target,
      resource: action.resource,
      idempotencyKey: action.idempotencyKey,
      expectedVersion: action.expectedVersion ?? '',
      liveVersion: liveVersion ?? '',
      stepId,
      approvalId,
      leaseId,
    },
  });
  const lease = draft.node({ kind: 'lease', ref: leaseId, detail: { stepId, attempt: String(attempt) } });
  draft.edge('PRODUCED', nodeId('step', stepId), effect);
  draft.edge('AUTHORIZED_BY', effect, approval);
  draft.edge('AUTHORIZED_BY', effect, lease);
  if (!draft.has(approval))
    draft.violation(
      failure('ERR_INVARIANT', `Effect ${effectId} names approval ${approvalId}, which the log does not have.`, {
        invariant: 'INV-04',
        effectId,
      }),
    );
}

function addReceipt({ draft }: GraphFold, receipt: EffectReceipt): void {
  const { receiptId, effectId, reference, resultVersion, appliedAt, recordDigest } = receipt;
  const detail = { reference, resultVersion: resultVersion ?? '', appliedAt };
  const id = draft.node({ kind: 'receipt', ref: receiptId, status: 'read back', digest: recordDigest, detail });
  draft.edge('PRODUCED', nodeId('effect', effectId), id);
}

/** The effect is of another run; this step only takes its record. */
function addReplay(fold: GraphFold, body: EventBody<'effect.replayed'>): void {
  const { draft } = fold;
  const { stepId, effectId, ownerRunId, state, receipt, evidence } = body;
  const effect = draft.node({ kind: 'effect', ref: effectId, status: state, detail: { ownerRunId, stepId } });
  draft.edge('USED', nodeId('step', stepId), effect);
  if (evidence !== undefined) draft.edge('PRODUCED', effect, addEvidence(draft, evidence));
  if (receipt !== null) addReceipt(fold, receipt);
}
