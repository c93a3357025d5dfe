/**
 * One worker run: what was dispatched is checked again, then the worker calls its tools, and what it returns becomes an artifact bound
 * to the evidence of its own calls, or a structured error. Source: DESIGN §3.5, §3.6; INV-01, INV-03.
 */
import { ARTIFACT_VERSION, type Artifact } from '#contracts/artifact.ts';
import type { Usage } from '#contracts/budget.ts';
import { CaseOpsError, toErrorRecord, type ErrorRecord } from '#contracts/error.ts';
import type { Evidence, ToolCall } from '#contracts/evidence.ts';
import type { SkillContract } from '#contracts/skill.ts';
import type { ProposalRecord } from '#contracts/tool-proposal.ts';
import { artifactDigest } from '#kernel/artifact-acceptance.ts';
import type { WorkerContext, WorkerEndpoint, WorkerResult } from '#ports/team-definition.ts';
import { createAgent, type Agent } from './agentic-worker.ts';
import { createEvidenceBinder, type EvidenceBinder } from './evidence-binder.ts';
import { assertRunning, endOf, timeLeftMs, type StepScope } from './step-scope.ts';
import { createToolCaller, type ToolCaller } from './tool-call.ts';

export interface WorkerJob extends StepScope {
  readonly skill: SkillContract;
  readonly endpoint: WorkerEndpoint;
  /** What the artifact answers. */
  readonly binding: Artifact['binding'];
  readonly producer: Artifact['producer'];
  /** Has a model's proposal in the run's log; of an agentic worker only. */
  readonly note: (proposal: ProposalRecord) => Promise<void>;
  /** What a model proposed in this attempt before a restart. */
  readonly proposed: { readonly proposalCount: number; readonly modelTokenCount: number };
}

export type WorkerOutcome = {
  readonly usage: Usage;
  /** Also of a failed run: its calls were made. */
  readonly toolCalls: readonly ToolCall[];
} & ({ readonly ok: true; readonly artifact: Artifact } | { readonly ok: false; readonly error: ErrorRecord });

/**
 * Runs the worker once. Never throws: an unknown throw becomes a structured error without its text. Ends at once when the signal
 * aborts, also if the worker does not look at it; whatever the worker does then reaches no tool and no artifact.
 */
export async function runWorker(job: WorkerJob): Promise<WorkerOutcome> {
  const startedAtMs = job.clock.nowMs();
  const binder = createEvidenceBinder(job.ids);
  const caller = createToolCaller(job, { tools: job.endpoint.tools, binder });
  const agent = agentOf(job, { caller, binder });
  const spent = (): Pick<WorkerOutcome, 'usage' | 'toolCalls'> => ({
    usage: {
      modelTokenCount: agent?.modelTokenCount ?? 0,
      toolCallCount: caller.callCount,
      durationMs: Math.max(0, Math.round(job.clock.nowMs() - startedAtMs)),
    },
    toolCalls: caller.calls(),
  });
  try {
    const input = parseInput(job);
    assertRunning(job);
    assertEnoughTime(job);
    const result = await untilAborted(job, () =>
      agent === undefined ? job.endpoint.run(input, contextOf(job, caller)) : agent.run(input),
    );
    if (result.status === 'blocked') throw questionOf(result);
    return { ok: true, artifact: artifactOf(job, { result, binder, toolCalls: caller.calls() }), ...spent() };
  } catch (error) {
    return { ok: false, error: toErrorRecord(error, { code: 'ERR_TEAM_FAILED', at: 'worker' }), ...spent() };
  }
}

function agentOf(
  job: WorkerJob,
  by: { readonly caller: ToolCaller; readonly binder: EvidenceBinder },
): Agent | undefined {
  const { endpoint, skill, note, proposed } = job;
  if (endpoint.agent === undefined) return undefined;
  return createAgent({ scope: job, spec: endpoint.agent, endpoint, skill, note, before: proposed, ...by });
}

function parseInput(job: WorkerJob): unknown {
  const parsed = job.endpoint.parseInput(job.dispatch.input);
  if (parsed.ok) return parsed.value;
  throw new CaseOpsError(
    'ERR_SCHEMA',
    `The input of step ${job.dispatch.stepId} does not conform to skill ${job.skill.skillId} at ${places(parsed.issues)}.`,
    { at: 'worker' },
  );
}

function assertEnoughTime(job: WorkerJob): void {
  const leftMs = timeLeftMs(job);
  if (leftMs < job.skill.minimumRuntimeMs)
    throw new CaseOpsError(
      'ERR_DEADLINE',
      `Skill ${job.skill.skillId} needs at least ${job.skill.minimumRuntimeMs} ms; step ${job.dispatch.stepId} has ${leftMs} ms left.`,
      { at: 'worker' },
    );
}

