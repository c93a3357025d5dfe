/** What one worker run may use: its dispatch, the lease behind it, the tools of its skill, and the signal that ends it. */
import type { Dispatch } from '#contracts/dispatch.ts';
import type { LeaseClaims } from '#contracts/lease.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { Clock } from '#ports/clock.ts';
import type { Ids } from '#ports/ids.ts';
import type { HeldLease, LeaseExchange } from '#ports/issuer.ts';
import type { ToolHost } from '#ports/tool-host.ts';

/** The step's own lease, in memory only: its claims, and the token that is exchanged for tool leases. */
export interface StepLease {
  readonly claims: LeaseClaims;
  readonly held: HeldLease;
}

export interface StepScope {
  readonly dispatch: Dispatch;
  readonly taskId: string;
  readonly contextId: string;
  readonly lease: StepLease;
  /** The worker's name, for tool calls. */
  readonly worker: string;
  readonly toolHost: ToolHost;
  readonly exchange: LeaseExchange;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Aborted by cancellation, the deadline, or the end of the run. */
  readonly signal: AbortSignal;
}

/** Milliseconds until the dispatch's deadline; never negative. */
export function timeLeftMs(scope: Pick<StepScope, 'dispatch' | 'clock'>): number {
  return Math.max(0, Date.parse(scope.dispatch.deadlineAt) - scope.clock.nowMs());
}

/** Throws what ended the step: ERR_CANCELLED, or ERR_DEADLINE. */
export function assertRunning(scope: Pick<StepScope, 'dispatch' | 'clock' | 'signal'>): void {
  if (scope.signal.aborted) throw endOf(scope.signal, scope.dispatch.stepId);
  if (timeLeftMs(scope) === 0)
    throw new CaseOpsError(
      'ERR_DEADLINE',
      `The deadline ${scope.dispatch.deadlineAt} of step ${scope.dispatch.stepId} has passed.`,
      {
        at: 'worker',
      },
    );
}

/** The failure behind an aborted signal; a reason of our own is kept. */
export function endOf(signal: AbortSignal, stepId: string): CaseOpsError {
  const reason: unknown = signal.reason;
  return reason instanceof CaseOpsError
    ? reason
    : new CaseOpsError('ERR_CANCELLED', `Step ${stepId} was cancelled while its worker ran.`, { at: 'worker' });
}
