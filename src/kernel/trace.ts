/**
 * The trace of a claim: what it rests on, link by link, each with the verdict that the log gives it. A link after a broken one is not
 * checked. Source: DESIGN §5, SURFACES "Why".
 */
import type { LeaseRow } from '#contracts/lease.ts';
import type { WhyLink, WhyView } from '#contracts/run-view.ts';
import { anchorType } from './anchor.ts';
import { nodeId, predecessors, successors, type ContextGraph, type GraphNode } from './graph-node.ts';
import { effectLease, leaseLinks } from './trace-lease.ts';

/** All but the text, which a graph does not hold. */
export type Trace = Omit<WhyView, 'text'>;

/**
 * One branch for each piece of evidence, from the claim to the lease. `leases` are the rows of the lease registry; without them what
 * they would show is not checked. Undefined when the run has no such claim. Costs the claim's own links, whatever the graph's size.
 */
export function traceClaim(graph: ContextGraph, claimId: string, leases?: readonly LeaseRow[]): Trace | undefined {
  const claim = graph.nodes.get(nodeId('claim', claimId));
  if (claim === undefined) return undefined;
  const rows = leases === undefined ? undefined : new Map(leases.map((row) => [row.leaseId, row]));
  const support = successors(graph, claim.id, 'SUPPORTED_BY');
  const branches = support.map((evidence) => ({
    anchor: anchorOf(evidence),
    links: untilBroken(branchOf({ graph, claim, rows }, evidence)),
  }));
  if (branches.length === 0) branches.push({ anchor: '', links: untilBroken([claimLink(claim)]) });
  const links = branches.flatMap((branch) => branch.links);
  const brokenCount = links.filter(({ verdict }) => verdict === 'Broken').length;
  return {
    runId: graph.ref.runId,
    claimId,
    key: String(claim.detail['key']),
    holds: brokenCount === 0,
    linkCount: links.length,
    brokenCount,
    erasedCount: 0,
    branches,
  };
}

interface Traced {
  readonly graph: ContextGraph;
  readonly claim: GraphNode;
  readonly rows: ReadonlyMap<string, LeaseRow> | undefined;
}

/** A link whose verdict is `fine` when what it says holds. */
function link(
  kind: WhyLink['kind'],
  of: { readonly node: GraphNode | undefined; readonly ref: string; readonly note: string },
  verdict: { readonly fine: WhyLink['verdict']; readonly holds: boolean },
): WhyLink {
  const { node, ref, note } = of;
  const digest = node?.digest === undefined ? {} : { digest: node.digest };
  const detail = { ...node?.detail, ...digest };
  return { kind, ref, note, verdict: verdict.holds ? verdict.fine : 'Broken', detail };
}

function branchOf(traced: Traced, evidence: GraphNode): readonly WhyLink[] {
  const head = [claimLink(traced.claim, true), evidenceLink(evidence)];
  if (traced.claim.status === 'absence') return [...head, countLink(traced.claim, evidence)];
  const { graph } = traced;
  const effect = predecessors(graph, evidence.id, 'PRODUCED').find(({ kind }) => kind === 'effect');
  if (effect !== undefined) return [...head, ...effectLinks(traced, evidence, effect)];
  const artifact = predecessors(graph, evidence.id, 'USED').find(({ status }) => status === 'accepted');
  const earlier =
    artifact === undefined
      ? undefined
      : predecessors(graph, artifact.id, 'PRODUCED').find(({ kind }) => kind === 'step');
  if (earlier !== undefined) return [...head, recordLink(evidence, `artifact ${artifact?.ref}`), earlierLink(earlier)];
  const tool = one(predecessors(graph, evidence.id, 'PRODUCED'));
  const task = artifact === undefined ? undefined : one(predecessors(graph, artifact.id, 'PRODUCED'));
  const worker = workerOf(graph, task, tool);
  const step = task === undefined ? undefined : one(predecessors(graph, task.id, 'EXECUTED_BY'));
  return [
    ...head,
    recordLink(evidence, artifact === undefined ? undefined : `artifact ${artifact.ref}`),
    ...(tool === undefined && evidence.detail['callId'] === '' ? [] : [toolLink(tool)]),
    workerLink(worker),
    taskLink(task, artifact),
    stepLink(step, task),
    ...leaseLinks(traced, { task, tool }),
    approvalLink(graph, step),
  ];
}

/** What was read back of an effect: the effect, the step that asked for it, its lease, its approval. */
function effectLinks({ graph, rows }: Traced, evidence: GraphNode, effect: GraphNode): readonly WhyLink[] {
  const applied = effect.status === 'completed';
  const step = one([...predecessors(graph, effect.id, 'PRODUCED'), ...predecessors(graph, effect.id, 'USED')]);
  const note = `${effect.detail['action'] ?? 'effect of another run'}, ${effect.status}`;
  return [
    recordLink(evidence, `the readback of ${effect.ref}`),
    link('effect_ledger', { node: effect, ref: effect.ref, note }, { fine: 'Conforms', holds: applied }),
    stepLink(step, undefined),
    ...(effect.detail['leaseId'] === undefined ? [] : [effectLease(effect, rows)]),
    approvalLink(graph, step),
  ];
}

function one(nodes: readonly GraphNode[]): GraphNode | undefined {
  return nodes[0];
}

/** The worker that made the call; without a call, the one that the task was executed by. */
function workerOf(
  graph: ContextGraph,
  task: GraphNode | undefined,
  tool: GraphNode | undefined,
): GraphNode | undefined {
  if (task === undefined) return undefined;
  return one(tool === undefined ? successors(graph, task.id, 'EXECUTED_BY') : predecessors(graph, tool.id, 'CALLED'));
}

