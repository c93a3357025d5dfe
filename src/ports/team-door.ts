/**
 * The team door: what a protocol may ask of a team's runs. A protocol translates and authenticates; the run, its log and its
 * deduplication belong to execution, which implements this. An A2A task is a projection of a team run. Source: DESIGN §2, §3.5.
 */
import type { Artifact } from '#contracts/artifact.ts';
import type { Dispatch } from '#contracts/dispatch.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import type { BlockedReason } from '#contracts/event.ts';
import type { Digest, RunId, StepId, Tenant } from '#contracts/ids.ts';
import type { RunResult } from '#contracts/step-result.ts';
import type { Authenticated } from './guard.ts';
import type { RecordWrite, RunPhase } from './store.ts';
import type { TeamDefinition } from './team-definition.ts';

/** Who asks, as the guard authenticated it. A task belongs to exactly the three of its first message. */
export interface TaskCaller {
  readonly workload: string;
  readonly tenant: Tenant;
  readonly subject: string;
}

export interface TaskSubmission {
  readonly caller: TaskCaller;
  readonly dispatch: Dispatch;
  readonly messageId: string;
  /** Over parts, skill and reference ids, without lease metadata. */
  readonly payloadDigest: Digest;
  /** Kept when given; made by the team otherwise. The task id is always made by the team. */
  readonly contextId: string | undefined;
  /** The span of the request, W3C; kept with the run that it opens. */
  readonly traceparent?: string | undefined;
  /** Authorised for this dispatch. The token stays in memory, for exchanging it; it is never stored. */
  readonly lease: Authenticated;
  /** Written in the transaction of the run's first event. */
  readonly consumption: RecordWrite;
}

/** A team run as its caller may see it. `phase` and `result` are mapped to a protocol's words in that protocol's room. */
export interface TaskView {
  readonly taskId: string;
  readonly contextId: string;
  /** The run, step, attempt and plan at the caller's side, compared with the lease; undefined where the record does not hold it. */
  readonly run: RunId;
  readonly step: StepId | undefined;
  readonly attempt: number | undefined;
  readonly planDigest: Digest | undefined;
  readonly phase: RunPhase;
  /** Present exactly when `phase` is `ended`. */
  readonly result: RunResult | undefined;
  readonly blocked: BlockedReason | undefined;
  /** Why a failed, refused or cancelled run has no artifact, or what its artifact says went wrong. */
  readonly error: ErrorRecord | undefined;
  /** None after the terminal state is added: terminal absorbs. */
  readonly artifacts: readonly Artifact[];
  /** Sequence of the run's last event that this view includes. */
  readonly lastSeq: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A change of a task, numbered by the event that caused it: the same number from any process that reads the log. */
export type TaskUpdate = { readonly seq: number; readonly at: string } & (
  | { readonly kind: 'artifact'; readonly artifact: Artifact }
  | {
      readonly kind: 'status';
      readonly phase: RunPhase;
      readonly result: RunResult | undefined;
      readonly blocked: BlockedReason | undefined;
      readonly error: ErrorRecord | undefined;
    }
);

export type SubmitOutcome =
  | { readonly ok: true; readonly task: TaskView }
  /** Another payload under this message id. */
  | { readonly ok: false; readonly reason: 'conflict'; readonly error: ErrorRecord }
  /** The lease was used for another request. */
  | { readonly ok: false; readonly reason: 'lease_consumed'; readonly error: ErrorRecord }
  /** The team's own decision: unknown skill, invalid input, deadline passed, policy. `error.kind` says what the caller does next. */
  | { readonly ok: false; readonly reason: 'refused'; readonly error: ErrorRecord };

export interface TaskPageQuery {
  readonly contextId: string | undefined;
  /** The protocol's own filter (its states, its times); pages and the total count only what it accepts. */
  readonly where: (task: TaskView) => boolean;
  readonly taskCountMax: number;
  /** Opaque; from the page before. */
  readonly after: string | undefined;
}

export interface TaskPage {
  /** Newest first. */
  readonly tasks: readonly TaskView[];
  readonly next: string | undefined;
  readonly totalCount: number;
}

export interface TeamDoor {
  readonly team: TeamDefinition;
  /**
   * Opens the run of this message, or finds it: deduplicated on (caller, message id, payload digest), also when several arrive at
   * once. A repeat may carry a fresh lease: it returns the same task, and the team may continue under that lease.
   */
  submit(submission: TaskSubmission): Promise<SubmitOutcome>;
  /** Undefined when it does not exist and when it is another caller's: the two look alike. */
  task(caller: TaskCaller, taskId: string): Promise<TaskView | undefined>;
  /** The caller's own, newest first. */
  tasks(caller: TaskCaller, query: TaskPageQuery): Promise<TaskPage>;
  /**
   * Updates after `afterSeq` in the order of the log, first those already there. Ends after the status with phase `ended` (at once when
   * that lies before `afterSeq`), and when the signal aborts. Empty for a task that is not the caller's.
   */
  follow(caller: TaskCaller, taskId: string, afterSeq: number, signal: AbortSignal): AsyncIterable<TaskUpdate>;
  /** `accepted` is not yet stopped: the task tells when it is. */
  cancel(
    caller: TaskCaller,
    taskId: string,
    reason: string,
  ): Promise<'cancelled' | 'accepted' | 'not_cancelable' | 'not_found'>;
}
