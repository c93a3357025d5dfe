/**
 * Commands: what the world asks of a run. `decide(state, command)` answers with events or a refusal. Commands carry the time,
 * the ids and the actor, since the kernel has no clock and no dice. Source: DESIGN §4.
 */
import type { Answer } from './answer.ts';
import type { Artifact } from './artifact.ts';
import type { Usage } from './budget.ts';
import type { AdoptedTool, PermittedCall, RefusedCall, SettledCall } from './call-events.ts';
import type { CapabilitySnapshot } from './capability-snapshot.ts';
import type { EarlierResult, PresentGrant } from './earlier-result.ts';
import type { ErasedBody } from './erasure.ts';
import type { ErrorRecord } from './error.ts';
import type { Evidence } from './evidence.ts';
import type { BlockedReason, Origin, Proposer } from './event.ts';
import type { GoalContract } from './goal.ts';
import type { ApprovalDecision, StaleField } from './approval.ts';
import type { SendOutcome } from './effect-events.ts';
import type { EffectRow } from './effect-row.ts';
import type { ApprovalId, Digest, DispatchId, EffectId, LeaseId, PlanId, RunId, StepId, Tenant } from './ids.ts';
import type { Proposal } from './proposal.ts';
import type { EffectReceipt } from './receipt.ts';
import type { ProposalRecord } from './tool-proposal.ts';

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

interface OnEffect extends Base {
  readonly effectId: EffectId;
  readonly attempt: number;
}

/** An applied effect as the writer read it back: receipt, evidence over its record, and the step's result data. */
export interface ConfirmedEffect {
  readonly receipt: EffectReceipt;
  readonly findings: readonly { readonly pointer: string; readonly expected: string; readonly got: string }[];
  readonly evidence: Evidence;
  readonly data: Readonly<Record<string, JsonValue>>;
  /** Where the record that was read back is kept. */
  readonly artifactRef: Digest;
}

/** A JSON value, as zod has it. */
type JsonValue = Proposal['action']['parameters'][string];

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
      readonly intake: Opening;
      readonly queue?: Queued;
    })
  /** Answers the question of a blocked run. */
  | (Base & {
      readonly kind: 'clarify';
      readonly input: Readonly<Record<string, string>>;
      readonly intake: Intake;
      readonly queue?: Queued;
    })
  /** Its turn has come: the run's time begins. */
  | (Base & { readonly kind: 'admit' })
  /** An untrusted plan; validated against goal and snapshot. */
  | (Base & {
      readonly kind: 'propose';
      readonly plan: unknown;
      readonly proposer: Proposer;
      readonly snapshot: CapabilitySnapshot;
    })
  /**
   * Moves the open steps to the contracts of `snapshot`, by a person's word. `approvalPolicyDigest` is of the policy now in force; undefined
   * where nothing can be applied.
   */
  | (Base & {
      readonly kind: 'migrate';
      readonly planId: PlanId;
      readonly snapshot: CapabilitySnapshot;
      readonly approvalPolicyDigest: Digest | undefined;
      readonly reason: string;
    })
  /** Hands a ready step out: ids and lease were made for exactly this attempt. */
  | (AtStep & {
      readonly kind: 'dispatch';
      readonly leaseId: LeaseId;
      readonly audience: string;
      readonly deadlineAt: string;
    })
  /** Settles a ready step with what an earlier run of the session has settled. `grant` is what the person may do now. */
  | (Base & {
      readonly kind: 'reuse';
      readonly stepId: StepId;
      readonly planVersion: number;
      readonly earlier: EarlierResult;
      readonly grant: PresentGrant;
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
  /** A model's proposal inside the attempt's worker, judged; noted before anything is called. */
  | (AtStep & { readonly kind: 'noteProposal'; readonly proposal: ProposalRecord })
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
      readonly phrased?: PhrasedAnswer;
    })
  /** Answers the question of the step that the run stands still for. */
  | (Base & { readonly kind: 'answerStep'; readonly input: Readonly<Record<string, string>> })
  /** Time has passed: deadlines and step timeouts are decided. */
  | (Base & { readonly kind: 'tick' })
  | (Base & { readonly kind: 'cancel'; readonly reason: string })
  /** Which of a step's contradicting results holds, by its hash; `planId` is the next version's when it is not the settled one. */
  | (Base & {
      readonly kind: 'decideConflict';
      readonly stepId: StepId;
      readonly held: Digest;
      readonly planId: PlanId;
      readonly reason: string;
    })
  /** An untrusted plan in place of the one under way; what is settled and planned the same stands. */
  | (Base & {
      readonly kind: 'replan';
      readonly plan: unknown;
      readonly proposer: Proposer;
      readonly snapshot: CapabilitySnapshot;
      readonly reason: string;
    })
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
  /** Puts the action of a ready effect step before its approvers; a new one after the last went stale. */
  | (Base & {
      readonly kind: 'requestApproval';
      readonly stepId: StepId;
      readonly planVersion: number;
      readonly proposal: Proposal;
    })
  /** One reviewer's decision. `policyDigest` is that of the approval policy now in force. */
  | (Base & {
      readonly kind: 'decideApproval';
      readonly approvalId: ApprovalId;
      readonly decision: ApprovalDecision;
      readonly policyDigest: Digest;
    })
  | (Base & { readonly kind: 'withdrawApproval'; readonly approvalId: ApprovalId; readonly reason: string })
  /** A bound field moved. */
  | (Base & {
      readonly kind: 'staleApproval';
      readonly approvalId: ApprovalId;
      readonly field: StaleField;
      readonly expected: string;
      readonly got: string;
    })
  /** All that is open waits for people: the run stands still. */
  | (Base & { readonly kind: 'awaitPeople' })
  /** Consumes the approval and freezes the action; in one transaction with lease, its consumption and the ledger row. */
  | (Base & {
      readonly kind: 'intendEffect';
      readonly approvalId: ApprovalId;
      readonly effectId: EffectId;
      readonly leaseId: LeaseId;
      readonly actionDigest: Digest;
      readonly liveVersion: string | null;
      readonly policyDigest: Digest;
    })
  | (OnEffect & { readonly kind: 'noteSent'; readonly outcome: SendOutcome; readonly note: string })
  | (OnEffect & { readonly kind: 'confirmEffect'; readonly confirmed: ConfirmedEffect })
  /** Certainly not applied; with `retryable` it may be tried again under its key. */
  | (OnEffect & { readonly kind: 'failEffect'; readonly error: ErrorRecord })
  | (OnEffect & { readonly kind: 'loseEffect'; readonly note: string })
  /** What was found of an effect in doubt: by the owner's authoritative word or by a person. */
  | (OnEffect & {
      readonly kind: 'reconcileEffect';
      readonly finding: 'applied' | 'absent';
      /** `owner`: the target's authoritative word. A person's `absent` ends the effect as failed; only the owner's lets it be tried again. */
      readonly source: 'owner' | 'person';
      readonly note: string;
      /** As read back; a person's word comes without. */
      readonly confirmed: ConfirmedEffect | undefined;
    })
  | (OnEffect & {
      readonly kind: 'retryEffect';
      readonly leaseId: LeaseId;
      readonly liveVersion: string | null;
      readonly policyDigest: Digest;
    })
  | (OnEffect & { readonly kind: 'compensateEffect'; readonly note: string })
  /** Another run's effect under the same key and content is this step's result. */
  | (Base & {
      readonly kind: 'replayEffect';
      readonly stepId: StepId;
      readonly planVersion: number;
      readonly first: EffectRow;
      readonly confirmed: ConfirmedEffect | undefined;
    })
  /** Names a tool that a program brings along; known tools change nothing. */
  | (Base & { readonly kind: 'adoptTool'; readonly tool: AdoptedTool })
  /** A call that the guard let pass: debited before the tool runs. */
  | (Base & { readonly kind: 'permitCall'; readonly call: PermittedCall })
  | (Base & { readonly kind: 'refuseCall'; readonly call: RefusedCall })
  | (Base & { readonly kind: 'settleCall'; readonly settled: SettledCall })
  /** Notes that bodies and artifacts of an ended run are taken out. The store does it in the same transaction. */
  | (Base & { readonly kind: 'erase'; readonly erased: Omit<ErasedBody, 'uptoSeq' | 'claims'> })
  /** The program makes no more calls. */
  | (Base & { readonly kind: 'closeCalls' })
  /** What the run needs cannot be had: the driver tried and tells the last failure. */
  | (Base & { readonly kind: 'giveUp'; readonly todo: GivenUpTodo; readonly error: ErrorRecord });

