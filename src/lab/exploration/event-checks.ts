/**
 * The invariants as a reader of the log would check them: each event against the ledger of all before it, without asking the kernel.
 * Source: DESIGN §4 "Invariants".
 */
import type { EventKind, RunEvent } from '#contracts/event.ts';
import { REF, type ExploredPlan } from './explored-plan.ts';
import type { Ledger } from './ledger.ts';

export interface Finding {
  readonly invariant: string;
  readonly message: string;
}

export interface Read {
  readonly plan: ExploredPlan;
  /** Of all events before. */
  readonly ledger: Ledger;
  readonly event: RunEvent;
}

type Check = (read: Read) => string | undefined;

/** What the event breaks; empty when it may follow. */
export function checkEvent(read: Read): readonly Finding[] {
  const found: Finding[] = [];
  for (const [invariant, check] of CHECKS) {
    const message = check(read);
    if (message !== undefined) found.push({ invariant, message });
  }
  return found;
}

const CHECKS: readonly (readonly [string, Check])[] = [
  ['INV-01', conforming],
  ['INV-02', dependenciesFirst],
  ['INV-03', boundClaims],
  ['INV-04', authorised],
  ['INV-05', settledOnce],
  ['INV-06', covered],
  ['INV-07', nothingBegunAfterCancel],
  ['INV-08', nothingAfterTheEnd],
  ['INV-09', writtenByItsWriter],
  ['INV-11', chained],
  ['INV-12', sentOnce],
  ['INV-13', spentOnce],
  ['INV-14', ownTenant],
];

function conforming({ event: { kind, body } }: Read): string | undefined {
  if (kind !== 'step.settled') return undefined;
  const { stepId, status, data, evidence } = body.result;
  if (status === 'no_data' && data !== undefined) return `${stepId} found nothing and has data.`;
  if (status !== 'completed') return undefined;
  const value = typeof data === 'object' && data !== null && 'value' in data ? data['value'] : undefined;
  if (typeof value !== 'string') return `${stepId} is completed with data that its contract refuses.`;
  return evidence.length === 0 ? `${stepId} is completed without evidence.` : undefined;
}

/** A dispatch, a proposal or an effect begins a step. */
function dependenciesFirst({ plan, ledger, event: { kind, body } }: Read): string | undefined {
  if (kind !== 'step.dispatched' && kind !== 'approval.requested' && kind !== 'effect.intended') return undefined;
  const step = plan.plan.steps.find(({ stepId }) => stepId === body.stepId);
  if (step === undefined) return `${body.stepId} is begun and not of the plan.`;
  for (const { stepId, strength } of step.dependsOn) {
    const outcome = ledger.steps.get(stepId)?.outcome;
    const satisfied = strength === 'weak' ? outcome !== undefined : outcome === 'completed';
    if (!satisfied) return `${body.stepId} is begun while ${stepId} is ${outcome ?? 'open'}.`;
  }
  return undefined;
}

function boundClaims({ event: { kind, body } }: Read): string | undefined {
  if (kind !== 'answer.composed') return undefined;
  const known = new Set<string>(body.answer.evidence.map(({ evidenceId }) => evidenceId));
  const loose = body.answer.claims.find(
    (claim) => claim.kind === 'fact' && !claim.evidenceIds.some((evidenceId) => known.has(evidenceId)),
  );
  return loose === undefined ? undefined : `Claim ${loose.key} is a fact without evidence.`;
}

function authorised({ ledger, event: { kind, body, at } }: Read): string | undefined {
  if (kind !== 'effect.intended') return undefined;
  const { effectId, approvalId, actionDigest, action, liveVersion, leaseId } = body;
  const approval = ledger.approvals.get(approvalId);
  if (approval === undefined) return `${effectId} is intended without an approval.`;
  if (approval.spentOn !== effectId) return `${effectId} is intended under ${approvalId}, which was not spent on it.`;
  if (approval.actionDigest !== actionDigest) return `${effectId} is another action than ${approvalId} is for.`;
  if (liveVersion !== action.expectedVersion) return `${effectId} is intended on version ${liveVersion}.`;
  if (Date.parse(approval.expiresAt) <= Date.parse(at)) return `${effectId} is intended after ${approvalId} expired.`;
  return leaseId.length === 0 || action.idempotencyKey === '' ? `${effectId} has no lease or key.` : undefined;
}

function settledOnce({ ledger, event: { kind, body } }: Read): string | undefined {
  if (kind === 'effect.intended' || kind === 'effect.retried') {
    const stepId = kind === 'effect.intended' ? body.stepId : (ledger.effects.get(body.effectId)?.stepId ?? '');
    const outcome = ledger.steps.get(stepId)?.outcome;
    return outcome === undefined ? undefined : `${kind} for ${stepId}, which is ${outcome}.`;
  }
  if (kind === 'artifact.accepted') {
    const accepted = ledger.steps.get(body.stepId)?.accepted;
    return accepted === undefined ? undefined : `${body.stepId} has an accepted result already.`;
  }
  if (kind !== 'step.settled' && kind !== 'step.skipped') return undefined;
  const stepId = kind === 'step.settled' ? body.result.stepId : body.stepId;
  const outcome = ledger.steps.get(stepId)?.outcome;
  return outcome === undefined ? undefined : `${stepId} is ${outcome} already.`;
}

