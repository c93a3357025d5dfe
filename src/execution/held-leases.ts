/**
 * The leases a team holds for its open runs: in memory only, by run. After a restart there is none; the run waits until its supervisor
 * sends the message again with a fresh lease, and goes on under that one. Source: LEASE, DESIGN §4 "Recovery"; INV-15.
 */
import type { Dispatch } from '#contracts/dispatch.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { RunId } from '#contracts/ids.ts';
import type { Authenticated } from '#ports/guard.ts';
import type { StepLease } from './step-scope.ts';

/** A dispatch with the lease under which it came. */
export interface Authorised {
  readonly dispatch: Dispatch;
  readonly lease: StepLease;
}

export interface HeldLeases {
  /** Of the run, or undefined after a restart. */
  get(runId: RunId): Authorised | undefined;
  /** Replaces what was held, and wakes who waits for it. */
  put(runId: RunId, authorised: Authorised): void;
  drop(runId: RunId): void;
  /** Resolves with what is held or next put; rejects with the signal's reason. */
  wait(runId: RunId, signal: AbortSignal): Promise<Authorised>;
}

export function createHeldLeases(): HeldLeases {
  const held = new Map<RunId, Authorised>();
  const waiting = new Map<RunId, Set<(authorised: Authorised) => void>>();
  return {
    get: (runId) => held.get(runId),
    put: (runId, authorised) => {
      held.set(runId, authorised);
      for (const resolve of waiting.get(runId) ?? []) resolve(authorised);
    },
    drop: (runId) => void held.delete(runId),
    wait: async (runId, signal) => {
      signal.throwIfAborted();
      const known = held.get(runId);
      if (known !== undefined) return known;
      const { promise, resolve, reject } = Promise.withResolvers<Authorised>();
      const onAbort = (): void => reject(signal.reason as Error);
      const resolvers = waiting.get(runId) ?? new Set();
      waiting.set(runId, resolvers.add(resolve));
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        return await promise;
      } finally {
        signal.removeEventListener('abort', onAbort);
        resolvers.delete(resolve);
        if (resolvers.size === 0) waiting.delete(runId);
      }
    },
  };
}

/** The receiver's side of a lease: it can be exchanged for narrower ones, and proves nothing, since its key is the sender's. */
export function stepLease({ lease, token }: Authenticated): StepLease {
  return {
    claims: lease,
    held: {
      token,
      leaseId: lease.jti,
      audience: lease.aud,
      expiresAt: lease.exp,
      prove: () => {
        throw new CaseOpsError('ERR_LEASE', `Lease ${lease.jti} was received; only its sender can prove possession.`, {
          at: 'team',
        });
      },
    },
  };
}
