/**
 * The guard: one check for every transport; no lease means deny, on stdio and in memory too. Cheap first, first failure wins, same
 * shape of answer. Source: LEASE "Checking".
 */
import type { Action, Digest } from '#contracts/ids.ts';
import type { GuardOutcome, LeaseClaims } from '#contracts/lease.ts';
import type { RecordWrite } from './store.ts';

export type GuardBoundary = 'a2a' | 'mcp' | 'issuer' | 'writer' | 'tool';

/** The transport's facts about one request. */
export interface GuardRequest {
  readonly authorization: string | undefined;
  readonly proof: string | undefined;
  readonly method: string;
  /** The configured URL of this endpoint, not what the Host header says. On message transports: the audience name. */
  readonly target: string;
  /** Exact bytes; on message transports the RFC 8785 form of the message without our key. */
  readonly body: Uint8Array;
}

/** A lease whose envelope, signature, times and proof hold. */
export interface Authenticated {
  readonly lease: LeaseClaims;
  /** For a child exchange: sha-256 of the signing input, and the token itself, in memory only. */
  readonly token: string;
  readonly signingInputDigest: Digest;
  /** The authenticated workload: the identity pinned for the proof's key. */
  readonly workload: string;
  readonly requestDigest: Digest;
}

/** What the request wants to do, read by the boundary from its parsed content. */
export interface GuardOperation {
  readonly action: Action;
  /** `claim:C-102`. Empty for discovery and lists. */
  readonly resources: readonly string[];
  readonly purpose: string | undefined;
  readonly datatypes: readonly string[];
  /** Arguments checked against the lease's bounds; undefined: no arguments at this boundary. */
  readonly arguments: Readonly<Record<string, unknown>> | undefined;
  /** As the request says; compared with the lease. */
  readonly tenant: string | undefined;
  readonly subject: string | undefined;
  readonly run: string | undefined;
  readonly step: string | undefined;
  readonly attempt: number | undefined;
  readonly planDigest: Digest | undefined;
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
  /** Work leases are for sends and tool calls, control leases for the rest. */
  readonly lease: 'work' | 'control';
  /** At the writer: the approval under which the effect is begun, and the digest of the action. */
  readonly approval?: { readonly id: string; readonly digest: Digest } | undefined;
}

export interface Refusal {
  readonly outcome: Exclude<GuardOutcome, 'permit'>;
  /** Stable word such as `expired`, `audience`, `body_digest`, `action`, `lease_consumed`. */
  readonly code: string;
  readonly boundary: GuardBoundary;
  /** A sentence for the person on call; no secrets. */
  readonly message: string;
  /** The name of the guard step that refused: the lab checks that it is the right one. */
  readonly guard: string;
}

export type Checked<T> = { readonly outcome: 'permit'; readonly value: T } | Refusal;

export interface Guard {
  /** size → header → signature → strict parse → shape → iss → aud → times → proof. Synchronous: nothing may interleave. */
  authenticate(request: GuardRequest): Checked<Authenticated>;
  /** bindings → tenant, subject, workload → action, resource, purpose, data class, bounds → chain → own policy → kill switches. */
  authorize(authenticated: Authenticated, operation: GuardOperation): Checked<Authenticated>;
  /** The row that uses up the lease; written in the transaction of the first event or of the call. */
  consumption(authenticated: Authenticated): RecordWrite;
}
