/** What a program says once to put its tools under lease, budget and evidence. Source: docs/decisions/0010. */
import type { Evidence } from '#contracts/evidence.ts';
import type { RunEvent } from '#contracts/event.ts';
import type { RunId } from '#contracts/ids.ts';
import type { RootGrant } from '#contracts/lease.ts';
import type { Clock } from '#ports/clock.ts';
import type { Ids } from '#ports/ids.ts';
import type { Store } from '#ports/store.ts';
import type { PolicyRow } from '#ports/team-definition.ts';
import type { ValueSchema } from './value-schema.ts';

/** A development identity with what it may have done in its name; for work on one's own machine. */
export interface DevelopmentGrant {
  /** `requester@t9` or `requester@t8`. */
  readonly as: string;
  readonly actions: readonly string[];
}

export interface GovernedOptions {
  /** Holds the run log in `governed.db`; created when missing. Without it and without `store`, the log is in memory. */
  readonly directory?: string;
  /** A store of the caller's own, which it closes itself. */
  readonly store?: Store;
  /** Whose authority the calls have: a person's grant that lets `workload` act, or a development identity. */
  readonly grant: RootGrant | DevelopmentGrant;
  /** This program. Default `spiffe://caseops.local/governed`. */
  readonly workload?: string;
  readonly purpose: string;
  /** Calls that are permitted altogether; each counts, whatever comes of it. */
  readonly budget: { readonly toolCallCountMax: number };
  /** Refused whatever the grant says. */
  readonly prohibitedActions?: readonly string[];
  /** Rows that permit a call beside its lease. Absent: the lease alone decides. */
  readonly policy?: readonly PolicyRow[];
  readonly clock?: Clock;
  readonly ids?: Ids;
}

/** Where the parts of a record are in what the tool returns: RFC 6901 pointers. */
export interface RecordDescription {
  /** The system that owns the records, such as `claims-db`. */
  readonly source: string;
  /** The part of an anchor before `:`, such as `claim`. */
  readonly anchorType: string;
  /** Into the output: an array of records, or one. Default: the output itself. Null or an empty array: none was found. */
  readonly recordsPointer?: string;
  /** Into a record: what was observed. Default: the whole record. */
  readonly dataPointer?: string;
  /** Default `/id`. */
  readonly idPointer?: string;
  /** Default `/version`. */
  readonly versionPointer?: string;
  /** Compared with the grant's tenant. Default `/tenant`; a record that does not say its tenant is refused. */
  readonly tenantPointer?: string;
  /** States that the system behind the tool has records of this tenant only, where records do not say theirs. Instead of `tenantPointer`. */
  readonly soleTenant?: string;
  /** RFC 3339 UTC. Default: the time at which the result arrived. */
  readonly observedAtPointer?: string;
  /** What the observed data must conform to; validated synchronously. Default: any JSON. */
  readonly record?: ValueSchema;
  /** Default `reported`. */
  readonly trust?: Evidence['trust'];
}

export interface GovernedToolOptions {
  /** Its name in the log: lower case, unique in the session. Default: the tool's own name. */
  readonly name?: string;
  /** What a call does, such as `claims:read`: each must be in the grant, none prohibited. */
  readonly actions: readonly string[];
  /** Which argument names the record: `{ type: 'claim', argument: 'claim_id' }`. */
  readonly resource: { readonly type: string; readonly argument: string };
  readonly evidence: RecordDescription;
  /** Data class of what it returns. Default `internal`. */
  readonly classification?: string;
  /** A call is stopped after this, and what comes later is not used. Default 30,000 ms. */
  readonly timeoutMs?: number;
}

/** Evidence with the form in which it is cited. */
export type CitedEvidence = Evidence & {
  /** `claim:C-102@v17`. */
  readonly ref: string;
};

/** What is known of a session's calls, and its end. */
export interface GovernedSession extends AsyncDisposable {
  /** The run that holds the calls. */
  readonly runId: RunId;
  /** What the calls have observed so far, once per record version, in the order of observation. */
  readonly evidence: () => readonly CitedEvidence[];
  /** The log: hash-chained events, in order; also after closing. */
  readonly trace: () => Promise<readonly RunEvent[]>;
  /** Stops calls under way, waits for them, ends the run and frees what was opened. Closing again does nothing. */
  readonly close: () => Promise<void>;
}

/** A session for several tools under one budget. */
export interface Governed extends GovernedSession {
  /**
   * The same kind of tool, with every call governed; the tool that is given stays as it is. For tools that read or draft. Throws
   * ERR_CONFIG when the tool's shape is not known, it has no schema, or the description is not well formed.
   */
  readonly tool: <T extends object>(tool: T, options: GovernedToolOptions) => T;
}
