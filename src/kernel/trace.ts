/**
 * The trace of a claim: what it rests on, link by link, each with the verdict that the log gives it. A link after a broken one is not
 * checked. Source: DESIGN §5, SURFACES "Why".
 */
import type { LeaseRow } from '#contracts/lease.ts';
import type { WhyLink, WhyView } from '#contracts/run-view.ts';
import { anchorType } from './anchor.ts';
import { nodeId, predecessors, successors, type ContextGraph, type GraphNode } from './graph-node.ts';
import { leaseLinks } from './trace-lease.ts';

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
  const artifact = predecessors(graph, evidence.id, 'USED').find(({ status }) => status === 'accepted');
  const tool = one(predecessors(graph, evidence.id, 'PRODUCED'));
  const task = artifact === undefined ? undefined : one(predecessors(graph, artifact.id, 'PRODUCED'));
  const worker = workerOf(graph, task, tool);
  const step = task === undefined ? undefined : one(predecessors(graph, task.id, 'EXECUTED_BY'));
  return [
    ...head,
    recordLink(evidence, artifact),
    ...(tool === undefined && evidence.detail['callId'] === '' ? [] : [toolLink(tool)]),
    workerLink(worker),
    taskLink(task, artifact),
    stepLink(step, task),
    ...leaseLinks(traced, { task, tool }),
    approvalLink(step),
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
function recordLink(evidence: GraphNode, artifact: GraphNode | undefined): WhyLink {
  const where = artifact === undefined ? 'in no accepted artifact' : `in artifact ${artifact.ref}`;
  const note = `observed at ${evidence.detail['observedAt']}, ${where}`;
  return link(
    'record',
    { node: evidence, ref: anchorOf(evidence), note },
    { fine: 'Resolves', holds: artifact !== undefined },
  );
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

function taskLink(task: GraphNode | undefined, artifact: GraphNode | undefined): WhyLink {
  const ref = task?.detail['taskId'] ?? 'none';
  const note =
    task === undefined ? 'no task' : `context ${task.detail['contextId']}, artifact ${artifact?.ref} accepted`;
  return link('task', { node: task, ref, note }, { fine: 'Accepted', holds: task?.detail['taskId'] !== undefined });
}

function stepLink(step: GraphNode | undefined, task: GraphNode | undefined): WhyLink {
  const ref = step?.ref ?? 'none';
  const note = `dispatch ${task?.ref ?? 'none'}, attempt ${task?.detail['attempt'] ?? 'none'}, ${step?.status ?? 'unknown'}`;
  return link('step', { node: step, ref, note }, { fine: 'Accepted', holds: step !== undefined });
}

/** Only what has an effect needs one; a step that needs one is shown by its approval record, which this log does not have. */
function approvalLink(step: GraphNode | undefined): WhyLink {
  const free = step?.detail['approval'] === 'none' && step.detail['risk'] !== 'effect';
  const note = free ? `${step.detail['risk']} step, no effect` : 'no approval is recorded';
  return link('approval', { node: undefined, ref: 'none', note }, { fine: 'Not needed', holds: free });
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
