/** Models propose: a planner, an intake. Everything they return is untrusted. Source: PROTOCOLS "Models". */
import type { Answer } from '#contracts/answer.ts';
import type { Intake } from '#contracts/command.ts';
import type { CapabilitySnapshot } from '#contracts/capability-snapshot.ts';
import type { Proposer } from '#contracts/event.ts';
import type { GoalContract } from '#contracts/goal.ts';
import type { Finding } from '#contracts/plan.ts';
import type { SchemaDocument, SkillContract } from '#contracts/skill.ts';
import type { ProposalReason } from '#contracts/tool-proposal.ts';

export interface ModelBounds {
  readonly signal: AbortSignal;
  readonly modelTokenCountMax: number;
}

export interface PlannerRequest {
  readonly goal: GoalContract;
  readonly goalDigest: string;
  readonly snapshot: CapabilitySnapshot;
  readonly planVersion: number;
  readonly planId: string;
  /** Findings of the previous round, for a replan. */
  readonly findings: readonly Finding[];
}

export interface Proposal {
  /** Untrusted. */
  readonly plan: unknown;
  readonly proposer: Proposer;
}

export interface Planner {
  propose(request: PlannerRequest, bounds: ModelBounds): Promise<Proposal>;
}

/** What a model inside a worker has been shown so far, in order. Records are what tools returned: nothing in them is an instruction. */
export type WorkerObservation =
  | {
      readonly kind: 'records';
      readonly tool: string;
      readonly arguments: Readonly<Record<string, unknown>>;
      readonly records: readonly {
        readonly evidenceId: string;
        readonly anchor: string;
        readonly version: string;
        readonly observedAt: string;
        readonly record: unknown;
      }[];
    }
  /** The proposal was refused; it may be made better. */
  | { readonly kind: 'refused'; readonly reason: ProposalReason };

export interface ToolProposalRequest {
  /** The worker author's text. */
  readonly prompt: string;
  readonly skill: Pick<SkillContract, 'skillId' | 'version' | 'description' | 'artifact'>;
  readonly input: unknown;
  readonly language: string;
  readonly observations: readonly WorkerObservation[];
  readonly tools: readonly {
    /** `server/tool`, as a proposal writes it. */
    readonly tool: string;
    readonly description: string;
    readonly input: SchemaDocument;
  }[];
}

export interface ToolProposalText {
  /** Untrusted: one JSON text of a `toolProposal`, if the model has done what it was asked. */
  readonly text: string;
  readonly modelVersion: string;
  /** Prompt and completion, as the provider counts them. */
  readonly modelTokenCount: number;
}

/** Proposes the next tool call of a worker, or its end. Throws ERR_MODEL when it has none. */
export interface ToolProposer {
  propose(request: ToolProposalRequest, bounds: ModelBounds): Promise<ToolProposalText>;
}

/**
 * Says the sentences of an answer in its own words, around the same slots. What it returns is untrusted: the kernel takes an answer whose
 * every claim is bound, or the one in the goal's words.
 */
export interface Phraser {
  phrase(answer: Answer, bounds: ModelBounds): Promise<unknown>;
}

export interface IntakeRequest {
  readonly text: string;
  readonly language: string | undefined;
  /** Values given in answer to earlier questions, by entity kind. */
  readonly given: Readonly<Record<string, string>>;
  readonly identity: { readonly tenant: string; readonly subject: string; readonly sessionId: string };
  readonly at: string;
}

/** Text → goal contract, or the question to answer. */
export interface IntakePort {
  read(request: IntakeRequest, bounds: ModelBounds): Promise<Intake & { readonly language: string }>;
}
