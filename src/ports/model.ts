/** Models propose: a planner, an intake. Everything they return is untrusted. Source: PROTOCOLS "Models". */
import type { Intake } from '#contracts/command.ts';
import type { CapabilitySnapshot } from '#contracts/capability-snapshot.ts';
import type { Proposer } from '#contracts/event.ts';
import type { GoalContract } from '#contracts/goal.ts';
import type { Finding } from '#contracts/plan.ts';

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
