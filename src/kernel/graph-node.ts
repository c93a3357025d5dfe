/** The context graph's nodes and edges, and how they are added. References, status and digests; no payloads. Source: DESIGN §5. */
import type { ErrorRecord } from '#contracts/error.ts';
import type { RunRef } from '#contracts/command.ts';
import type { Digest } from '#contracts/ids.ts';

export type NodeKind =
  | 'run'
  | 'goal'
  | 'plan'
  | 'step'
  | 'agent'
  | 'worker'
  /** A tool as it was called once. */
  | 'tool'
  | 'context_pack'
  | 'delegated_task'
  | 'artifact'
  | 'evidence'
  | 'claim'
  | 'decision'
  | 'receipt'
  | 'error'
  | 'approval'
  | 'lease'
  | 'effect'
  | 'acceptance';

export type EdgeKind =
  | 'DECOMPOSED_INTO'
  | 'DEPENDS_ON'
  | 'ROUTED_TO'
  | 'EXECUTED_BY'
  | 'CALLED'
  | 'USED'
  | 'PRODUCED'
  | 'SUPPORTED_BY'
  | 'DERIVED_FROM'
  | 'VALIDATED_BY'
  | 'AUTHORIZED_BY'
  | 'BLOCKED_BY'
  | 'RETRIED_AS'
  | 'DEGRADED_BY'
  | 'COMPENSATED_BY'
  | 'CANCELLED_BY';

export interface GraphNode {
  /** Kind and reference: `step:s2`, `evidence:ev_…`. */
  readonly id: string;
  readonly kind: NodeKind;
  readonly ref: string;
  readonly status: string | undefined;
  readonly digest: Digest | undefined;
  /** Of the event that first named it. */
  readonly at: string;
  readonly seq: number;
  /** References, names, versions, times, counts. */
  readonly detail: Readonly<Record<string, string>>;
}

export interface GraphEdge {
  readonly kind: EdgeKind;
  readonly from: string;
  readonly to: string;
}

export interface ContextGraph {
  readonly ref: RunRef;
  readonly nodes: ReadonlyMap<string, GraphNode>;
  readonly edges: readonly GraphEdge[];
  readonly out: ReadonlyMap<string, readonly GraphEdge[]>;
  readonly into: ReadonlyMap<string, readonly GraphEdge[]>;
  /** What the log may not say, such as a fact that nothing supports (INV-03). Empty means: the graph is sound. */
  readonly violations: readonly ErrorRecord[];
}

/** What a node is made of; the rest comes from the event. */
export type NodeMade = Pick<GraphNode, 'kind' | 'ref'> & Partial<Pick<GraphNode, 'status' | 'digest' | 'detail'>>;

/** Where the fold adds to. Adding what is there changes nothing but its status, and details that it lacked. */
export interface GraphDraft {
  node(made: NodeMade): string;
  edge(kind: EdgeKind, from: string, to: string): void;
  status(id: string, status: string): void;
  has(id: string): boolean;
  violation(error: ErrorRecord): void;
}

export function nodeId(kind: NodeKind, ref: string): string {
  return `${kind}:${ref}`;
}

/** Every node that an edge of this kind leads to, in the order in which they were added. */
export function successors(graph: ContextGraph, id: string, kind: EdgeKind): readonly GraphNode[] {
  return ends(graph, graph.out.get(id), { kind, end: 'to' });
}

/** Every node that an edge of this kind comes from. */
export function predecessors(graph: ContextGraph, id: string, kind: EdgeKind): readonly GraphNode[] {
  return ends(graph, graph.into.get(id), { kind, end: 'from' });
}

function ends(
  { nodes }: ContextGraph,
  edges: readonly GraphEdge[] = [],
  of: { readonly kind: EdgeKind; readonly end: 'to' | 'from' },
): readonly GraphNode[] {
  return edges.filter(({ kind }) => kind === of.kind).flatMap((edge) => nodes.get(edge[of.end]) ?? []);
}
