/** Waiting for a tool no longer than it may take: the wait ends although a tool may not mind its signal. */
import { CaseOpsError } from '#contracts/error.ts';
import type { Clock } from '#ports/clock.ts';

export interface TimeBound {
  readonly clock: Clock;
  readonly deadlineAt: string;
  readonly signals: readonly AbortSignal[];
  /** Names it in the message. */
  readonly call: string;
}

/** What `run` gives. Throws ERR_DEADLINE, or ERR_CANCELLED when one of the signals was aborted; what comes later is not used. */
export async function withinTime<T>(bound: TimeBound, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const timeout = new AbortController();
  const disarm = bound.clock.at(Date.parse(bound.deadlineAt), () =>
    timeout.abort(
      new CaseOpsError('ERR_DEADLINE', `Expected ${bound.call} to be over by ${bound.deadlineAt}.`, { at: 'tool' }),
    ),
  );
  const signal = AbortSignal.any([timeout.signal, ...bound.signals]);
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(endOf(signal, bound.call));
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (signal.aborted) throw endOf(signal, bound.call);
    return await Promise.race([run(signal), stopped]);
  } catch (error) {
    throw signal.aborted ? endOf(signal, bound.call) : error;
  } finally {
    signal.removeEventListener('abort', stop);
    disarm();
  }
}

function endOf(signal: AbortSignal, call: string): CaseOpsError {
  const reason: unknown = signal.reason;
  if (reason instanceof CaseOpsError) return reason;
  return new CaseOpsError('ERR_CANCELLED', `Expected ${call} to go on; it was cancelled.`, {
    at: 'tool',
    cause: reason,
  });
}
