/** Runs `work` with a signal that aborts after `ms` or with `signal`. Waits for its end: a target says itself how it was interrupted. */
import { CaseOpsError } from '#contracts/error.ts';
import type { Clock } from '#ports/clock.ts';

/** Rejects with ERR_DEADLINE when the work has not ended a grace after its time, so that a target that minds no signal holds nothing up. */
export async function within<T>(
  clock: Clock,
  limit: { readonly ms: number; readonly signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { ms, signal } = limit;
  const late = new AbortController();
  const bounded = AbortSignal.any([signal, late.signal]);
  const { promise: overdue, reject } = Promise.withResolvers<never>();
  const error = new CaseOpsError('ERR_DEADLINE', `It was not answered within ${ms} ms.`, { at: 'writer' });
  const disarmLate = clock.at(clock.nowMs() + ms, () => late.abort(error));
  const disarmOverdue = clock.at(clock.nowMs() + ms + GRACE_MS, () => reject(error));
  try {
    return await Promise.race([work(bounded), overdue]);
  } finally {
    disarmLate();
    disarmOverdue();
  }
}

const GRACE_MS = 1_000;
