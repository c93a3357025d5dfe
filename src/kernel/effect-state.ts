/** Approvals and effects as part of a run's state: folds of their events, written by `evolve` only. Source: DESIGN §3.10, §4. */
import type { ApprovalDecision, ApprovalState } from '#contracts/approval.ts';
import type { EffectAction } from '#contracts/effect-action.ts';
import { OPEN_EFFECT_STATES, type EffectState } from '#contracts/effect-row.ts';
import type { ApprovalId, Digest, EffectId, LeaseId, StepId } from '#contracts/ids.ts';
import type { Proposal } from '#contracts/proposal.ts';
import type { EffectReceipt } from '#contracts/receipt.ts';
import type { RunState, StepState } from './run-state.ts';

/** One action before its approvers. */
export interface ApprovalCase {
  readonly approvalId: ApprovalId;
  readonly stepId: StepId;
  readonly proposal: Proposal;
  readonly requestedAt: string;
  state: ApprovalState;
  readonly decisions: ApprovalDecision[];
  /** The effect that it was spent on. */
  spentOn: EffectId | undefined;
}

/** One effect from its intention on. */
export interface EffectCase {
  readonly effectId: EffectId;
  readonly approvalId: ApprovalId;
  readonly stepId: StepId;
  readonly action: EffectAction;
  readonly actionDigest: Digest;
  readonly intendedAt: string;
  /** Its skill's timeout after that, in ms since the epoch: no longer is it waited for by a cancellation. */
  readonly boundMs: number;
  state: EffectState;
  attempt: number;
  leaseId: LeaseId;
  /** The target has answered this attempt. */
  sent: boolean;
  receipt: EffectReceipt | undefined;
}

/** Whether a step is applied by the writer rather than dispatched to a team. */
export function isEffectStep(step: StepState): boolean {
  return step.skill.risk === 'effect';
}

/** The step's approval that still binds somebody: pending, approved, or stale and waiting for a new proposal. */
export function openApproval(state: RunState, step: StepState): ApprovalCase | undefined {
  const found = step.approvalId === undefined ? undefined : state.approvals.get(step.approvalId);
  return found !== undefined && OPEN_APPROVALS.has(found.state) ? found : undefined;
}

/** The step's effect that is not yet known to be over. */
export function openEffect(state: RunState, step: StepState): EffectCase | undefined {
  return step.effectId === undefined ? undefined : state.openEffects.get(step.effectId);
}

/** Effects under way at their targets. */
export function effectsInProgress(state: RunState): readonly EffectCase[] {
  return [...state.openEffects.values()].filter((effect) => effect.state === 'in_progress');
}

/** While it is so, nothing else may write the resource. */
export function holdsResource(state: EffectState): boolean {
  return OPEN_EFFECT_STATES.includes(state);
}

const OPEN_APPROVALS: ReadonlySet<ApprovalState> = new Set(['pending', 'approved', 'stale']);
