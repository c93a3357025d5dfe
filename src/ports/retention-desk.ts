/** Retention and deletion, for who is entitled to it: by policy when its time has come, or on request of a subject. Decision 0022. */
import type { ErasureScope } from '#contracts/erasure.ts';
import type { RootGrant } from '#contracts/lease.ts';

/** After how many days what an ended run left is erased; undefined: kept. Of artifacts alone, or of the whole run. */
export interface RetentionPolicy {
  readonly artifactsDays?: number | undefined;
  readonly eventsDays?: number | undefined;
}

/** What was found in one store, and what became of it. */
export interface StoreReport {
  /** `supervisor`, or a team. */
  readonly store: string;
  readonly runCount: number;
  readonly artifactRunCount: number;
  readonly artifactCount: number;
  /** Not ended: never touched. */
  readonly openRunCount: number;
  readonly kept: readonly { readonly runId: string; readonly why: string }[];
}

export interface RetentionReport {
  /** False: nothing was changed, these are the counts of what would be. */
  readonly applied: boolean;
  readonly tenant: string;
  readonly at: string;
  readonly policy: RetentionPolicy | null;
  readonly stores: readonly StoreReport[];
  readonly tombstones: readonly {
    readonly store: string;
    readonly runId: string;
    readonly tombstoneId: string;
    readonly scope: ErasureScope;
  }[];
}

export interface RetentionDesk {
  /** Erases in the grant's tenant what its policy says is due. ERR_DENIED without the role `custodian`; an auditor may look. */
  enforce(grant: RootGrant, request: { readonly apply: boolean }): Promise<RetentionReport>;
  /** Erases every ended run of the tenant that mentions the subject, `member:m42`. ERR_USAGE for what is no subject or has no reason. */
  forget(
    grant: RootGrant,
    request: { readonly subject: string; readonly reason: string; readonly apply: boolean },
  ): Promise<RetentionReport>;
}
