/**
 * The context graph of one run: a fold of its log, that can be thrown away and folded again. It answers what a sentence rests on and
 * what a record bears. It is neither the knowledge graph nor the trace of operations. Source: DESIGN §5.
 */
import type { ErrorRecord } from '#contracts/error.ts';
import type { RunEvent } from '#contracts/event.ts';
import { addAnswer, addEnd } from './graph-answer.ts';
import {
  nodeId,
  type ContextGraph,
  type EdgeKind,
  type GraphDraft,
  type GraphEdge,
  type GraphNode,
  type NodeMade,
} from './graph-node.ts';
import { addApproval, addEffect } from './graph-effect.ts';
import { addPermittedCall, addRefusedCall, addSettledCall } from './graph-call.ts';
import {
  addGoal,
  addMigration,
  addPlan,
  addProposal,
  addReceived,
  addRejection,
  addRevision,
  type GraphFold,
  type PlanFacts,
} from './graph-plan.ts';
import {
  addArrival,
  addArtifact,
  addDispatch,
  addFailure,
  addHeld,
  addReused,
  addSettled,
  addSkipped,
  addStarted,
  addVerdict,
} from './graph-step.ts';

/** The graph of a run's events in order, O(events). Undefined for an empty log. A fact without support is a violation, not a throw. */
export function foldGraph(events: Iterable<RunEvent>): ContextGraph | undefined {
  let builder: Builder | undefined;
  for (const event of events) {
    builder ??= new Builder(event);
    builder.at(event);
    addEvent(builder, event);
  }
  return builder?.graph;
}

function addEvent(builder: Builder, event: RunEvent): void {
  const { facts, run } = builder;
  const into = { draft: builder, facts, run };
  if (isOf(event, 'approval')) return addApproval(into, event);
  if (isOf(event, 'effect')) return addEffect(into, event);
  if (isOf(event, 'result')) return addArrival(into, event);
  if (isOf(event, 'call')) return addCall(into, event);
  if (isOf(event, 'plan')) return addPlanning(into, event);
  switch (event.kind) {
    case 'run.received':
      return addReceived(into, event.body);
    case 'goal.frozen':
      return addGoal(into, event.body);
    case 'conflict.decided':
      return addHeld(into, event);
    case 'run.migrated':
      return addMigration(into, event);
    case 'step.dispatched':
      return addDispatch(into, event.body);
    case 'step.started':
      return addStarted(into, event.body);
    case 'step.attempt_failed':
      return addFailure(into, event);
    case 'step.reused':
      return addReused(into, event.body);
    case 'step.settled':
      return addSettled(into, event.body);
    case 'step.skipped':
      return addSkipped(into, event.body);
    case 'artifact.received':
      return addArtifact(into, event.body);
    case 'artifact.accepted':
    case 'artifact.rejected':
    case 'artifact.quarantined':
      return addVerdict(into, event);
    case 'answer.composed':
      return addAnswer(into, event.body);
    case 'run.blocked':
    case 'run.unblocked':
    case 'cancel.requested':
    case 'cancel.settled':
    case 'run.recovered':
    case 'answer.refused':
    case 'run.erased':
    case 'run.ended':
      return addEnd(into, event);
    // Waiting for a turn decides nothing about the goal; what a model proposed is no context, what was called is in the artifact; a tool is
    // context once it is called; and money is not context: the budget is read from the run's state.
    case 'run.queued':
    case 'run.admitted':
    case 'worker.proposed':
    case 'tool.adopted':
    case 'budget.reserved':
    case 'budget.settled':
    case 'body.erased':
      return undefined;
  }
}

function addPlanning(into: GraphFold, event: Family<'plan'>): void {
  if (event.kind === 'plan.proposed') addProposal(into, event.body);
  else if (event.kind === 'plan.rejected') addRejection(into, event);
  else if (event.kind === 'plan.accepted') addPlan(into, event);
  else addRevision(into, event);
}

function addCall(into: GraphFold, event: Family<'call'>): void {
  if (event.kind === 'call.permitted') addPermittedCall(into, event.body);
  else if (event.kind === 'call.refused') addRefusedCall(into, event);
  else addSettledCall(into, event.body);
}

type Family<F extends string> = Extract<RunEvent, { readonly kind: `${F}.${string}` }>;

function isOf<F extends string>(event: RunEvent, family: F): event is Family<F> {
  return event.kind.startsWith(`${family}.`);
}

class Builder implements GraphDraft {
  readonly facts: PlanFacts = {
    skills: new Map(),
    workloads: new Map(),
    tasks: new Map(),
    origins: new Map(),
    goal: undefined,
  };
  readonly run: string;
  readonly #first: RunEvent;
  readonly #nodes = new Map<string, GraphNode>();
  readonly #edges: GraphEdge[] = [];
  readonly #known = new Set<string>();
  readonly #out = new Map<string, GraphEdge[]>();
  readonly #into = new Map<string, GraphEdge[]>();
  readonly #violations: ErrorRecord[] = [];
  #at: Pick<RunEvent, 'at' | 'seq'>;

  constructor(first: RunEvent) {
    this.#first = first;
    this.#at = first;
    this.run = nodeId('run', first.runId);
  }

  get graph(): ContextGraph {
    return {
      ref: { tenant: this.#first.tenant, runId: this.#first.runId },
      nodes: this.#nodes,
      edges: this.#edges,
      out: this.#out,
      into: this.#into,
      violations: this.#violations,
    };
  }

  at(event: RunEvent): void {
    this.#at = event;
  }

  node({ kind, ref, status, digest, detail = {} }: NodeMade): string {
    const id = nodeId(kind, ref);
    const known = this.#nodes.get(id);
    const { at, seq } = this.#at;
    if (known === undefined) this.#nodes.set(id, { id, kind, ref, status, digest, at, seq, detail });
    else
      this.#nodes.set(id, {
        ...known,
        status: status ?? known.status,
        digest: known.digest ?? digest,
        detail: { ...detail, ...known.detail },
      });
    return id;
  }

  edge(kind: EdgeKind, from: string, to: string): void {
    const key = `${kind} ${from} ${to}`;
    if (this.#known.has(key)) return;
    this.#known.add(key);
    const edge: GraphEdge = { kind, from, to };
    this.#edges.push(edge);
    append(this.#out, from, edge);
    append(this.#into, to, edge);
  }

  status(id: string, status: string): void {
    const known = this.#nodes.get(id);
    if (known !== undefined) this.#nodes.set(id, { ...known, status });
  }

  has(id: string): boolean {
    return this.#nodes.has(id);
  }

  violation(error: ErrorRecord): void {
    this.#violations.push(error);
  }
}

function append(lists: Map<string, GraphEdge[]>, key: string, edge: GraphEdge): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [edge]);
  else list.push(edge);
}