function covered({ plan, ledger, event: { kind, body } }: Read): string | undefined {
  if (kind === 'budget.settled') {
    const held = ledger.steps.get(body.stepId)?.held ?? 0;
    return held === body.reserved.toolCallCount
      ? undefined
      : `${body.stepId} releases ${body.reserved.toolCallCount} calls and holds ${held}.`;
  }
  if (kind !== 'budget.reserved') return undefined;
  const held = [...ledger.steps.values()].reduce((sum, step) => sum + step.held, 0);
  const left = plan.plan.budget.toolCallCountMax - ledger.used - held;
  return body.toolCallCount <= left ? undefined : `${body.stepId} reserves ${body.toolCallCount} calls of ${left}.`;
}

function nothingBegunAfterCancel({ ledger, event: { kind, body } }: Read): string | undefined {
  const begins = BEGINNINGS.has(kind);
  if (!ledger.cancelled || !begins) return undefined;
  return `${kind} of ${'stepId' in body ? body.stepId : 'an effect'} after cancellation was requested.`;
}

const BEGINNINGS: ReadonlySet<EventKind> = new Set([
  'step.dispatched',
  'step.reused',
  'approval.requested',
  'effect.intended',
  'effect.retried',
]);

function nothingAfterTheEnd({ plan, ledger, event: { kind, body } }: Read): string | undefined {
  if (RECORDS.has(kind)) return undefined;
  if (ledger.result !== undefined) return `${kind} changes a run that has ended.`;
  const version =
    kind === 'step.settled' ? body.result.planVersion : 'planVersion' in body ? body.planVersion : undefined;
  return version === undefined || version === plan.plan.version ? undefined : `${kind} is of plan version ${version}.`;
}

const RECORDS: ReadonlySet<EventKind> = new Set([
  'result.stale',
  'result.duplicate',
  'result.late',
  'effect.sent',
  'effect.confirmed',
  'effect.failed',
  'effect.unknown',
  'effect.reconciled',
  'effect.compensated',
]);

/** Goal, plan and answer are written once; a result by the attempt that is out, or the one whose artifact was accepted. */
function writtenByItsWriter({ ledger, event: { kind, body } }: Read): string | undefined {
  if (kind === 'goal.frozen' && ledger.goalCount > 0) return 'The goal is frozen a second time.';
  if (kind === 'answer.composed' && ledger.answerCount > 0) return 'The run is answered a second time.';
  if (kind === 'plan.accepted' && body.plan.version !== ledger.planVersion + 1) return 'A plan follows no other.';
  if (kind !== 'step.settled' || body.result.artifactRef === undefined || body.dispatchId === undefined)
    return undefined;
  const { stepId } = body.result;
  const accepted = ledger.steps.get(stepId)?.accepted;
  return accepted === body.dispatchId ? undefined : `${stepId} takes a result that ${body.dispatchId} did not deliver.`;
}

function chained({ ledger, event: { seq, prev } }: Read): string | undefined {
  if (seq !== ledger.seq + 1) return `Event ${seq} follows ${ledger.seq}.`;
  return prev === ledger.hash ? undefined : `Event ${seq} follows ${prev}, not ${ledger.hash}.`;
}

/** Nothing is sent while an earlier request under its key may have been applied. */
function sentOnce({ ledger, event: { kind, body } }: Read): string | undefined {
  if (kind === 'effect.intended') {
    const other = [...ledger.effects].find(([, { key }]) => key === body.action.idempotencyKey);
    return other === undefined ? undefined : `${body.effectId} has the key of ${other[0]}.`;
  }
  if (kind !== 'effect.retried') return undefined;
  const effect = ledger.effects.get(body.effectId);
  if (effect?.at !== 'absent') return `${body.effectId} is sent again and may have been applied.`;
  return body.attempt === effect.attempt + 1 ? undefined : `Attempt ${body.attempt} follows ${effect.attempt}.`;
}

function spentOnce({ ledger, event: { kind, body, at } }: Read): string | undefined {
  if (kind !== 'approval.spent') return undefined;
  const approval = ledger.approvals.get(body.approvalId);
  if (approval?.state !== 'approved') return `${body.approvalId} is spent while it is ${approval?.state ?? 'unknown'}.`;
  return Date.parse(approval.expiresAt) > Date.parse(at) ? undefined : `${body.approvalId} is spent after it expired.`;
}

function ownTenant({ event: { kind, body, tenant } }: Read): string | undefined {
  if (tenant !== REF.tenant) return `An event is of tenant ${tenant}.`;
  if (kind === 'goal.frozen' && body.goal.tenant !== tenant) return `The goal is of tenant ${body.goal.tenant}.`;
  const action =
    kind === 'approval.requested' ? body.proposal.action : kind === 'effect.intended' ? body.action : undefined;
  if (action !== undefined && action.tenant !== tenant) return `${kind} is of tenant ${action.tenant}.`;
  return undefined;
}
