/** The part of the context graph that says who did what under which lease, and what came of it. Source: DESIGN §5. */
import type { EventBody, RunEvent } from '#contracts/event.ts';
import type { Evidence, ToolCall } from '#contracts/evidence.ts';
import type { StepId } from '#contracts/ids.ts';
import { nodeId, type GraphDraft } from './graph-node.ts';
import type { GraphFold } from './graph-plan.ts';

type Event<K extends RunEvent['kind']> = Extract<RunEvent, { readonly kind: K }>;
type Verdict = 'artifact.accepted' | 'artifact.rejected' | 'artifact.quarantined';
type Arrival = 'result.stale' | 'result.duplicate' | 'result.conflicted' | 'result.late';

export function addDispatch({ draft, facts }: GraphFold, body: EventBody<'step.dispatched'>): void {
  const { stepId, attempt, dispatchId, leaseId, audience, inputDigest, deadlineAt } = body;
  const step = nodeId('step', stepId);
  const task = draft.node({
    kind: 'delegated_task',
    ref: dispatchId,
    status: 'dispatched',
    digest: inputDigest,
    detail: { stepId, attempt: String(attempt), deadlineAt, leaseId },
  });
  const lease = draft.node({ kind: 'lease', ref: leaseId, detail: { audience, stepId, attempt: String(attempt) } });
  draft.status(step, 'dispatched');
  draft.edge('EXECUTED_BY', step, task);
  draft.edge('AUTHORIZED_BY', task, lease);
  const before = facts.tasks.get(stepId);
  if (before !== undefined) draft.edge('RETRIED_AS', before, task);
  facts.tasks.set(stepId, task);
}

export function addStarted({ draft }: GraphFold, body: EventBody<'step.started'>): void {
  const { stepId, dispatchId, taskId, contextId } = body;
  draft.node({ kind: 'delegated_task', ref: dispatchId, status: 'started', detail: { taskId, contextId } });
  draft.status(nodeId('step', stepId), 'waiting');
}

/** The step rests on a step of an earlier run, by reference: that run's own graph says what is behind it. */
export function addReused({ draft, facts, run }: GraphFold, body: EventBody<'step.reused'>): void {
  const { stepId, origin, asOf, ageMs, authorisedFor } = body;
  const { runId, artifactId, artifactRef, observedAt, resultHash } = origin;
  const earlierRun = draft.node({ kind: 'run', ref: runId, status: 'earlier' });
  const earlier = draft.node({
    kind: 'step',
    ref: earlierStepRef(origin),
    status: 'completed',
    digest: resultHash,
    detail: { runId, stepId: origin.stepId, seq: String(origin.seq), hash: origin.hash, observedAt },
  });
  const detail = { artifactRef, runId };
  const artifact = draft.node({ kind: 'artifact', ref: artifactId, status: 'accepted', digest: artifactRef, detail });
  const verdict = { asOf, ageMs: String(ageMs), authorisedFor };
  const decision = draft.node({ kind: 'decision', ref: `reuse ${stepId}`, status: 'reused', detail: verdict });
  const step = nodeId('step', stepId);
  draft.edge('DERIVED_FROM', run, earlierRun);
  draft.edge('DECOMPOSED_INTO', earlierRun, earlier);
  draft.edge('DERIVED_FROM', step, earlier);
  draft.edge('PRODUCED', earlier, artifact);
  draft.edge('VALIDATED_BY', step, decision);
  facts.origins.set(stepId, artifact);
}

/** A step of another run, as this run's graph names it. */
function earlierStepRef({ runId, stepId }: EventBody<'step.reused'>['origin']): string {
  return `${runId}/${stepId}`;
}

export function addFailure({ draft }: GraphFold, { body, seq }: Event<'step.attempt_failed'>): void {
  const { dispatchId, error } = body;
  const task = draft.node({ kind: 'delegated_task', ref: dispatchId, status: 'failed' });
  const cause = draft.node({
    kind: 'error',
    ref: String(seq),
    status: error.kind,
    detail: { code: error.code, at: error.at },
  });
  draft.edge('BLOCKED_BY', task, cause);
}

export function addSkipped({ draft }: GraphFold, { stepId, because }: EventBody<'step.skipped'>): void {
  const step = draft.node({ kind: 'step', ref: stepId, status: 'skipped' });
  for (const cause of because) draft.edge('BLOCKED_BY', step, nodeId('step', cause));
}

export function addArtifact({ draft }: GraphFold, body: EventBody<'artifact.received'>): void {
  const { artifactId, contentDigest, dispatchId, producer, sizeBytes, taskId, contextId } = body;
  const task = draft.node({ kind: 'delegated_task', ref: dispatchId, detail: { taskId, contextId } });
  const detail = { producer, sizeBytes: String(sizeBytes) };
  const artifact = draft.node({ kind: 'artifact', ref: artifactId, status: 'received', digest: contentDigest, detail });
  draft.edge('PRODUCED', task, artifact);
}

