/**
 * What people may ask of runs: the one door behind the HTTP API, the CLI and the page. Implemented by control. Every call acts for an
 * authenticated person; another tenant's run does not exist for them. Throws CaseOpsError with the codes named.
 */
import type { ApprovalDesk } from './approval-desk.ts';
import type { RunEvent } from '#contracts/event.ts';
import type { RootGrant } from '#contracts/lease.ts';
import type { Finding } from '#contracts/plan.ts';
import type { RunResult } from '#contracts/step-result.ts';
import type { RunSummary, RunView, WhyView } from '#contracts/run-view.ts';

export interface SubmitRequest {
  readonly text: string;
  /** ISO 639-1; undefined: detected. */
  readonly language: string | undefined;
  readonly sessionId: string | undefined;
  /** The same key and request return the same run; another request under it is ERR_IDEMPOTENCY_KEY_REUSED. */
  readonly idempotencyKey: string | undefined;
  /** The span of the request, W3C; kept with the run that it opens. */
  readonly traceparent?: string | undefined;
}

/** A submitted run as it stands; `replayed`: the same request opened it before. */
export interface Submission {
  readonly view: RunView;
  readonly replayed: boolean;
}

/** How many goals a tenant may submit: a bucket that holds `goalCountMax` and fills in `windowS` seconds. */
export interface Quota {
  readonly goalCountMax: number;
  readonly windowS: number;
  readonly goalCountLeft: number;
  /** Until it is full again. */
  readonly resetS: number;
}

export interface AgentView {
  readonly team: string;
  readonly available: boolean;
  readonly reason: string | null;
  readonly cardName: string | null;
  readonly cardVersion: string | null;
  readonly protocolVersion: string | null;
  readonly verifiedBy: string | null;
  readonly url: string | null;
  readonly policyDigest: string | null;
  readonly skills: readonly {
    readonly skillId: string;
    readonly version: string;
    readonly risk: string;
    readonly available: boolean;
    readonly actions: readonly string[];
    readonly description: string;
  }[];
}

/** A plan for a text without running it: the contract, the proposal, and what the validator says. */
export interface PlanPreview {
  readonly goal: RunView['goal'];
  readonly blocked: RunView['blocked'];
  readonly plan: unknown;
  readonly findings: readonly Finding[];
}

/** All that people may ask. Where nothing can be applied, decisions and reconciliations find nothing. */
export interface RunDesk extends ApprovalDesk {
  /**
   * Returns as soon as the run is recorded, be it to wait for its turn. ERR_GOAL_TOO_LARGE, ERR_JSON_UNICODE, ERR_IDEMPOTENCY_KEY_REUSED;
   * ERR_RATE_LIMITED and ERR_QUEUE_FULL with `detail.retryAfterMs`: nothing was recorded.
   */
  submit(grant: RootGrant, request: SubmitRequest): Promise<Submission>;
  quota(grant: RootGrant): Quota;
  /** ERR_NOT_FOUND; also for another tenant's. */
  view(grant: RootGrant, runId: string): Promise<RunView>;
  list(
    grant: RootGrant,
    query: {
      readonly limit: number;
      readonly before: string | undefined;
      readonly result: RunResult | undefined;
      readonly state: string | undefined;
    },
  ): Promise<readonly RunSummary[]>;
  /** Resolves when the run has ended or is blocked. */
  settled(grant: RootGrant, runId: string, signal: AbortSignal): Promise<RunView>;
  /** Events after `afterSeq`, then live ones, until the run has ended or the signal aborts. */
  follow(
    grant: RootGrant,
    from: { readonly runId: string; readonly afterSeq: number },
    signal: AbortSignal,
  ): AsyncIterable<RunEvent>;
  /** Answers a blocked run's question. ERR_STATE when it waits for nothing. */
  answer(grant: RootGrant, runId: string, input: Readonly<Record<string, string>>): Promise<RunView>;
  /** ERR_STATE when it has ended. "Accepted" is not "stopped": the view says `cancelling` until it is. */
  cancel(grant: RootGrant, runId: string, reason: string): Promise<RunView>;
  /**
   * Moves the run's open steps to the contracts that are offered now; by who asked, or by an approver. ERR_STATE while something is under
   * way or when it is under them already, ERR_CONTRACT_MOVED when a step's skill is offered by nobody, ERR_PLAN_REFUSED, ERR_USAGE without a
   * reason.
   */
  migrate(
    grant: RootGrant,
    request: { readonly runId: string; readonly reason: string },
    signal: AbortSignal,
  ): Promise<RunView>;
  /**
   * Says which of a step's contradicting results holds, by who asked or by an approver. ERR_STATE when there is nothing to decide, while
   * something is under way, or where an effect rests on what would be replaced; ERR_USAGE for another hash or without a reason.
   */
  resolve(
    grant: RootGrant,
    request: { readonly runId: string; readonly stepId: string; readonly held: string; readonly reason: string },
  ): Promise<RunView>;
  /**
   * Takes another plan while the run is running: `plan`, or what the planner proposes now. By who asked or by an approver. ERR_PLAN_REFUSED
   * with findings, ERR_STATE, ERR_USAGE without a reason.
   */
  replan(
    grant: RootGrant,
    request: { readonly runId: string; readonly reason: string; readonly plan?: unknown },
    signal: AbortSignal,
  ): Promise<RunView>;
  /** The chain behind one claim (by id or key), or behind each. ERR_NOT_FOUND. */
  why(grant: RootGrant, runId: string, claim: string | undefined): Promise<readonly WhyView[]>;
  agents(grant: RootGrant, signal: AbortSignal): Promise<readonly AgentView[]>;
  preview(grant: RootGrant, request: SubmitRequest, signal: AbortSignal): Promise<PlanPreview>;
  /** Validates an untrusted plan against a goal made from a text; runs nothing. */
  validate(
    grant: RootGrant,
    request: SubmitRequest & { readonly plan: unknown },
    signal: AbortSignal,
  ): Promise<PlanPreview>;
}
