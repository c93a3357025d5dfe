/**
 * The budget controller: a step's share is reserved before it starts and settled when the attempt ends; what is left is free again.
 * No attempt debits more than was reserved for it, so that what is left is never negative. INV-06. Source: DESIGN §3.7.
 */
import type { Budget, StepBudget, Usage } from '#contracts/budget.ts';
import type { BudgetState } from './run-state.ts';

export interface Share {
  readonly toolCallCount: number;
  readonly modelTokenCount: number;
}

/** Opens the account of a run. */
export function openBudget(bounds: Pick<Budget, 'toolCallCountMax' | 'modelTokenCountMax'>): BudgetState {
  const { toolCallCountMax, modelTokenCountMax } = bounds;
  return {
    toolCallCountMax,
    modelTokenCountMax,
    toolCallCountReserved: 0,
    toolCallCountUsed: 0,
    modelTokenCountReserved: 0,
    modelTokenCountUsed: 0,
  };
}

/** What an attempt of a step reserves. */
export function shareOf(step: StepBudget): Share {
  return { toolCallCount: step.toolCallCountMax, modelTokenCount: step.modelTokenCountMax };
}

/** Nothing to reserve and nothing to settle: an account that is not asked for anything is not written about. */
export function isNothing({ toolCallCount, modelTokenCount }: Share): boolean {
  return toolCallCount === 0 && modelTokenCount === 0;
}

/**
 * `now`: it can be reserved. `later`: only other attempts' reservations stand in the way, and those settle. `never`: what has been
 * used leaves too little.
 */
export function reservable(account: BudgetState, share: Share): 'now' | 'later' | 'never' {
  const toolCallsLeft = account.toolCallCountMax - account.toolCallCountUsed;
  const tokensLeft = account.modelTokenCountMax - account.modelTokenCountUsed;
  if (share.toolCallCount > toolCallsLeft || share.modelTokenCount > tokensLeft) return 'never';
  const fits =
    share.toolCallCount <= toolCallsLeft - account.toolCallCountReserved &&
    share.modelTokenCount <= tokensLeft - account.modelTokenCountReserved;
  return fits ? 'now' : 'later';
}

/** Whether an attempt used more than was reserved for it; such a result is refused. */
export function overspent(reserved: Share, used: Usage): boolean {
  return used.toolCallCount > reserved.toolCallCount || used.modelTokenCount > reserved.modelTokenCount;
}

/** Debits planning, which reserves nothing: at most what is left. */
export function debitTokens(account: BudgetState, modelTokenCount: number): void {
  const left = account.modelTokenCountMax - account.modelTokenCountUsed - account.modelTokenCountReserved;
  account.modelTokenCountUsed += Math.min(left, modelTokenCount);
}

export function reserve(account: BudgetState, share: Share): void {
  account.toolCallCountReserved += share.toolCallCount;
  account.modelTokenCountReserved += share.modelTokenCount;
}

/** Releases a reservation and debits what was used of it. */
export function settle(account: BudgetState, reserved: Share, used: Share): void {
  account.toolCallCountReserved -= reserved.toolCallCount;
  account.modelTokenCountReserved -= reserved.modelTokenCount;
  account.toolCallCountUsed += Math.min(reserved.toolCallCount, used.toolCallCount);
  account.modelTokenCountUsed += Math.min(reserved.modelTokenCount, used.modelTokenCount);
}
