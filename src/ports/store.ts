/**
 * The store port: append with expected sequence, batched across runs; outbox jobs, leases, consumption, artifacts and effect rows in
 * the same unit of work as the events that justify them. The store is the system of record. Source: DESIGN §4, ENGINE.
 * One suite (`stores/store-suite.ts`) is run by every implementation.
 */
import type { Job, RunRef } from '#contracts/command.ts';
import type { ApprovalRow, ApprovalState } from '#contracts/approval.ts';
import type { EffectRow, EffectState } from '#contracts/effect-row.ts';
import type { RunEvent } from '#contracts/event.ts';
import type { ApprovalId, Digest, EffectId, RunId, Tenant } from '#contracts/ids.ts';
import type { LeaseRow } from '#contracts/lease.ts';
import type { RunResult } from '#contracts/step-result.ts';
import type { Clock } from './clock.ts';

export type RunPhase = 'received' | 'planned' | 'running' | 'blocked' | 'cancelling' | 'ended';

/** The checkpoint of a run: one row, written with each commit. */
export interface RunHead {
  readonly ref: RunRef;
  readonly level: 'central' | 'team';
  readonly seq: number;
  readonly hash: Digest;
  readonly phase: RunPhase;
  readonly result: RunResult | undefined;
  readonly needsHuman: boolean;
  /** For lists: goal kind or skill, subject ids, requester. */
  readonly kind: string;
  readonly subject: string;
  readonly requestedBy: string;
  readonly startedAt: string;
  readonly updatedAt: string;
}

/** Rows written in the same transaction. Each has a unique key; a second write under it is a conflict, never an overwrite. */
export type RecordWrite =
  | { readonly table: 'lease'; readonly row: LeaseRow }
  /** One use of a lease: at most `useCountMax` on (tenant, issuer, leaseId). Kept until `expiresAt` (seconds). */
  | {
      readonly table: 'consumption';
      readonly tenant: Tenant;
      readonly issuer: string;
      readonly leaseId: string;
      readonly useCountMax: number;
      readonly requestDigest: Digest;
      readonly expiresAt: number;
    }
  /** Unique on (tenant, scope, key): the same request returns the same run, another is a conflict. */
  | {
      readonly table: 'idempotency';
      readonly tenant: Tenant;
      readonly scope: string;
      readonly key: string;
      readonly requestDigest: Digest;
      readonly runId: RunId;
    }
  /**
   * Content-addressed: writing the same digest again is no conflict. A database holds at most ARTIFACT_RECORD_BYTES_MAX of one
   * (ERR_ARTIFACT_SIZE); `withLargeArtifacts` puts larger ones into an artifact store first.
   */
  | { readonly table: 'artifact'; readonly tenant: Tenant; readonly digest: Digest; readonly bytes: Uint8Array }
  /**
   * What `key` holds of a quota from now on, in place of what it held before. A conflict when the whole day would then hold more than
   * `amountMax`; to hold less, or as much as before, never is one. Whole numbers; the day is `YYYY-MM-DD`, UTC.
   */
  | {
      readonly table: 'quota';
      readonly tenant: Tenant;
      readonly scope: string;
      readonly day: string;
      readonly key: string;
      readonly amount: number;
      readonly amountMax: number;
    }
  /** A row that no event of a run opens, such as an import. A run's own rows are folded from its events by the store. */
  | { readonly table: 'effect'; readonly row: EffectRow };

/**
 * Events of approvals and effects are folded into their rows in the same transaction (`kernel/effect-ledger`, `kernel/approval-inbox`).
 * A commit whose events open an effect under a key that has one, or begin one on a resource that another open effect holds, is a conflict
 * on table `effect` with the key `key …` or `resource …`.
 */
export interface Commit {
  readonly ref: RunRef;
  /** Sequence of the last event the decider saw; 0 opens the run. */
  readonly expectedSeq: number;
  /** The run lock's fence under which this process works. */
  readonly fence: number;
  readonly owner: string;
  readonly head: RunHead;
  readonly events: readonly RunEvent[];
  readonly addJobs: readonly Job[];
  readonly doneJobIds: readonly string[];
  readonly records: readonly RecordWrite[];
}

export type CommitOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly conflict: 'sequence'; readonly actualSeq: number }
  | { readonly ok: false; readonly conflict: 'fence'; readonly actualFence: number }
  /** A unique record existed: `requestDigest` and `runId` are those stored. Nothing of the commit was written. */
  | {
      readonly ok: false;
      readonly conflict: 'record';
      readonly table: RecordWrite['table'];
      readonly key: string;
      readonly requestDigest: Digest | undefined;
      readonly runId: RunId | undefined;
      /** Of a quota: what is left of it. */
      readonly left?: number;
    };

export interface RunQuery {
  readonly tenant?: Tenant;
  readonly level?: 'central' | 'team';
  readonly phase?: RunPhase;
  readonly limit: number;
  /** Only runs started before this run (cursor). */
  readonly before?: RunId;
}

export interface EffectQuery {
  readonly tenant: Tenant;
  readonly runId?: RunId;
  readonly state?: EffectState;
  readonly limit: number;
}

export interface ApprovalQuery {
  readonly tenant: Tenant;
  readonly runId?: RunId;
  readonly state?: ApprovalState;
  readonly limit: number;
}

