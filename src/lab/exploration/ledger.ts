/**
 * What the events of a run say, read without the kernel: an account of its own, against which the kernel's state is held, so that a fold
 * that forgets something is found as well as a decision that should not have been.
 */
import type { RunEvent } from '#contracts/event.ts';
import type { ExploredPlan } from './explored-plan.ts';

export interface LedgerStep {
  /** Status or `skipped`; undefined while open. */
  outcome: string | undefined;
  attemptCount: number;
  /** The attempt that is out; 0 when none is. */
  out: number;
  held: number;
  /** The artifact that was accepted for it. */
  accepted: string | undefined;
}

export interface LedgerApproval {
  readonly stepId: string;
  readonly actionDigest: string;
  readonly expiresAt: string;
  state: 'pending' | 'approved' | 'rejected' | 'expired' | 'stale' | 'withdrawn' | 'spent';
  spentOn: string | undefined;
}

export interface LedgerEffect {
  readonly approvalId: string;
  readonly key: string;
  readonly stepId: string;
  attempt: number;
  /** `maybe`: a request may be on its way or have been applied. `absent`: the owner said that it was not. */
  at: 'maybe' | 'absent' | 'over';
}

export interface Ledger {
  seq: number;
  hash: string;
  planVersion: number;
  goalCount: number;
  answerCount: number;
  used: number;
  cancelled: boolean;
  blocked: boolean;
  result: string | undefined;
  readonly steps: Map<string, LedgerStep>;
  readonly approvals: Map<string, LedgerApproval>;
  readonly effects: Map<string, LedgerEffect>;
}

export function openLedger({ stepIds }: ExploredPlan): Ledger {
  const open = (): LedgerStep => ({ outcome: undefined, attemptCount: 0, out: 0, held: 0, accepted: undefined });
  return {
    seq: 0,
    hash: '',
    planVersion: 0,
    goalCount: 0,
    answerCount: 0,
    used: 0,
    cancelled: false,
    blocked: false,
    result: undefined,
    steps: new Map(stepIds.map((stepId) => [stepId, open()])),
    approvals: new Map(),
    effects: new Map(),
  };
}

export function copyLedger(ledger: Ledger): Ledger {
  const copied = <T extends object>(of: ReadonlyMap<string, T>): Map<string, T> =>
    new Map([...of].map(([id, entry]) => [id, { ...entry }]));
  return {
    ...ledger,
    steps: copied(ledger.steps),
    approvals: copied(ledger.approvals),
    effects: copied(ledger.effects),
  };
}

/** Enters an event, whatever it says: whether it may say so is asked before. */
export function enter(ledger: Ledger, event: RunEvent): void {
  ledger.seq = event.seq;
  ledger.hash = event.hash;
  enterRun(ledger, event);
  enterStep(ledger, event);
  enterApproval(ledger, event);
  enterEffect(ledger, event);
}

function enterRun(ledger: Ledger, { kind, body }: RunEvent): void {
  if (kind === 'goal.frozen') ledger.goalCount += 1;
  else if (kind === 'plan.accepted') ledger.planVersion = body.plan.version;
  else if (kind === 'answer.composed') ledger.answerCount += 1;
  else if (kind === 'cancel.requested') ledger.cancelled = true;
  else if (kind === 'run.blocked') ledger.blocked = true;
  else if (kind === 'run.unblocked') ledger.blocked = false;
  else if (kind === 'run.ended') ledger.result = body.result;
  if (kind === 'run.ended' || kind === 'cancel.requested') ledger.blocked = false;
}

function enterStep(ledger: Ledger, { kind, body }: RunEvent): void {
  const on = (stepId: string, change: (step: LedgerStep) => void): void => {
    const step = ledger.steps.get(stepId);
    if (step !== undefined) change(step);
  };
  if (kind === 'budget.reserved') on(body.stepId, (step) => void (step.held = body.toolCallCount));
  else if (kind === 'budget.settled') {
    ledger.used += Math.min(body.reserved.toolCallCount, body.used.toolCallCount);
    on(body.stepId, (step) => void (step.held = 0));
  } else if (kind === 'step.dispatched')
    on(body.stepId, (step) => {
      step.attemptCount += 1;
      step.out = body.attempt;
    });
  else if (kind === 'step.attempt_failed') on(body.stepId, (step) => void (step.out = 0));
  else if (kind === 'artifact.accepted') on(body.stepId, (step) => void (step.accepted = body.dispatchId));
  else if (kind === 'step.settled') on(body.result.stepId, (step) => close(step, body.result.status));
  else if (kind === 'step.skipped') on(body.stepId, (step) => close(step, 'skipped'));
}

function close(step: LedgerStep, outcome: string): void {
  step.outcome = outcome;
  step.out = 0;
}

function enterApproval({ approvals }: Ledger, { kind, body }: RunEvent): void {
  if (kind === 'approval.requested') {
    const { actionDigest, expiresAt } = body.proposal;
    const { stepId, approvalId } = body;
    approvals.set(approvalId, { stepId, actionDigest, expiresAt, state: 'pending', spentOn: undefined });
    return;
  }
  const to = APPROVAL_STATES[kind];
  if (to === undefined || !('approvalId' in body)) return;
  const approval = approvals.get(body.approvalId);
  if (approval === undefined) return;
  approval.state = to;
  if (kind === 'approval.spent') approval.spentOn = body.effectId;
}

const APPROVAL_STATES: Partial<Record<RunEvent['kind'], LedgerApproval['state']>> = {
  'approval.granted': 'approved',
  'approval.rejected': 'rejected',
  'approval.expired': 'expired',
  'approval.staled': 'stale',
  'approval.withdrawn': 'withdrawn',
  'approval.spent': 'spent',
};

function enterEffect({ effects }: Ledger, { kind, body }: RunEvent): void {
  if (kind === 'effect.intended') {
    const { effectId, approvalId, stepId, action } = body;
    effects.set(effectId, { approvalId, stepId, key: action.idempotencyKey, attempt: 1, at: 'maybe' });
    return;
  }
  const effect = 'effectId' in body ? effects.get(body.effectId) : undefined;
  if (effect === undefined) return;
  if (kind === 'effect.retried') {
    effect.attempt = body.attempt;
    effect.at = 'maybe';
  } else if (kind === 'effect.confirmed' || kind === 'effect.failed' || kind === 'effect.compensated')
    effect.at = 'over';
  else if (kind === 'effect.reconciled') effect.at = body.finding === 'applied' ? 'over' : 'absent';
}
