/** Where leases come from. Control mints through it per dispatch; teams exchange theirs for narrower ones. Source: LEASE "Minting". */
import type { LeaseClaims, LeaseDetail, LeaseRow, RootGrant } from '#contracts/lease.ts';
import type { ApprovalId, Digest, LeaseId, RunId, StepId, Tenant } from '#contracts/ids.ts';

/** A lease in the hand of its holder. The token is never stored, logged or put into an event. */
export interface HeldLease {
  readonly token: string;
  readonly leaseId: string;
  readonly audience: string;
  readonly expiresAt: number;
  /** The span on whose behalf it is presented: goes beside it as a W3C header, and is not part of what is proven. */
  readonly traceparent?: string | undefined;
  /** Makes the proof of possession for one request over its exact body bytes. */
  prove(method: string, target: string, body: Uint8Array | string): string;
}

export interface WorkLeaseRequest {
  readonly leaseId: LeaseId;
  readonly grant: RootGrant;
  readonly tenant: Tenant;
  readonly runId: RunId;
  readonly stepId: StepId;
  readonly attempt: number;
  readonly audience: string;
  readonly detail: Omit<LeaseDetail, 'type'>;
  readonly planDigest: Digest;
  readonly policyDigest: Digest;
  readonly prohibitedActions: readonly string[];
  /** 1 only for a skill that names its tools. */
  readonly delegationDepthMax: 0 | 1;
  readonly use: LeaseClaims['use'];
  readonly lifetimeS: number;
}

export interface ControlLeaseRequest {
  readonly grant: RootGrant;
  readonly tenant: Tenant;
  readonly runId: RunId;
  readonly stepId: StepId;
  readonly attempt: number;
  readonly audience: string;
  /** `task:read`, `task:cancel`, `task:subscribe`, `task:list`, `tool:discover`. */
  readonly action: string;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly planDigest: Digest;
  readonly policyDigest: Digest;
}

/** A lease for one effect, after its approval: single use, at most 60 s, not to be narrowed. Addressed to the writer. */
export interface EffectLeaseRequest extends Omit<WorkLeaseRequest, 'delegationDepthMax' | 'use' | 'lifetimeS'> {
  readonly approval: { readonly id: ApprovalId; readonly digest: Digest };
}

export interface Minted {
  readonly lease: HeldLease;
  /** To be written in the transaction that justifies it. */
  readonly row: LeaseRow;
}

/** Embedded issuer as control sees it: synchronous, so that a lease can be minted inside a unit of work. Throws CaseOpsError when refused. */
export interface LeaseIssuer {
  mintWork(request: WorkLeaseRequest): Minted;
  /** Refuses a prohibited action and one that the user lacks, as `mintWork` does. */
  mintEffect(request: EffectLeaseRequest): Minted;
  /** A re-mint after recovery keeps the attempt and gets a new lease id. */
  mintControl(request: ControlLeaseRequest): Minted;
}

export interface ExchangeRequest {
  readonly parent: HeldLease;
  readonly audience: string;
  readonly detail: Omit<LeaseDetail, 'type'>;
  readonly taskId: string;
  readonly contextId: string;
  readonly use: LeaseClaims['use'];
}

/** A team's side: RFC 8693 token exchange at the issuer. */
export interface LeaseExchange {
  exchange(request: ExchangeRequest, signal: AbortSignal): Promise<HeldLease>;
}
