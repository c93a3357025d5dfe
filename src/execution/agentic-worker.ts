/**
 * A worker in which a model proposes one tool call at a time and this code decides. Each proposal and its verdict is in the run's log
 * before anything is done about it. A refused one is told to the model, which may do better; limits of steps, tokens, repeats and time
 * end the worker. Source: DESIGN §3.5 "agentic worker"; INV-06, INV-16.
 */
import { CaseOpsError, toErrorRecord, type ErrorCode } from '#contracts/error.ts';
import type { ProposalReason, ProposalRecord } from '#contracts/tool-proposal.ts';
import { digestOfBytes } from '#kernel/digest.ts';
import type { ToolProposalRequest, ToolProposalText, WorkerObservation } from '#ports/model.ts';
import type { AgentSpec, WorkerEndpoint, WorkerResult } from '#ports/team-definition.ts';
import type { EvidenceBinder } from './evidence-binder.ts';
import { fingerprintOf, judgeProposal, labelOf, type Judged } from './proposal-judge.ts';
import { assertRunning, endOf, timeLeftMs, type StepScope } from './step-scope.ts';
import type { ToolCaller } from './tool-call.ts';

export interface AgentJob {
  readonly scope: StepScope;
  readonly spec: AgentSpec;
  readonly endpoint: WorkerEndpoint;
  readonly skill: ToolProposalRequest['skill'];
  readonly caller: ToolCaller;
  readonly binder: EvidenceBinder;
  /** Resolves when the proposal is in the run's log; rejects when the attempt is over or belongs to another process. */
  readonly note: (proposal: ProposalRecord) => Promise<void>;
  /** Of the same attempt before a restart. */
  readonly before: { readonly proposalCount: number; readonly modelTokenCount: number };
}

export interface Agent {
  /** Throws CaseOpsError: ERR_ATTEMPTS (steps, repeats), ERR_BUDGET (tokens, calls), ERR_MODEL, ERR_DEADLINE, ERR_CANCELLED, a tool's. */
  run(input: unknown): Promise<WorkerResult<unknown>>;
  /** Of the whole attempt, so far. */
  readonly modelTokenCount: number;
}

interface Progress {
  readonly job: AgentJob;
  proposalCount: number;
  modelTokenCount: number;
  answeredCallCount: number;
  observedCount: number;
  readonly proposedCounts: Map<string, number>;
  readonly observations: WorkerObservation[];
}

export function createAgent(job: AgentJob): Agent {
  const at: Progress = {
    job,
    proposalCount: job.before.proposalCount,
    modelTokenCount: job.before.modelTokenCount,
    answeredCallCount: 0,
    observedCount: 0,
    proposedCounts: new Map(),
    observations: [],
  };
  return {
    run: (input) => work(at, input),
    get modelTokenCount() {
      return at.modelTokenCount;
    },
  };
}

async function work(at: Progress, input: unknown): Promise<WorkerResult<unknown>> {
  const { scope, spec } = at.job;
  for (;;) {
    assertRunning(scope);
    if (at.proposalCount >= spec.stepCountMax)
      throw ended(at, 'ERR_ATTEMPTS', `its model made ${at.proposalCount} proposals and did not finish`);
    if (tokensLeft(at) <= 0) throw ended(at, 'ERR_BUDGET', `its ${tokenCountMax(at)} model tokens are used`);
    const judged = await propose(at, input);
    if (judged.kind === 'finish') return { status: 'completed', data: judged.data, evidence: judged.evidence };
    if (judged.kind === 'nothing') return { status: 'no_data', evidence: [], missing: [at.job.skill.skillId] };
    if (judged.kind === 'call') await call(at, judged);
    else refuse(at, judged.reason);
  }
}

/** Asks once, decides, and has it in the log. */
async function propose(at: Progress, input: unknown): Promise<Judged> {
  const { job } = at;
  let answer: ToolProposalText;
  try {
    answer = await ask(at, input);
  } catch (error) {
    const isLate = error instanceof CaseOpsError && error.code === 'ERR_DEADLINE';
    if (job.scope.signal.aborted) throw endOf(job.scope.signal, job.scope.dispatch.stepId);
    // Of an answer that never came nobody can tell the cost: all that was allowed counts.
    await note(at, { reason: isLate ? 'timeout' : 'model_failed', modelTokenCount: isLate ? tokensLeft(at) : 0 });
    throw error;
  }
  const modelTokenCount = countOf(answer.modelTokenCount, tokensLeft(at));
  const isOver = modelTokenCount > tokensLeft(at);
  const judged: Judged = isOver
    ? { kind: 'refused', reason: 'token_limit', proposed: 'unread' }
    : judge(at, answer.text);
  await note(at, { reason: 'lawful', ...answer, modelTokenCount, judged });
  return judged;
}

function judge(at: Progress, text: string): Judged {
  const { scope, endpoint, spec, binder, caller } = at.job;
  const { proposedCounts, answeredCallCount, observedCount } = at;
  return judgeProposal(
    {
      scope,
      endpoint,
      binder,
      tools: spec.tools,
      repeatCountMax: spec.repeatCountMax,
      callCountLeft: scope.dispatch.budget.toolCallCountMax - caller.callCount,
      proposedCounts,
      answeredCallCount,
      observedCount,
    },
    text,
  );
}

