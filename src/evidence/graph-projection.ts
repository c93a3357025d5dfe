/**
 * The context graphs of runs, beside the log and after the commit: a commit only marks what is out of date, and the fold happens when
 * somebody looks. Everything here can be thrown away and folded again. Source: DESIGN §4 "projections", §5.
 */
import type { RunRef } from '#contracts/command.ts';
import type { RunEvent } from '#contracts/event.ts';
import { foldGraph } from '#kernel/graph.ts';
import type { ContextGraph } from '#kernel/graph-node.ts';
import { traceClaim, type Trace } from '#kernel/trace.ts';
import type { Store } from '#ports/store.ts';

const KEPT_COUNT_MAX = 256;
const PAGE_COUNT = 1_000;

export interface GraphProjection extends Disposable {
  /** The graph of all events that are durable now; undefined when there is no such run. Rejects with ERR_STORE when the log cannot be read. */
  graph(ref: RunRef): Promise<ContextGraph | undefined>;
  /** What the log says a claim rests on, link by link; undefined when the run has no such claim. `why` re-verifies against the store. */
  trace(ref: RunRef, claimId: string): Promise<Trace | undefined>;
  /** Throws away what is kept; the next look folds again. */
  reset(): void;
  /** Graphs kept and up to date. */
  readonly keptCount: number;
}

/** A fold under way, shared by all who look; a commit in the meantime makes it one that is not kept. */
interface Folding {
  overtaken: boolean;
  graph: Promise<ContextGraph | undefined> | undefined;
}

/** Follows the store's commits until it is disposed. Keeps the graphs of the 256 runs that were looked at last. */
export function createGraphProjection(store: Store, options: { readonly keptCountMax?: number } = {}): GraphProjection {
  const keptCountMax = options.keptCountMax ?? KEPT_COUNT_MAX;
  const kept = new Map<string, ContextGraph>();
  const folding = new Map<string, Folding>();
  const stop = store.onCommit((_events, { ref }) => {
    const key = keyOf(ref);
    kept.delete(key);
    const open = folding.get(key);
    if (open !== undefined) open.overtaken = true;
    folding.delete(key);
  });
  const keep = (key: string, graph: ContextGraph): void => {
    kept.delete(key);
    kept.set(key, graph);
    const [oldest] = kept.keys();
    if (kept.size > keptCountMax && oldest !== undefined) kept.delete(oldest);
  };
  const fold = async (ref: RunRef, own: Folding): Promise<ContextGraph | undefined> => {
    try {
      const graph = foldGraph(await eventsOf(store, ref));
      if (graph !== undefined && !own.overtaken) keep(keyOf(ref), graph);
      return graph;
    } finally {
      if (folding.get(keyOf(ref)) === own) folding.delete(keyOf(ref));
    }
  };
  const look = (ref: RunRef): Promise<ContextGraph | undefined> => {
    const key = keyOf(ref);
    const known = kept.get(key);
    if (known !== undefined) {
      keep(key, known);
      return Promise.resolve(known);
    }
    const open = folding.get(key) ?? { overtaken: false, graph: undefined };
    folding.set(key, open);
    return (open.graph ??= fold(ref, open));
  };
  return {
    graph: look,
    async trace(ref, claimId) {
      const [graph, leases] = await Promise.all([look(ref), store.leasesOfRun(ref.tenant, ref.runId)]);
      return graph === undefined ? undefined : traceClaim(graph, claimId, leases);
    },
    reset: () => kept.clear(),
    get keptCount() {
      return kept.size;
    },
    [Symbol.dispose]: stop,
  };
}

function keyOf({ tenant, runId }: RunRef): string {
  return `${tenant}/${runId}`;
}

async function eventsOf(store: Store, ref: RunRef): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  for (;;) {
    const page = await store.events(ref, events.at(-1)?.seq ?? 0, PAGE_COUNT);
    events.push(...page);
    if (page.length < PAGE_COUNT) return events;
  }
}
