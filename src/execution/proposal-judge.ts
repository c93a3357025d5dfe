/**
 * Decides about one proposal of a model inside a worker. The model's text is read strictly; what it may call is what its skill names, under
 * the dispatch and inside the bounds of the step's lease; what it may report is what was observed. Source: DESIGN §3.5; INV-16, INV-03.
 */
import { CaseOpsError } from '#contracts/error.ts';
import type { Evidence } from '#contracts/evidence.ts';
import type { Digest } from '#contracts/ids.ts';
import {
  boundField,
  PROPOSAL_BYTES_MAX,
  PROPOSAL_DEPTH_MAX,
  toolProposal,
  type ObservedValue,
  type ProposalReason,
  type ToolProposal,
} from '#contracts/tool-proposal.ts';
import { digestOf } from '#kernel/digest.ts';
import { checkBounds } from '#kernel/narrowing.ts';
import { resolvePointer } from '#kernel/pointer.ts';
import { parseStrictJson } from '#kernel/strict-json.ts';
import type { ToolDefinition, WorkerEndpoint } from '#ports/team-definition.ts';
import type { EvidenceBinder } from './evidence-binder.ts';
import type { StepScope } from './step-scope.ts';
import { planCall } from './tool-call.ts';

export type AnyTool = ToolDefinition<unknown, unknown>;

export type Judged =
  | { readonly kind: 'call'; readonly tool: AnyTool; readonly arguments: unknown; readonly argumentsDigest: Digest }
  | { readonly kind: 'finish'; readonly data: unknown; readonly evidence: readonly Evidence[] }
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'refused';
      readonly reason: ProposalReason;
      readonly proposed: 'call' | 'finish' | 'unread';
      readonly tool?: AnyTool;
      readonly argumentsDigest?: Digest;
    };

export interface JudgeOf {
  readonly scope: StepScope;
  readonly endpoint: WorkerEndpoint;
  readonly tools: readonly AnyTool[];
  readonly binder: EvidenceBinder;
  /** How often each call was proposed before, by fingerprint. */
  readonly proposedCounts: ReadonlyMap<string, number>;
  readonly repeatCountMax: number;
  readonly callCountLeft: number;
  /** Calls that came back, and records that they brought. */
  readonly answeredCallCount: number;
  readonly observedCount: number;
}

/** The first reason against it, or what it asks for. Never throws for what a model wrote. */
export function judgeProposal(of: JudgeOf, text: string): Judged {
  const parsed = parseStrictJson(text, { bytesMax: PROPOSAL_BYTES_MAX, depthMax: PROPOSAL_DEPTH_MAX });
  if (!parsed.ok) return { kind: 'refused', reason: 'unreadable', proposed: 'unread' };
  const read = toolProposal.safeParse(parsed.value);
  if (!read.success) return { kind: 'refused', reason: 'malformed', proposed: 'unread' };
  const proposal = read.data;
  if ('call' in proposal) return judgeCall(of, proposal.call);
  return 'nothing' in proposal.finish ? judgeNothing(of) : judgeFinish(of, proposal.finish.data);
}

/** `server/tool`, as tools are offered and proposed. */
export function labelOf({ contract }: Pick<AnyTool, 'contract'>): `${string}/${string}` {
  return `${contract.server}/${contract.tool}`;
}

/** Two proposals with the same fingerprint are the same call. */
export function fingerprintOf(tool: AnyTool, argumentsDigest: Digest): string {
  return `${labelOf(tool)} ${argumentsDigest}`;
}

type ProposedCall = Extract<ToolProposal, { readonly call: unknown }>['call'];

function judgeCall(of: JudgeOf, call: ProposedCall): Judged {
  const tool = of.tools.find((known) => labelOf(known) === call.tool);
  if (tool === undefined) return { kind: 'refused', reason: 'unknown_tool', proposed: 'call' };
  const argumentsDigest = digestOf(call.arguments);
  const refuse = (reason: ProposalReason): Judged => ({
    kind: 'refused',
    reason,
    proposed: 'call',
    tool,
    argumentsDigest,
  });
  const unlawful = callFault(of.scope, tool, call.arguments);
  if (unlawful !== undefined) return refuse(unlawful);
  const before = of.proposedCounts.get(fingerprintOf(tool, argumentsDigest)) ?? 0;
  if (before > of.repeatCountMax) return refuse('repeated');
  if (of.callCountLeft <= 0) return refuse('call_limit');
  return { kind: 'call', tool, arguments: call.arguments, argumentsDigest };
}

/** By the schema, then by the bounds of the step's lease, then by dispatch, prohibitions and purpose. */
function callFault(scope: StepScope, tool: AnyTool, input: unknown): ProposalReason | undefined {
  const parsed = tool.parseInput(input);
  if (!parsed.ok) return 'arguments';
  const bounds = scope.lease.claims.authorization_details[0]?.bounds ?? {};
  const args = { ...(parsed.value as Readonly<Record<string, unknown>>) };
  if (checkBounds(bounds, args).length > 0) return 'bounds';
  try {
    planCall(scope, [tool.contract], { tool, input });
    return undefined;
  } catch (error) {
    if (error instanceof CaseOpsError) return 'not_permitted';
    throw error;
  }
}

function judgeNothing(of: JudgeOf): Judged {
  const isTrue = of.answeredCallCount > 0 && of.observedCount === 0;
  return isTrue ? { kind: 'nothing' } : { kind: 'refused', reason: 'not_nothing', proposed: 'finish' };
}

/** Every value of the data is taken out of a record that this step observed; none is taken from the model. */
function judgeFinish(of: JudgeOf, fields: Readonly<Record<string, unknown>>): Judged {
  const data: Record<string, unknown> = {};
  const cited = new Map<string, Evidence>();
  for (const [field, proposed] of Object.entries(fields)) {
    const bound = boundField.safeParse(proposed);
    if (!bound.success) return { kind: 'refused', reason: 'invented', proposed: 'finish' };
    const values: unknown[] = [];
    for (const one of Array.isArray(bound.data) ? bound.data : [bound.data]) {
      const found = observe(of.binder, one);
      if ('reason' in found) return { kind: 'refused', reason: found.reason, proposed: 'finish' };
      cited.set(found.evidence.evidenceId, found.evidence);
      values.push(found.value);
    }
    Object.defineProperty(data, field, {
      value: Array.isArray(bound.data) ? values : values[0],
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  if (!of.endpoint.parseArtifact(data).ok) return { kind: 'refused', reason: 'data', proposed: 'finish' };
  return { kind: 'finish', data, evidence: [...cited.values()] };
}

function observe(
  binder: EvidenceBinder,
  { evidenceId, pointer }: ObservedValue,
): { readonly value: unknown; readonly evidence: Evidence } | { readonly reason: ProposalReason } {
  const observed = binder.find(evidenceId);
  if (observed === undefined) return { reason: 'unknown_evidence' };
  const found = resolvePointer(observed.record, pointer);
  return found.found ? { value: found.value, evidence: observed.evidence } : { reason: 'nowhere' };
}