/**
 * What is taken out of an ended run, decided and sealed before (`decide` with `erase`): the tombstone is the next event of its chain, and
 * says up to which event bodies go. Rows stand in for those that the run has, with references only.
 */
export interface Erasure {
  readonly tombstone: Extract<RunEvent, { readonly kind: 'run.erased' }>;
  /** The checkpoint after it. */
  readonly head: RunHead;
  readonly artifacts: readonly Digest[];
  readonly approvals: readonly ApprovalRow[];
  readonly effects: readonly EffectRow[];
  readonly leases: readonly LeaseRow[];
}

export type EraseOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly conflict: 'missing' }
  /** It has not ended: nothing is taken out of what is under way. */
  | { readonly ok: false; readonly conflict: 'phase'; readonly phase: RunPhase }
  | { readonly ok: false; readonly conflict: 'sequence'; readonly actualSeq: number };

export interface LockTaken {
  readonly fence: number;
  /** When the previous owner was last known alive; undefined on a fresh lock. */
  readonly lastSeenAt: string | undefined;
}

/** An open run whose lock was just taken, as it stands. */
export interface RunTaken {
  readonly head: RunHead;
  readonly lock: LockTaken;
}

/** Opens a store of somebody's choice, such as one that several processes share. */
export type StoreOpener = (clock: Clock) => Promise<Store>;

export interface Store extends AsyncDisposable {
  /** Queued and written with others in one transaction (group commit). Resolves after the data is durable. */
  commit(commit: Commit): Promise<CommitOutcome>;
  /** Records that belong to no run's event, such as a child lease minted at the token endpoint. All or nothing. */
  write(records: readonly RecordWrite[]): Promise<CommitOutcome>;

  head(ref: RunRef): Promise<RunHead | undefined>;
  /** Events after `afterSeq`, in order, at most `limit`. */
  events(ref: RunRef, afterSeq: number, limit: number): Promise<readonly RunEvent[]>;
  /** Newest first. */
  runs(query: RunQuery): Promise<readonly RunHead[]>;
  /** Runs not ended, of a level, oldest first. */
  openRuns(level: 'central' | 'team', limit: number): Promise<readonly RunHead[]>;
  jobs(ref: RunRef): Promise<readonly Job[]>;

  /**
   * Takes the run lock if free, expired or ours; undefined when another live owner holds it. Each taking raises the fence. Of a run
   * that nobody opened, the fence is 1 and the opening commit takes the lock.
   */
  takeLock(ref: RunRef, owner: string, ttlMs: number): Promise<LockTaken | undefined>;
  /**
   * Takes, at once, the locks of runs not ended that no live owner holds: oldest first, at most `limit`, those of `owner` itself left
   * out. Of processes that take at the same time each gets others. Each taking raises the fence.
   */
  takeOpenRuns(
    level: 'central' | 'team',
    by: { readonly owner: string; readonly ttlMs: number },
    limit: number,
  ): Promise<readonly RunTaken[]>;
  /** Extends the life of every lock of an owner; with 0 ms, gives them all up. */
  heartbeat(owner: string, ttlMs: number): Promise<void>;

  lease(tenant: Tenant, leaseId: string): Promise<LeaseRow | undefined>;
  leasesOfRun(tenant: Tenant, runId: RunId): Promise<readonly LeaseRow[]>;
  /** Binds the first accepted task id to a lease row; false when another is bound. */
  bindLeaseTask(lease: { readonly tenant: Tenant; readonly leaseId: string }, taskId: string): Promise<boolean>;
  consumption(tenant: Tenant, issuer: string, leaseId: string): Promise<readonly { readonly requestDigest: Digest }[]>;
  idempotency(
    tenant: Tenant,
    scope: string,
    key: string,
  ): Promise<{ readonly requestDigest: Digest; readonly runId: RunId } | undefined>;
  /** What a tenant's day holds of a quota, all keys together. */
  quota(tenant: Tenant, scope: string, day: string): Promise<number>;
  artifact(tenant: Tenant, digest: Digest): Promise<Uint8Array | undefined>;
  effects(tenant: Tenant, runId: RunId): Promise<readonly EffectRow[]>;
  effect(tenant: Tenant, effectId: EffectId): Promise<EffectRow | undefined>;
  /** The one row under an idempotency key. */
  effectByKey(tenant: Tenant, idempotencyKey: string): Promise<EffectRow | undefined>;
  /** Latest change first. */
  effectList(query: EffectQuery): Promise<readonly EffectRow[]>;
  approval(tenant: Tenant, approvalId: ApprovalId): Promise<ApprovalRow | undefined>;
  /** Latest request first. */
  approvalList(query: ApprovalQuery): Promise<readonly ApprovalRow[]>;

  /**
   * Takes bodies, artifacts and values out of an ended run, whole or not at all; the same erasure again changes nothing. Bodies that are
   * gone are read as `body.erased`.
   */
  erase(erasure: Erasure): Promise<EraseOutcome>;
  /** Drops artifacts that an erasure named, wherever they lie; returns how many there were. Harmless when repeated. */
  dropArtifacts(tenant: Tenant, digests: readonly Digest[]): Promise<number>;

  /** Called after each durable commit with its events; returns the function that stops it. */
  onCommit(listener: (events: readonly RunEvent[], head: RunHead) => void): () => void;
}
