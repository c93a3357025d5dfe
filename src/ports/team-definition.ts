/**
 * What a team's author defines: tools, skills, workers, a policy table. Built by the `defineX` functions of the public API, run by
 * execution, served by the protocols. Validation is carried as functions, so that no schema library is needed to call them.
 */
import type { Evidence } from '#contracts/evidence.ts';
import type { Digest } from '#contracts/ids.ts';
import type { SkillContract } from '#contracts/skill.ts';
import type { StepStatus } from '#contracts/step-result.ts';
import type { ToolContract } from '#contracts/tool-contract.ts';
import type { ToolProposer } from './model.ts';

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: readonly { readonly pointer: string; readonly message: string }[] };

/** A pinned tool with typed arguments `I` and typed record data `R`. */
export interface ToolDefinition<I, R> {
  readonly contract: ToolContract;
  readonly parseInput: (value: unknown) => Parsed<I>;
  /** Of one record's data, the value at `evidence.dataPointer`. */
  readonly parseRecord: (value: unknown) => Parsed<R>;
}

/** A record as a tool's handler returns it. Served as `{ records: ToolRecord[] }`; none means: searched completely, found nothing. */
export interface ToolRecord<R> {
  /** The record's id as in its anchor: `C-102`. */
  readonly id: string;
  readonly version: string;
  readonly tenant: string;
  readonly observedAt: string;
  readonly data: R;
}

/** For whom a tool is called, from the lease; no tool takes a tenant argument. */
export interface ToolCaller {
  readonly tenant: string;
  readonly subject: string;
  readonly purpose: string;
  readonly leaseId: string;
  readonly signal: AbortSignal;
  /** The span of the call, W3C: for what the tool asks of others. */
  readonly traceparent?: string | undefined;
}

export interface ServedTool<I = never, R = unknown> {
  readonly definition: ToolDefinition<I, R>;
  readonly handle: (input: I, caller: ToolCaller) => readonly ToolRecord<R>[] | Promise<readonly ToolRecord<R>[]>;
}

/** A served tool with its types forgotten: arguments are parsed inside. Throws CaseOpsError on bad arguments. */
export interface ToolEndpoint {
  readonly contract: ToolContract;
  readonly invoke: (args: unknown, caller: ToolCaller) => Promise<readonly ToolRecord<unknown>[]>;
}

export interface McpServerDefinition {
  readonly name: string;
  readonly version: string;
  readonly tools: readonly ToolEndpoint[];
}

/** One observed record with the evidence that was made from it. */
export interface Observed<R> {
  readonly record: R;
  readonly evidence: Evidence;
}

export interface WorkerContext {
  readonly signal: AbortSignal;
  readonly deadlineAt: string;
  readonly language: string;
  readonly tenant: string;
  readonly subject: string;
  /** Calls a tool of this skill under a lease exchanged for it. Throws CaseOpsError when refused or malformed. */
  call<I, R>(tool: ToolDefinition<I, R>, input: I): Promise<readonly Observed<R>[]>;
}

export type WorkerResult<A> =
  | { readonly status: 'completed' | 'degraded'; readonly data: A; readonly evidence: readonly Evidence[] }
  | {
      readonly status: 'partial';
      readonly data: A;
      readonly evidence: readonly Evidence[];
      readonly missing: readonly string[];
    }
  | { readonly status: 'no_data'; readonly evidence: readonly Evidence[]; readonly missing: readonly string[] }
  /**
   * It cannot go on without a person's word. `wants` names an input of the skill that is a text: the step is tried again with the answer in
   * its place. `question` is a sentence, without secrets.
   */
  | { readonly status: 'blocked'; readonly question: string; readonly wants: string };

export interface SkillDefinition<I, A> {
  /** Without its team, which defineTeam sets. */
  readonly contract: Omit<SkillContract, 'team' | 'available'>;
  readonly parseInput: (value: unknown) => Parsed<I>;
  readonly parseArtifact: (value: unknown) => Parsed<A>;
  readonly tools: readonly ToolDefinition<unknown, unknown>[];
}

/** How a model works as a worker: what it may use. Each bound holds per attempt, restarts included. */
export interface AgentSpec {
  readonly model: ToolProposer;
  readonly prompt: string;
  readonly tools: readonly ToolDefinition<unknown, unknown>[];
  /** Proposals, refused ones included. */
  readonly stepCountMax: number;
  readonly tokenCountMax: number;
  /** How often the same call may be proposed again. */
  readonly repeatCountMax: number;
  /** Of one proposal. */
  readonly proposalTimeoutMs: number;
}

/** A worker with its types forgotten; input is parsed and output checked around it. */
export interface WorkerEndpoint {
  readonly name: string;
  readonly skillId: string;
  readonly skillVersion: string;
  readonly tools: readonly ToolContract[];
  readonly parseInput: (value: unknown) => Parsed<unknown>;
  readonly parseArtifact: (value: unknown) => Parsed<unknown>;
  readonly run: (input: unknown, context: WorkerContext) => Promise<WorkerResult<unknown>>;
  /** Then a model proposes its tool calls and execution decides each; `run` is not called. */
  readonly agent?: AgentSpec;
}

/** One row of a team's own policy before Cedar: who may do what on which resource type for which purpose. */
export interface PolicyRow {
  readonly actor: string;
  readonly action: string;
  readonly resourceType: string;
  readonly purpose: string;
  readonly tenants: readonly string[];
}

export interface TeamDefinition {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly skills: readonly SkillContract[];
  readonly workers: readonly WorkerEndpoint[];
  readonly mcpServers: readonly McpServerDefinition[];
  readonly policy: readonly PolicyRow[];
  /** Of the policy rows, RFC 8785. */
  readonly policyDigest: Digest;
}

export type { StepStatus };
