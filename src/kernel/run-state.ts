/**
 * The state of a run: a fold of its events. `evolve` changes it in place by deltas and never rescans the plan; nothing else may
 * write to it. The same aggregate serves a central run, whose steps are dispatched to teams, and a team run, whose steps are its
 * workers. Source: DESIGN §2 "One kernel, two levels", §4.
 */
import type { Answer } from '#contracts/answer.ts';
import type { CapabilityCard } from '#contracts/capability-snapshot.ts';
import type { RunRef } from '#contracts/command.ts';
import type { ResultOrigin } from '#contracts/earlier-result.ts';
import type { Tombstone } from '#contracts/erasure.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import type { Evidence, ToolCall } from '#contracts/evidence.ts';
import type { BlockedReason, EventBody, MovedField, Origin, Rival } from '#contracts/event.ts';
import type { GoalContract } from '#contracts/goal.ts';
import type { ApprovalId, ArtifactId, CallId, Digest, DispatchId, EffectId, LeaseId, StepId } from '#contracts/ids.ts';
import type { Finding, Plan, PlanStep } from '#contracts/plan.ts';
import type { SkillContract } from '#contracts/skill.ts';
import type { RunResult, StepResult } from '#contracts/step-result.ts';
import type { ApprovalCase, EffectCase } from './effect-state.ts';

export type RunPhase = 'received' | 'planned' | 'running' | 'blocked' | 'cancelling' | 'ended';
export type StepPhase = 'pending' | 'ready' | 'dispatched' | 'waiting' | 'settled' | 'skipped';

/** One attempt of a step, as far as it got. */
export interface AttemptState {
  readonly attempt: number;
  readonly dispatchId: DispatchId;
  readonly leaseId: LeaseId;
  readonly audience: string;
  readonly dispatchedAt: string;
  /** As it was sent; see `attemptDeadlineMs` for when it is over. */
  readonly deadlineAt: string;
  /** How long the run stood still while it was out, in ms: between a crash and its recovery nobody could take its result. */
  stoodStillMs: number;
  startedAt: string | undefined;
  taskId: string | undefined;
  contextId: string | undefined;
  /** Set when the attempt ended without a result. */
  error: ErrorRecord | undefined;
  /** What a model has proposed in its worker, and what that cost. */
  proposalCount: number;
  proposedTokenCount: number;
}

/** What a step's worker must be told by a person: a value for one of its inputs. */
export interface StepQuestion {
  readonly wants: string;
  readonly text: string;
}

/** A step that depends on another, seen from that other one. */
export interface Dependent {
  readonly step: StepState;
  readonly strength: 'strong' | 'weak';
}

export interface StepState {
  /** As planned; of an open step it changes with a migration, together with its contract. */
  definition: PlanStep;
  skill: SkillContract;
  /** In plan order. */
  readonly dependents: readonly Dependent[];
  phase: StepPhase;
  /** Dependencies not yet satisfied; 0 means ready. */
  unsatisfiedCount: number;
  /** Attempts so far, oldest first, of every version of the plan. */
  readonly attempts: AttemptState[];
  /** How many of them an earlier version of the plan made: they do not count as tries of this one. */
  earlierAttemptCount: number;
  /** No new attempt before this time. */
  notBeforeAt: string | undefined;
  result: StepResult | undefined;
  artifactId: ArtifactId | undefined;
  /** Where its result was first settled, when that is an earlier run. */
  origin: ResultOrigin | undefined;
  toolCalls: readonly ToolCall[];
  settledAt: string | undefined;
  skipReason: string | undefined;
  /** Inputs that a person gave in answer, in place of where the plan points. */
  given: Readonly<Record<string, string>>;
  /** Of an effect step: its last approval and its effect. */
  approvalId: ApprovalId | undefined;
  effectId: EffectId | undefined;
  reservedToolCallCount: number;
  reservedModelTokenCount: number;
}

export interface BudgetState {
  readonly toolCallCountMax: number;
  readonly modelTokenCountMax: number;
  toolCallCountReserved: number;
  toolCallCountUsed: number;
  modelTokenCountReserved: number;
  modelTokenCountUsed: number;
}

export interface AcceptedPlan {
  readonly plan: Plan;
  readonly planDigest: Digest;
  readonly acceptedAt: string;
  /** By `skillKey`: team, skill and version. */
  readonly skills: ReadonlyMap<string, SkillContract>;
  readonly cards: readonly CapabilityCard[];
  readonly teamPolicyDigests: Readonly<Record<string, Digest>>;
}