export type CommandOf<K extends Command['kind']> = Extract<Command, { readonly kind: K }>;

/** The answer in a model's words: untrusted, and taken only if each of its claims is bound. */
export interface PhrasedAnswer {
  readonly answer: Answer;
  /** Whose the evidence is that it names and this run does not bear. */
  readonly foreign: Readonly<Record<string, 'other_tenant' | 'other_task'>>;
}

/** A run with a goal must wait for its turn. Left out: it is admitted with the goal. */
export interface Queued {
  /** Runs of the same tenant that wait before it. */
  readonly aheadCount: number;
}

/** What intake made of the text: a goal, or the question to answer. */
export type Intake =
  | { readonly kind: 'goal'; readonly goal: GoalContract }
  | { readonly kind: 'question'; readonly blocked: BlockedReason };

/** How a run begins: by what intake made of a text, or with a program's own calls, which have no goal. */
export type Opening = Intake | { readonly kind: 'calls' };

/**
 * What a run needs from outside now; `next(state, at)` lists it. A todo is either turned into a command of the same
 * transaction (`dispatch`, whose lease is minted synchronously) or kept as a job that is performed after commit.
 */
export type Todo =
  /** Waits for its turn: the job ends when the run is admitted. */
  | { readonly kind: 'admit' }
  | { readonly kind: 'plan'; readonly round: number }
  | { readonly kind: 'dispatch'; readonly stepId: StepId; readonly attempt: number }
  | { readonly kind: 'send'; readonly stepId: StepId; readonly attempt: number; readonly dispatchId: DispatchId }
  | { readonly kind: 'compose' }
  /** An effect step is ready: its action is to be put before approvers. */
  | { readonly kind: 'proposeEffect'; readonly stepId: StepId }
  /** An approved effect is to be applied, or one whose outcome is open to be found out. */
  | { readonly kind: 'applyEffect'; readonly stepId: StepId; readonly approvalId: ApprovalId; readonly attempt: number }
  /** Nothing goes on without people: `awaitPeople` in the same transaction. */
  | { readonly kind: 'await' }
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
export type GivenUpTodo = Extract<Todo, { kind: 'plan' | 'compose' | 'dispatch' | 'proposeEffect' | 'applyEffect' }>;

/** A todo that outlives the transaction: performed at least once, reported back by a command. */
export interface Job {
  readonly ref: RunRef;
  /** Unique per run: `send:s2:1`, `plan:0`, `compose`. */
  readonly jobId: string;
  readonly todo: JobTodo;
}
