/** How often a lease may be used. */
import { CaseOpsError } from '#contracts/error.ts';
import type { LeaseClaims } from '#contracts/lease.ts';

/** 1 for `single`, n for `count:n`. Throws CaseOpsError (ERR_LEASE) for a control lease, which is never consumed. */
export function useCount(use: LeaseClaims['use']): number {
  if (use === 'single') return 1;
  if (use === 'control') {
    throw new CaseOpsError('ERR_LEASE', 'Expected a work lease to consume; this is a control lease.', {
      at: 'authority',
      detail: { code: 'lease_kind' },
    });
  }
  return Number(use.slice('count:'.length));
}