function contextOf(job: WorkerJob, caller: ToolCaller): WorkerContext {
  const { dispatch } = job;
  return {
    signal: job.signal,
    deadlineAt: dispatch.deadlineAt,
    language: dispatch.language,
    tenant: dispatch.tenant,
    subject: dispatch.subject,
    call: (tool, input) => caller.call(tool, input),
  };
}

async function untilAborted<T>(job: WorkerJob, work: () => Promise<T>): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(endOf(job.signal, job.dispatch.stepId));
  job.signal.addEventListener('abort', onAbort, { once: true });
  try {
    const result = await Promise.race([work(), aborted.promise]);
    assertRunning(job);
    return result;
  } finally {
    job.signal.removeEventListener('abort', onAbort);
  }
}

type Blocked = Extract<WorkerResult<unknown>, { readonly status: 'blocked' }>;

/** The question goes up as how the task ended: only the run that a person asked for can ask that person. */
function questionOf({ question, wants }: Blocked): CaseOpsError {
  const detail = { wants: wants.slice(0, 128) };
  return new CaseOpsError('ERR_STEP_BLOCKED', question.slice(0, 1_500), { at: 'worker', retryable: false, detail });
}

interface Returned {
  readonly result: Exclude<WorkerResult<unknown>, Blocked>;
  readonly binder: EvidenceBinder;
  readonly toolCalls: readonly ToolCall[];
}

function artifactOf(job: WorkerJob, returned: Returned): Artifact {
  const { skill, endpoint } = job;
  const { result } = returned;
  const data = dataOf(endpoint, result);
  const cited = citedEvidence(job, returned);
  const open: Omit<Artifact, 'contentDigest'> = {
    contractVersion: ARTIFACT_VERSION,
    artifactId: job.ids.next('art'),
    binding: job.binding,
    producer: job.producer,
    skillId: skill.skillId,
    skillVersion: skill.version,
    schemaId: skill.artifact.schemaId,
    schemaVersion: skill.artifact.schemaVersion,
    status: result.status,
    ...(data === undefined ? {} : { data: data.value as Exclude<Artifact['data'], undefined> }),
    evidence: cited.map(({ evidence }) => evidence),
    records: Object.fromEntries(
      cited.map(({ evidence, record }) => [evidence.evidenceId, record as Artifact['records'][string]]),
    ),
    toolCalls: [...returned.toolCalls],
    missing: 'missing' in result ? [...result.missing] : [],
    errors: [],
    producedAt: job.clock.now(),
  };
  return { ...open, contentDigest: artifactDigest(open) };
}

/** Types are forgotten at this door, so the shape is checked again: a worker in plain JavaScript may return anything. */
function dataOf(endpoint: WorkerEndpoint, result: Returned['result']): { readonly value: unknown } | undefined {
  const refuse = (what: string): CaseOpsError =>
    new CaseOpsError('ERR_ARTIFACT_SCHEMA', `Worker ${endpoint.name} returned ${what}.`, { at: 'worker' });
  switch (result.status) {
    case 'no_data':
      return undefined;
    case 'completed':
    case 'degraded':
    case 'partial': {
      const parsed = endpoint.parseArtifact(result.data);
      if (parsed.ok) return { value: parsed.value };
      throw refuse(`data that does not conform to the artifact of ${endpoint.skillId} at ${places(parsed.issues)}`);
    }
    default:
      throw refuse('no status of a worker result');
  }
}

/** Only evidence of this run's own calls may be cited, and only as it was observed. */
function citedEvidence(
  job: WorkerJob,
  { result, binder }: Returned,
): readonly { readonly evidence: Evidence; readonly record: unknown }[] {
  const refuse = (what: string): CaseOpsError =>
    new CaseOpsError('ERR_ARTIFACT_EVIDENCE', `Worker ${job.endpoint.name} ${what}.`, { at: 'worker' });
  const ids = [...new Set(result.evidence.map(({ evidenceId }) => evidenceId))];
  const cited = ids.map((evidenceId) => {
    const found = binder.find(evidenceId);
    if (found === undefined) throw refuse(`cites evidence ${evidenceId}, which none of its calls observed`);
    return found;
  });
  const { anchorTypes, countMin } = job.skill.evidence;
  const foreign = cited.find(({ evidence }) => !anchorTypes.includes(typeOf(evidence)));
  if (foreign !== undefined)
    throw refuse(`cites ${foreign.evidence.anchor}, which is no kind of evidence of skill ${job.skill.skillId}`);
  if (result.status !== 'no_data' && cited.length < countMin)
    throw refuse(`cites ${cited.length} of at least ${countMin} pieces of evidence`);
  return cited;
}

function typeOf({ anchor }: Evidence): string {
  return anchor.slice(0, anchor.indexOf(':'));
}

function places(issues: readonly { readonly pointer: string }[]): string {
  return issues.map(({ pointer }) => pointer || '/').join(', ');
}