/** Within the proposal's time and what is left of the step, also when the model does not look at the signal. */
async function ask(at: Progress, input: unknown): Promise<ToolProposalText> {
  const { scope, spec, skill } = at.job;
  const limitMs = Math.min(spec.proposalTimeoutMs, timeLeftMs(scope));
  const timeout = new AbortController();
  const late = new CaseOpsError(
    'ERR_DEADLINE',
    `The model of worker ${scope.worker} proposed nothing in ${limitMs} ms.`,
    {
      at: 'worker',
    },
  );
  const disarm = scope.clock.at(scope.clock.nowMs() + limitMs, () => timeout.abort(late));
  const signal = AbortSignal.any([scope.signal, timeout.signal]);
  const request: ToolProposalRequest = {
    prompt: spec.prompt,
    skill,
    input,
    language: scope.dispatch.language,
    observations: [...at.observations],
    tools: spec.tools.map((tool) => ({
      tool: labelOf(tool),
      description: tool.contract.description,
      input: tool.contract.input,
    })),
  };
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const asked = spec.model.propose(request, { signal, modelTokenCountMax: tokensLeft(at) });
    return await Promise.race([asked, aborted.promise]);
  } catch (error) {
    if (timeout.signal.aborted) throw late;
    throw thrownByModel(error);
  } finally {
    disarm();
    signal.removeEventListener('abort', onAbort);
  }
}

interface Noted extends Partial<Pick<ToolProposalText, 'text' | 'modelVersion'>> {
  readonly reason: ProposalReason;
  readonly modelTokenCount: number;
  readonly judged?: Judged;
}

async function note(at: Progress, { reason, text, modelVersion, modelTokenCount, judged }: Noted): Promise<void> {
  at.proposalCount += 1;
  at.modelTokenCount += modelTokenCount;
  const isPermitted = judged !== undefined && judged.kind !== 'refused';
  await at.job.note({
    index: at.proposalCount,
    ...subjectOf(judged),
    ...(text === undefined ? {} : { proposalDigest: digestOfBytes(text) }),
    verdict: isPermitted ? 'permitted' : 'refused',
    reason: judged?.kind === 'refused' ? judged.reason : reason,
    modelVersion: (modelVersion ?? 'unknown').slice(0, 128),
    modelTokenCount,
  });
}

function subjectOf(judged: Judged | undefined): Pick<ProposalRecord, 'proposed' | 'tool' | 'argumentsDigest'> {
  if (judged === undefined) return { proposed: 'unread' };
  if (judged.kind === 'finish' || judged.kind === 'nothing') return { proposed: 'finish' };
  const { tool, argumentsDigest } = judged;
  return {
    proposed: judged.kind === 'call' ? 'call' : judged.proposed,
    ...(tool === undefined ? {} : { tool: labelOf(tool) }),
    ...(argumentsDigest === undefined ? {} : { argumentsDigest }),
  };
}

async function call(at: Progress, judged: Extract<Judged, { kind: 'call' }>): Promise<void> {
  const { tool } = judged;
  const fingerprint = fingerprintOf(tool, judged.argumentsDigest);
  at.proposedCounts.set(fingerprint, (at.proposedCounts.get(fingerprint) ?? 0) + 1);
  const observed = await at.job.caller.call(tool, judged.arguments);
  at.answeredCallCount += 1;
  at.observedCount += observed.length;
  at.observations.push({
    kind: 'records',
    tool: labelOf(tool),
    arguments: { ...(judged.arguments as Readonly<Record<string, unknown>>) },
    records: observed.map(({ record, evidence: { evidenceId, anchor, version, observedAt } }) => ({
      evidenceId,
      anchor,
      version,
      observedAt,
      record: structuredClone(record),
    })),
  });
}

/** Told to the model, unless it is the end: a limit does not move by asking again. */
function refuse(at: Progress, reason: ProposalReason): void {
  if (reason === 'token_limit')
    throw ended(at, 'ERR_BUDGET', `a proposal cost more than was left of its ${tokenCountMax(at)} model tokens`);
  if (reason === 'call_limit')
    throw ended(at, 'ERR_BUDGET', 'its model proposes calls beyond the tool calls of the step');
  if (reason === 'repeated')
    throw ended(
      at,
      'ERR_ATTEMPTS',
      `its model proposes the same call more than ${at.job.spec.repeatCountMax} times again`,
    );
  at.observations.push({ kind: 'refused', reason });
}

/** The narrower of the worker's and the dispatch's. */
function tokenCountMax({ job }: Progress): number {
  return Math.min(job.spec.tokenCountMax, job.scope.dispatch.budget.modelTokenCountMax);
}

function tokensLeft(at: Progress): number {
  return Math.max(0, tokenCountMax(at) - at.modelTokenCount);
}

/** A count that is none is taken as all that was allowed. */
function countOf(said: number, left: number): number {
  return Number.isSafeInteger(said) && said >= 0 ? Math.min(said, 1_000_000_000) : left;
}

function thrownByModel(error: unknown): CaseOpsError {
  if (error instanceof CaseOpsError) return error;
  const { message } = toErrorRecord(error, { code: 'ERR_MODEL', at: 'model' });
  return new CaseOpsError('ERR_MODEL', message, { at: 'model', cause: error });
}

function ended({ job }: Progress, code: ErrorCode, why: string): CaseOpsError {
  const { scope } = job;
  return new CaseOpsError(code, `Worker ${scope.worker} of step ${scope.dispatch.stepId} ended: ${why}.`, {
    at: 'worker',
  });
}
