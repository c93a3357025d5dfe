/** The lease of one effect, minted from its approval and checked at the writer's own boundary before anything is written. LEASE. */
import { CaseOpsError } from '#contracts/error.ts';
import type { RunState, StepState } from '#kernel/run-state.ts';
import type { ApprovalCase } from '#kernel/effect-state.ts';
import { actionText } from '#kernel/action-digest.ts';
import { plannedRun } from '#kernel/planned-run.ts';
import type { RecordWrite } from '#ports/store.ts';
import type { LeaseId } from '#contracts/ids.ts';
import type { HeldLease } from '#ports/issuer.ts';
import { WRITER_AUDIENCE, type WriterParts } from './writer-options.ts';

export interface EffectLeaseFor {
  readonly state: RunState;
  readonly step: StepState;
  readonly approval: ApprovalCase;
  readonly attempt: number;
}

export interface CheckedLease {
  readonly leaseId: LeaseId;
  /** The registry row and the one use: to be written with the intention. */
  readonly records: readonly RecordWrite[];
}

/** Throws ERR_LEASE or ERR_DENIED with the guard's reason: nothing was written then. */
export function mintChecked(
  parts: Pick<WriterParts, 'issuer' | 'guard' | 'grants' | 'ids' | 'policy'>,
  of: EffectLeaseFor,
): CheckedLease {
  const leaseId = parts.ids.next('lse');
  const { action } = of.approval.proposal;
  const { lease, row } = mint(parts, of, leaseId);
  const body = new TextEncoder().encode(actionText(action) ?? '');
  return { leaseId, records: [{ table: 'lease', row }, consume(parts, of, { lease, body })] };
}

function mint(
  parts: Pick<WriterParts, 'issuer' | 'grants' | 'policy'>,
  { state, step, approval, attempt }: EffectLeaseFor,
  leaseId: LeaseId,
): ReturnType<WriterParts['issuer']['mintEffect']> {
  const run = plannedRun(state);
  const { action, actionDigest } = approval.proposal;
  const grant = parts.grants(action.requestedBy, state.ref.tenant);
  if (run === undefined || grant === undefined)
    throw new CaseOpsError(
      'ERR_DENIED',
      `${action.requestedBy} has no grant for tenant ${state.ref.tenant} any more.`,
      {
        at: 'writer',
      },
    );
  return parts.issuer.mintEffect({
    leaseId,
    grant,
    tenant: state.ref.tenant,
    runId: state.ref.runId,
    stepId: step.definition.stepId,
    attempt,
    audience: WRITER_AUDIENCE,
    detail: {
      locations: [WRITER_AUDIENCE],
      actions: [action.action],
      resources: [action.resource],
      datatypes: [...step.skill.datatypes],
      purpose: run.goal.purpose,
      bounds: { action_digest: { exact: actionDigest } },
    },
    planDigest: run.accepted.planDigest,
    policyDigest: parts.policy.digest,
    prohibitedActions: run.goal.prohibitedActions,
    approval: { id: approval.approvalId, digest: actionDigest },
  });
}

/** As any other boundary does: the proof covers the frozen bytes. Returns the row that uses the lease up. */
function consume(
  { guard }: Pick<WriterParts, 'guard'>,
  { state, step, approval, attempt }: EffectLeaseFor,
  held: { readonly lease: HeldLease; readonly body: Uint8Array },
): RecordWrite {
  const { lease, body } = held;
  const authenticated = guard.authenticate({
    authorization: `DPoP ${lease.token}`,
    proof: lease.prove('POST', WRITER_AUDIENCE, body),
    method: 'POST',
    target: WRITER_AUDIENCE,
    body,
  });
  if (authenticated.outcome !== 'permit') throw refusedBy(authenticated, approval);
  const { action, actionDigest } = approval.proposal;
  const permitted = guard.authorize(authenticated.value, {
    action: action.action,
    resources: [action.resource],
    purpose: state.goal?.purpose,
    datatypes: step.skill.datatypes,
    arguments: { action_digest: actionDigest },
    tenant: state.ref.tenant,
    subject: action.requestedBy,
    run: state.ref.runId,
    step: step.definition.stepId,
    attempt,
    planDigest: state.accepted?.planDigest,
    taskId: undefined,
    contextId: undefined,
    lease: 'work',
    approval: { id: approval.approvalId, digest: actionDigest },
  });
  if (permitted.outcome !== 'permit') throw refusedBy(permitted, approval);
  return guard.consumption(permitted.value);
}

function refusedBy(
  refusal: { readonly outcome: string; readonly code: string; readonly message: string; readonly guard: string },
  { approvalId }: ApprovalCase,
): CaseOpsError {
  const { code, message, guard, outcome } = refusal;
  return new CaseOpsError('ERR_DENIED', `The writer's guard refused the lease for approval ${approvalId}: ${message}`, {
    at: 'writer',
    detail: { code, guard },
    retryable: outcome === 'retry',
  });
}