/** A move to other contracts, as its event says it. */
export type Migration = Omit<EventBody<'run.migrated'>, 'plan' | 'skills' | 'cards' | 'teamPolicyDigests'> & {
  readonly at: string;
};

/** A version of the plan that took another one's place, as its event says it. */
export type Revision = Omit<
  EventBody<'plan.revised'>,
  'plan' | 'snapshotId' | 'skills' | 'cards' | 'teamPolicyDigests'
> & { readonly at: string };

/** A result that changed nothing but its own record. INV-08. */
export interface ArrivalRecord extends EventBody<'result.late'> {
  readonly kind: 'stale' | 'late' | 'duplicate' | 'conflicted';
  readonly at: string;
}

export interface RunState {
  readonly ref: RunRef;
  /** A program's calls are a central run: nobody dispatched them. */
  readonly level: 'central' | 'team';
  readonly origin: Origin;
  readonly statement: string;
  readonly language: string;
  readonly receivedAt: string;
  seq: number;
  hash: Digest | '';
  phase: RunPhase;
  /** The phase to return to when a block is lifted. */
  phaseBeforeBlock: RunPhase | undefined;
  blocked: BlockedReason | undefined;
  goal: GoalContract | undefined;
  goalDigest: Digest | undefined;
  /** Plans refused so far, and the findings of the last one. */
  planRejectedCount: number;
  lastFindings: readonly Finding[];
  accepted: AcceptedPlan | undefined;
  /** What was taken out of the run since it ended, oldest first. */
  readonly erasures: Tombstone[];
  /** Each move to other contracts, oldest first. */
  readonly migrations: Migration[];
  readonly revisions: Revision[];
  readonly steps: Map<StepId, StepState>;
  /** Steps that may be dispatched now: in the order in which they became ready, those unlocked together in plan order. */
  readonly ready: Set<StepId>;
  /** Steps that are ready again once their `notBeforeAt` has come. */
  readonly delayed: Set<StepId>;
  /** Effect steps whose action is to be put before approvers: never dispatched. */
  readonly readyEffects: Set<StepId>;
  /** Effect steps from their first proposal to their end. */
  readonly waitingEffects: Set<StepId>;
  /** Of the steps that wait for an answer, in the order in which they asked. */
  readonly questions: Map<StepId, StepQuestion>;
  /** Required steps whose contract nobody offers any more, with what moved. */
  readonly held: Map<StepId, readonly MovedField[]>;
  readonly inFlight: Set<StepId>;
  /** Steps neither settled nor skipped. */
  openStepCount: number;
  openRequiredStepCount: number;
  /** Required steps settled as completed or degraded: what a quorum counts. */
  completedRequiredStepCount: number;
  readonly approvals: Map<ApprovalId, ApprovalCase>;
  readonly effects: Map<EffectId, EffectCase>;
  /** Under way, in doubt, or to be tried again: while there is one, the join waits. */
  readonly openEffects: Map<EffectId, EffectCase>;
  /** Of a program's calls: contract digest of each adopted tool by name, and the lease of each call that has not settled. */
  readonly tools: Map<string, Digest>;
  readonly calls: Map<CallId, LeaseId>;
  /** Deduplicated on source + anchor + version. */
  /** The last ARRIVAL_COUNT_MAX of them, oldest first, and how many there were. */
  readonly arrivals: ArrivalRecord[];
  arrivalCount: number;
  readonly evidence: Map<string, Evidence>;
  readonly errors: ErrorRecord[];
  budget: BudgetState | undefined;
  /** Since when the run waits for its turn. */
  queuedAt: string | undefined;
  /** When running time began, and how long it stood still since (ms). */
  admittedAt: string | undefined;
  pausedMs: number;
  pausedSince: string | undefined;
  cancelRequested: { readonly by: string; readonly reason: string; readonly at: string } | undefined;
  cancelSettled: boolean;
  fallbackUsed: boolean;
  /** Steps with contradicting results that nobody has decided between, with what contradicts the settled one. */
  readonly conflicts: Map<StepId, readonly Rival[]>;
  answer: Answer | undefined;
  answerError: ErrorRecord | undefined;
  result: RunResult | undefined;
  needsHuman: boolean;
  /** A wait for people needs them only while it lasts. */
  needsHumanBeforeBlock: boolean;
  endedReason: string | undefined;
  updatedAt: string;
}
