/** The work leases in the supervisor's hand, by dispatch. In memory only: a token is never written down. Source: LEASE "Minting". */
import type { DispatchId } from '#contracts/ids.ts';
import type { HeldLease } from '#ports/issuer.ts';

/** Far more than can be in flight; beyond it the oldest is dropped and minted again when it is needed. */
const HELD_COUNT_MAX = 10_000;

export interface LeaseBook {
  hold(dispatchId: DispatchId, lease: HeldLease): void;
  /** Undefined after a restart, and when it expires before `untilS` (epoch seconds). */
  held(dispatchId: DispatchId, untilS: number): HeldLease | undefined;
  release(dispatchId: DispatchId): void;
}

export function createLeaseBook(): LeaseBook {
  const held = new Map<DispatchId, HeldLease>();
  return {
    hold(dispatchId, lease) {
      held.set(dispatchId, lease);
      const [oldest] = held.keys();
      if (held.size > HELD_COUNT_MAX && oldest !== undefined) held.delete(oldest);
    },
    held(dispatchId, untilS) {
      const lease = held.get(dispatchId);
      return lease !== undefined && lease.expiresAt > untilS ? lease : undefined;
    },
    release: (dispatchId) => void held.delete(dispatchId),
  };
}