function untilBroken(links: readonly WhyLink[]): WhyLink[] {
  const broken = links.findIndex(({ verdict }) => verdict === 'Broken');
  return links.map((item, index) => (broken >= 0 && index > broken ? { ...item, verdict: 'not checked' } : item));
}

function anchorOf({ detail }: GraphNode): string {
  return `${detail['anchor']}@${detail['version']}`;
}

function claimLink(claim: GraphNode, supported = claim.status === 'inference'): WhyLink {
  const note = supported ? `${claim.status}, bound to its evidence` : `${claim.status} that nothing supports`;
  return link('claim', { node: claim, ref: claim.ref, note }, { fine: 'Bound', holds: supported });
}

function evidenceLink(evidence: GraphNode): WhyLink {
  const { source, trust } = evidence.detail;
  const note = `${trust} observation from ${source}`;
  return link('evidence', { node: evidence, ref: evidence.ref, note }, { fine: 'Known', holds: true });
}

/** The value came from this version of the record: it was rendered again from its bytes before the answer was said. */
function recordLink(evidence: GraphNode, from: string | undefined): WhyLink {
  const note = `observed at ${evidence.detail['observedAt']}, in ${from ?? 'no accepted artifact'}`;
  const ref = anchorOf(evidence);
  return link('record', { node: evidence, ref, note }, { fine: 'Resolves', holds: from !== undefined });
}

function toolLink(tool: GraphNode | undefined): WhyLink {
  const holds = tool?.status === 'ok' && tool.detail['conforms'] === 'true';
  const ref = tool === undefined ? 'none' : `${tool.detail['server']}.${tool.detail['tool']}`;
  const note =
    tool === undefined ? 'the call is not in the log' : `${tool.status}, contract ${tool.detail['contractVersion']}`;
  return link('tool_call', { node: tool, ref, note }, { fine: 'Conforms', holds });
}

function workerLink(worker: GraphNode | undefined): WhyLink {
  const holds = worker?.detail['known'] === 'true';
  const note = holds ? 'its workload is the one the card names' : 'its workload is not the one the card names';
  return link('worker', { node: worker, ref: worker?.ref ?? 'none', note }, { fine: 'Known', holds });
}

/** By reference: what is behind it stands in the graph and log of the earlier run. */
function earlierLink(earlier: GraphNode): WhyLink {
  const { runId, stepId, seq } = earlier.detail;
  const note = `settled by event ${seq} of ${runId}, step ${stepId}`;
  return link('earlier_run', { node: earlier, ref: earlier.ref, note }, { fine: 'Known', holds: true });
}

function taskLink(task: GraphNode | undefined, artifact: GraphNode | undefined): WhyLink {
  const ref = task?.detail['taskId'] ?? 'none';
  const note =
    task === undefined ? 'no task' : `context ${task.detail['contextId']}, artifact ${artifact?.ref} accepted`;
  return link('task', { node: task, ref, note }, { fine: 'Accepted', holds: task?.detail['taskId'] !== undefined });
}

function stepLink(step: GraphNode | undefined, task: GraphNode | undefined): WhyLink {
  const ref = step?.ref ?? 'none';
  const by = task === undefined ? '' : `dispatch ${task.ref}, attempt ${task.detail['attempt'] ?? 'none'}, `;
  const note = `${by}${step?.status ?? 'unknown'}`;
  return link('step', { node: step, ref, note }, { fine: 'Accepted', holds: step !== undefined });
}

/** Only what has an effect, or whose skill says so, needs one; then it must have been given. */
function approvalLink(graph: ContextGraph, step: GraphNode | undefined): WhyLink {
  const { approval, risk } = step?.detail ?? {};
  if (approval === 'none' && risk !== 'effect')
    return link(
      'approval',
      { node: undefined, ref: 'none', note: `${risk} step, no effect` },
      { fine: 'Not needed', holds: true },
    );
  const all = step === undefined ? [] : successors(graph, step.id, 'AUTHORIZED_BY');
  const given = all.find(({ status }) => status === 'approved' || status === 'spent');
  const note = given === undefined ? 'no approval was given' : `${given.status}, bound to the digest of one action`;
  return link(
    'approval',
    { node: given, ref: given?.ref ?? 'none', note },
    { fine: 'Bound', holds: given !== undefined },
  );
}

/** What was counted to show that something did not happen. */
function countLink({ detail }: GraphNode, evidence: GraphNode): WhyLink {
  const ref = anchorOf(evidence);
  const { action = 'the action' } = detail;
  const counted = (name: string): string => detail[name] ?? 'unknown';
  switch (anchorType(ref)) {
    case 'goal': {
      const holds = detail['prohibitedByGoal'] === 'true';
      return link('prohibition', { node: evidence, ref, note: `${action} is prohibited` }, { fine: 'Bound', holds });
    }
    case 'lease-registry': {
      const permitting = counted('leaseCountPermitting');
      const calling = counted('dispatchCountCalling');
      const note = `${permitting} of ${counted('leaseCountExamined')} leases permit ${action}, ${calling} dispatches could call it`;
      return link(
        'lease_registry',
        { node: evidence, ref, note },
        { fine: 'Conforms', holds: permitting === '0' && calling === '0' },
      );
    }
    default: {
      const rows = counted('effectRowCount');
      const note = `${rows} rows of ${action} in the effect ledger`;
      return link('effect_ledger', { node: evidence, ref, note }, { fine: 'Conforms', holds: rows === '0' });
    }
  }
}
