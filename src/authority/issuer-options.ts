/** What an embedded issuer is made of. */
import type { Tenant } from '#contracts/ids.ts';
import type { LeaseRow } from '#contracts/lease.ts';
import type { Clock } from '#ports/clock.ts';
import type { Ids } from '#ports/ids.ts';
import type { PublicJwk, Signer, Verifier } from '#ports/signer.ts';
import type { CommitOutcome, RecordWrite } from '#ports/store.ts';

/** A workload that may exchange leases, known by its key. */
export interface WorkloadClient {
  readonly clientId: string;
  /** Workload identity, `spiffe://…/team/claims`; becomes `act.sub` of what it is given. */
  readonly workload: string;
  readonly publicJwk: PublicJwk;
  /** Where it receives leases: it may exchange only those addressed to one of these. */
  readonly audiences: readonly string[];
}

/** What the issuer needs of a store. `write` is all or nothing, so that an exchange cannot be counted half. */
export interface LeaseRegistry {
  lease(tenant: Tenant, leaseId: string): Promise<LeaseRow | undefined>;
  bindLeaseTask(lease: { readonly tenant: Tenant; readonly leaseId: string }, taskId: string): Promise<boolean>;
  write(records: readonly RecordWrite[]): Promise<CommitOutcome>;
}

export interface EmbeddedIssuerOptions {
  /** `iss` of every lease. */
  readonly issuer: string;
  /** The URL that exchanges are sent to; proofs and assertions name it. */
  readonly tokenEndpoint: string;
  readonly signer: Signer;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The workload for which `mintWork` and `mintControl` mint, with its own key. */
  readonly supervisor: { readonly workload: string; readonly clientId: string; readonly signer: Signer };
  /** True for an audience to which a lease may be addressed. */
  readonly audiences: (audience: string) => boolean;
  readonly clients: (clientId: string) => WorkloadClient | undefined;
  readonly registry: LeaseRegistry;
  /** Other signatures than ES256, for the simulator only: the runtime never sets it. */
  readonly verifier?: Verifier | undefined;
}
