/** Why a call was stopped, told apart. The SDK would turn every reason but its own error class into a timeout. Source: SEAMS §1. */
import { CaseOpsError } from '#contracts/error.ts';
import { CallFailure } from './outcome-map.ts';

type StopReason = 'aborted' | 'deadline' | 'lease_revoked';

/** A signal whose reason the SDK hands on unchanged: stopped by `outer`, whose reason decides the word, or by `stop`. */
export interface CallSignal extends Disposable {
  readonly signal: AbortSignal;
  stop(reason: StopReason): void;
}

/** ERR_DEADLINE means deadline, ERR_LEASE and ERR_LEASE_CONSUMED mean lease_revoked; any other reason means aborted. */
export function callSignal(outer: AbortSignal): CallSignal {
  const inner = new AbortController();
  const stop = (reason: StopReason): void => inner.abort(new CallFailure({ outcome: 'cancelled', reason }));
  const onAbort = (): void => stop(reasonOf(outer.reason));
  if (outer.aborted) onAbort();
  outer.addEventListener('abort', onAbort, { once: true });
  return {
    signal: inner.signal,
    stop,
    [Symbol.dispose]: () => outer.removeEventListener('abort', onAbort),
  };
}

function reasonOf(reason: unknown): StopReason {
  if (!(reason instanceof CaseOpsError)) return 'aborted';
  if (reason.code === 'ERR_DEADLINE') return 'deadline';
  return reason.code === 'ERR_LEASE' || reason.code === 'ERR_LEASE_CONSUMED' ? 'lease_revoked' : 'aborted';
}