export function addVerdict({ draft }: GraphFold, event: Event<Verdict>): void {
  const { artifactId, contentDigest, dispatchId, producer } = event.body;
  const verdict = event.kind.slice('artifact.'.length);
  const artifact = draft.node({
    kind: 'artifact',
    ref: artifactId,
    status: verdict,
    digest: contentDigest,
    detail: { producer },
  });
  const detail = event.kind === 'artifact.accepted' ? {} : { code: event.body.error.code };
  const acceptance = draft.node({ kind: 'acceptance', ref: String(event.seq), status: verdict, detail });
  draft.edge('PRODUCED', nodeId('delegated_task', dispatchId), artifact);
  draft.edge('VALIDATED_BY', artifact, acceptance);
  if (event.kind === 'artifact.accepted')
    for (const item of event.body.evidence) draft.edge('USED', artifact, addEvidence(draft, item));
}

/** Evidence as one node, by its id. */
export function addEvidence(draft: GraphDraft, item: Evidence): string {
  const { anchor, version, source, observedAt, trust, callId = '' } = item;
  const detail = { anchor, version, source, observedAt, trust, callId };
  return draft.node({ kind: 'evidence', ref: item.evidenceId, status: 'observed', digest: item.digest, detail });
}

export function addSettled(fold: GraphFold, { result, dispatchId, toolCalls }: EventBody<'step.settled'>): void {
  const { draft, facts } = fold;
  const { stepId, status, producer } = result;
  draft.status(nodeId('step', stepId), status);
  const earlier = facts.origins.get(stepId);
  if (earlier !== undefined) for (const item of result.evidence) draft.edge('USED', earlier, addEvidence(draft, item));
  const task = dispatchId === undefined ? undefined : draft.node({ kind: 'delegated_task', ref: dispatchId, status });
  if (task === undefined) return;
  const known = String(facts.workloads.get(stepId) === producer);
  const names = new Set(toolCalls.map(({ worker }) => worker));
  const team = facts.skills.get(stepId)?.team ?? producer;
  for (const name of names.size > 0 ? names : [producer]) {
    const worker = draft.node({ kind: 'worker', ref: `${team}/${name}`, detail: { workload: producer, known } });
    draft.edge('EXECUTED_BY', task, worker);
  }
  for (const call of toolCalls) {
    const tool = addCall(fold, call, stepId);
    draft.edge('CALLED', nodeId('worker', `${team}/${call.worker}`), tool);
    draft.edge('USED', task, tool);
    for (const item of result.evidence)
      if (item.callId === call.callId) draft.edge('PRODUCED', tool, addEvidence(draft, item));
  }
}

/** Which of a step's results holds; one that was not settled brings its own task, calls and evidence. */
export function addHeld(fold: GraphFold, { body, seq }: Event<'conflict.decided'>): void {
  const { stepId, held, by, adopted } = body;
  const decision = fold.draft.node({ kind: 'decision', ref: String(seq), status: 'held', detail: { by, held } });
  fold.draft.edge('VALIDATED_BY', nodeId('step', stepId), decision);
  if (adopted === undefined) return;
  const { result, toolCalls, artifact } = adopted;
  addSettled(fold, { result, toolCalls, dispatchId: artifact.dispatchId });
}

function addCall({ draft, facts }: GraphFold, call: ToolCall, stepId: StepId): string {
  const { callId, server, tool, contractVersion, contractDigest, outcome } = call;
  const pinned = facts.skills.get(stepId)?.toolContracts ?? [];
  const conforms = pinned.some((one) => one.server === server && one.tool === tool && one.digest === contractDigest);
  const id = draft.node({
    kind: 'tool',
    ref: callId,
    status: outcome,
    digest: contractDigest,
    detail: {
      server,
      tool,
      contractVersion,
      conforms: String(conforms),
      protocolRevision: call.protocolRevision,
      serverVersion: call.serverVersion,
      argumentsDigest: call.argumentsDigest,
      resultDigest: call.resultDigest ?? '',
      startedAt: call.startedAt,
      endedAt: call.endedAt,
      leaseId: call.leaseId,
    },
  });
  draft.edge('AUTHORIZED_BY', id, draft.node({ kind: 'lease', ref: call.leaseId }));
  return id;
}

/** A result that changed nothing but its own record: stale, duplicate, conflicted or late. */
export function addArrival({ draft }: GraphFold, { kind, body, seq }: Event<Arrival>): void {
  const task = draft.node({ kind: 'delegated_task', ref: body.dispatchId });
  const status = kind.slice('result.'.length);
  const detail = { stepId: body.stepId, attempt: String(body.attempt), planVersion: String(body.planVersion) };
  draft.edge('VALIDATED_BY', task, draft.node({ kind: 'decision', ref: String(seq), status, detail }));
}
