/**
 * Commands: what the world asks of a run. `decide(state, command)` answers with events or a refusal. Commands carry the time,
 * the ids and the actor, since the kernel has no clock and no dice. Source: DESIGN §4.
 */
import type { Answer } from './answer.ts';
import type { Artifact } from './artifact.ts';
import type { Usage } from './budget.ts';
import type { CapabilitySnapshot } from './capability-snapshot.ts';
import type { ErrorRecord } from './error.ts';
import type { Evidence } from './evidence.ts';
import type { BlockedReason, Origin, Proposer } from './event.ts';
import type { GoalContract } from './goal.ts';
import type { Digest, DispatchId, LeaseId, RunId, StepId, Tenant } from './ids.ts';

export interface RunRef {
  readonly tenant: Tenant;
  readonly runId: RunId;
}

interface Base {
  /** When it is decided, RFC 3339 UTC. */
  readonly at: string;
  /** Who asks: a subject or a workload. */
  readonly actor: string;
}

interface AtStep extends Base {
  readonly stepId: StepId;
  readonly planVersion: number;
  readonly attempt: number;
  readonly dispatchId: DispatchId;
}

export type Command =
  /** Opens a run: with a goal to freeze, or with the question that must be answered first. */
  | (Base & {
      readonly kind: 'receive';
      readonly origin: Origin;
      readonly statement: string;
      readonly language: string;
      readonly intake: Intake;
    })
  /** Answers the question of a blocked run. */
  | (Base & { readonly kind: 'clarify'; readonly input: Readonly<Record<string, string>>; readonly intake: Intake })
  /** An untrusted plan; validated against goal and snapshot. */
  | (Base & {
      readonly kind: 'propose';
      readonly plan: unknown;
      readonly proposer: Proposer;
      readonly snapshot: CapabilitySnapshot;
    })
  /** Hands a ready step out: ids and lease were made for exactly this attempt. */
  | (AtStep & {
      readonly kind: 'dispatch';
      readonly leaseId: LeaseId;
      readonly audience: string;
      readonly deadlineAt: string;
    })
  | (AtStep & { readonly kind: 'start'; readonly taskId: string; readonly contextId: string })
  /** A delivered artifact with its address in the artifact store; accepted or not by the kernel. Usage is counted by the receiver. */
  | (AtStep & {
      readonly kind: 'deliver';
      readonly artifact: Artifact;
      readonly artifactRef: Digest;
      readonly sizeBytes: number;
      readonly usage: Usage;
    })
  /** The attempt ended without an acceptable artifact. */
  | (AtStep & { readonly kind: 'fail'; readonly error: ErrorRecord; readonly usage: Usage })
  /**
   * A candidate answer with the observed records its slots point into (evidenceId → record), and the evidence that absence proofs
   * rest on, which no step delivered.
   */
  | (Base & {
      readonly kind: 'compose';
      readonly answer: Answer;
      readonly records: Readonly<Record<string, unknown>>;
      readonly proofEvidence: readonly Evidence[];
    })
  /** Time has passed: deadlines and step timeouts are decided. */
  | (Base & { readonly kind: 'tick' })
  | (Base & { readonly kind: 'cancel'; readonly reason: string })
  | (Base & {
      readonly kind: 'settleCancel';
      readonly unresolved: readonly { readonly stepId: StepId; readonly taskId?: string; readonly reason: string }[];
    })
  /** A process took the run over: what it rechecked, and how long the run stood still. */
  | (Base & {
      readonly kind: 'recover';
      readonly pausedMs: number;
      readonly checked: readonly string[];
      readonly fence: number;
    })
  /** What the run needs cannot be had: the driver tried and tells the last failure. */
  | (Base & { readonly kind: 'giveUp'; readonly todo: GivenUpTodo; readonly error: ErrorRecord });

export type CommandOf<K extends Command['kind']> = Extract<Command, { readonly kind: K }>;

/** What intake made of the text: a goal, or the question to answer. */
export type Intake =
  | { readonly kind: 'goal'; readonly goal: GoalContract }
  | { readonly kind: 'question'; readonly blocked: BlockedReason };

/**
 * What a run needs from outside now; `next(state, at)` lists it. A todo is either turned into a command of the same
 * transaction (`dispatch`, whose lease is minted synchronously) or kept as a job that is performed after commit.
 */
export type Todo =
  | { readonly kind: 'plan'; readonly round: number }
  | { readonly kind: 'dispatch'; readonly stepId: StepId; readonly attempt: number }
  | { readonly kind: 'send'; readonly stepId: StepId; readonly attempt: number; readonly dispatchId: DispatchId }
  | { readonly kind: 'compose' }
  | {
      readonly kind: 'cancelTask';
      readonly stepId: StepId;
      readonly attempt: number;
      readonly dispatchId: DispatchId;
      readonly taskId: string | undefined;
    }
  /** Nothing to do before this time; then `tick`. */
  | { readonly kind: 'wake'; readonly at: string };

export type JobTodo = Exclude<Todo, { kind: 'wake' }>;

/** A todo whose failure nobody else reports: an attempt that was sent has `fail`, a task to stop has its time. */
export type GivenUpTodo = Extract<Todo, { kind: 'plan' | 'compose' | 'dispatch' }>;

/** A todo that outlives the transaction: performed at least once, reported back by a command. */
export interface Job {
  readonly ref: RunRef;
  /** Unique per run: `send:s2:1`, `plan:0`, `compose`. */
  readonly jobId: string;
  readonly todo: JobTodo;
}
