/** Who waits for a run to settle. A waiter is woken, looks again, and may wait again. */
import { CaseOpsError } from '#contracts/error.ts';

interface Waiter extends Disposable {
  /** Resolves at the next wake; rejects with the signal's reason, or when all are dismissed. */
  readonly woken: Promise<void>;
}

export interface Waiters {
  /** Waits from now on, so that nothing is missed between looking and waiting. */
  wait(key: string, signal?: AbortSignal): Waiter;
  wake(key: string): void;
  /** Rejects every waiter. */
  dismiss(reason: CaseOpsError): void;
}

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

export function createWaiters(): Waiters {
  const byKey = new Map<string, Set<Waiting>>();
  return {
    wait: (key, signal) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      // Whoever looked again without waiting leaves a promise that nobody reads.
      promise.catch(() => undefined);
      const waiting = { resolve, reject };
      const set = byKey.get(key) ?? new Set();
      byKey.set(key, set.add(waiting));
      const onAbort = (): void => reject(signal?.reason as Error);
      signal?.addEventListener('abort', onAbort, { once: true });
      return {
        woken: promise,
        [Symbol.dispose]: () => {
          signal?.removeEventListener('abort', onAbort);
          set.delete(waiting);
          if (set.size === 0 && byKey.get(key) === set) byKey.delete(key);
        },
      };
    },
    wake: (key) => {
      for (const { resolve } of byKey.get(key) ?? []) resolve();
    },
    dismiss: (reason) => {
      for (const set of byKey.values()) for (const { reject } of set) reject(reason);
    },
  };
}
