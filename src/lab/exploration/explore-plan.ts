/**
 * Breadth first through every state that a plan's run can reach. Each state is expanded once, each transition is checked, and since the
 * shortest way is found first, so is the shortest way into what should not be.
 */
import type { EventDraft, RunEvent } from '#contracts/event.ts';
import type { Command, RunRef, Todo } from '#contracts/command.ts';
import { runDeadlineMs } from '#kernel/deadline.ts';
import type { Decision } from '#kernel/decision.ts';
import type { RunState } from '#kernel/run-state.ts';
import { copyRun } from './copy-run.ts';
import { type Mark, unreachedEnds } from './dead-ends.ts';
import { checkEvent, type Finding } from './event-checks.ts';
import { type ExploredPlan, REF, START_MS, timeAt, UNIT_MS } from './explored-plan.ts';
import { fingerprintOf } from './fingerprint.ts';
import { copyLedger, enter, type Ledger, openLedger } from './ledger.ts';
import type { Move, MoveBy } from './move.ts';
import { type Deliveries, makeDeliveries } from './read-moves.ts';
import { movesOf } from './run-moves.ts';
import { checkState } from './state-checks.ts';

/** The kernel as it ships, or with a mistake planted into it. */
export interface Kernel {
  readonly decide: (state: RunState | undefined, command: Command, ref: RunRef) => Decision;
  readonly openRun: (event: Extract<RunEvent, { readonly kind: 'run.received' }>) => RunState;
  readonly evolve: (state: RunState, event: RunEvent) => void;
  readonly next: (state: RunState, at: string) => readonly Todo[];
}

export interface Counterexample extends Finding {
  readonly plan: string;
  /** What happens, from the accepted plan on. */
  readonly moves: readonly string[];
}

export interface PlanExploration {
  readonly plan: string;
  readonly stateCount: number;
  readonly transitionCount: number;
  readonly endCount: number;
  readonly depthMax: number;
  /** Every state was expanded: nothing was cut off. */
  readonly complete: boolean;
  readonly counterexamples: readonly Counterexample[];
}

export interface ExploreOptions {
  /** Where to give up, uncomplete: a mistake can make a plan's states endless. */
  readonly stateCountMax: number;
  /** Counterexamples after which nothing more is looked for. */
  readonly findingCountMax: number;
  /** Moves after which nothing more is looked for. */
  readonly depthMax?: number;
}

export function explorePlan(kernel: Kernel, plan: ExploredPlan, options: ExploreOptions): PlanExploration {
  return new Exploration(kernel, plan, options).run();
}

interface Node {
  readonly id: number;
  readonly key: string;
  readonly depth: number;
  readonly state: RunState;
  readonly ledger: Ledger;
  readonly nowMs: number;
}

interface Followed {
  readonly state: RunState;
  readonly ledger: Ledger;
}

interface Reached {
  readonly from: number;
  readonly label: string;
  readonly mark: Mark;
}

class Exploration {
  readonly #ids = new Map<string, number>();
  readonly #reached: Reached[] = [];
  readonly #edges: { readonly from: number[]; readonly to: number[]; readonly by: MoveBy[] } = {
    from: [],
    to: [],
    by: [],
  };
  readonly #counterexamples: Counterexample[] = [];
  readonly #deliveries: Deliveries = makeDeliveries();
  readonly #kernel: Kernel;
  readonly #plan: ExploredPlan;
  readonly #options: ExploreOptions;
  #queue: Node[] = [];
  #transitionCount = 0;
  #hashCount = 0;
  #scratch: (Followed & { readonly of: number }) | undefined;

  constructor(kernel: Kernel, plan: ExploredPlan, options: ExploreOptions) {
    this.#kernel = kernel;
    this.#plan = plan;
    this.#options = options;
  }

  run(): PlanExploration {
    const { stateCountMax, findingCountMax, depthMax = Infinity } = this.#options;
    this.#open();
    let deepest = 0;
    let cut = false;
    for (let at = 0; at < this.#queue.length; at += 1) {
      const node = this.#queue[at];
      if (node === undefined || this.#counterexamples.length >= findingCountMax) break;
      cut ||= node.depth >= depthMax || this.#ids.size > stateCountMax;
      if (cut) break;
      deepest = node.depth;
      this.#expand(node);
      // What has been expanded is only its number from here on.
      if (at > QUEUE_TRIM) {
        this.#queue = this.#queue.slice(at + 1);
        at = -1;
      }
    }
    const complete = !cut && this.#counterexamples.length < findingCountMax;
    if (complete) this.#lookForDeadEnds();
    return {
      plan: this.#plan.name,
      stateCount: this.#ids.size,
      transitionCount: this.#transitionCount,
      endCount: this.#reached.filter(({ mark }) => mark === 'ended').length,
      depthMax: deepest,
      complete,
      counterexamples: this.#counterexamples,
    };
  }

  #open(): void {
    const ledger = openLedger(this.#plan);
    const [received, ...others] = this.#plan.opening;
    const first = received && this.#sealed({ seq: 0, hash: '' }, received, START_MS);
    if (first?.kind !== 'run.received') return;
    const state = this.#kernel.openRun(first);
    enter(ledger, first);
    for (const draft of others) {
      const event = this.#sealed(state, draft, START_MS);
      this.#kernel.evolve(state, event);
      enter(ledger, event);
    }
    this.#reach({ state, ledger, nowMs: START_MS }, { from: -1, depth: 0, label: '' });
  }

  #expand(node: Node): void {
    const todos = this.#kernel.next(node.state, timeAt(node.nowMs));
    for (const move of movesOf(node.state, {
      nowMs: node.nowMs,
      scope: this.#plan.scope,
      deliveries: this.#deliveries,
      todos,
    }))
      this.#make(node, move);
  }

  #make(node: Node, move: Move): void {
    const nowMs = node.nowMs + move.waits * UNIT_MS;
    const { command } = move;
    if (command === undefined) {
      this.#transitionCount += 1;
      const due = runDeadlineMs(node.state);
      const by = node.nowMs < due && due <= nowMs ? 'deadline' : move.by;
      this.#reach({ ...node, nowMs }, { from: node.id, depth: node.depth + 1, label: move.label, by });
      return;
    }
    const decision = this.#kernel.decide(node.state, command, REF);
    if (!decision.ok || decision.events.length === 0) return;
    this.#transitionCount += 1;
    const recorded = decision.events.every(({ kind }) => RECORD_ONLY.has(kind));
    const after = recorded ? this.#scratchOf(node) : { state: copyRun(node.state), ledger: copyLedger(node.ledger) };
    const found = [
      ...this.#follow(after, decision.events, nowMs),
      ...checkState(this.#plan, after.state, after.ledger),
    ];
    if (recorded && fingerprintOf(this.#plan, { ...after, nowMs }) !== node.key)
      found.push({
        invariant: 'INV-08',
        message: `${decision.events.map(({ kind }) => kind).join(', ')} changed the run.`,
      });
    for (const finding of found) this.#report(finding, [...this.#wayTo(node.id), move.label]);
    if (found.length > 0) this.#scratch = undefined;
    else if (!recorded)
      this.#reach({ ...after, nowMs }, { from: node.id, depth: node.depth + 1, label: move.label, by: move.by });
  }

  /** Folds the events one after the other, each read before by the checker. */
  #follow({ state, ledger }: Followed, events: readonly EventDraft[], nowMs: number): Finding[] {
    const found: Finding[] = [];
    for (const draft of events) {
      const event = this.#sealed(state, draft, nowMs);
      found.push(...checkEvent({ plan: this.#plan, ledger, event }));
      this.#kernel.evolve(state, event);
      enter(ledger, event);
    }
    return found;
  }

  /** One copy serves all that is only recorded: INV-08 says that it stays as it is. */
  #scratchOf(node: Node): Followed {
    if (this.#scratch?.of !== node.id)
      this.#scratch = { of: node.id, state: copyRun(node.state), ledger: copyLedger(node.ledger) };
    return this.#scratch;
  }

  #reach(
    at: Omit<Node, 'id' | 'depth' | 'key'>,
    by: { readonly from: number; readonly depth: number; readonly label: string; readonly by?: MoveBy },
  ): void {
    const key = fingerprintOf(this.#plan, at);
    const known = this.#ids.get(key);
    const id = known ?? this.#ids.size;
    if (by.from >= 0 && by.from !== id && by.by !== undefined) {
      this.#edges.from.push(by.from);
      this.#edges.to.push(id);
      this.#edges.by.push(by.by);
    }
    if (known !== undefined) return;
    this.#ids.set(key, id);
    this.#reached.push({ from: by.from, label: by.label, mark: markOf(at) });
    this.#queue.push({ id, key, depth: by.depth, state: at.state, ledger: at.ledger, nowMs: at.nowMs });
  }

  #lookForDeadEnds(): void {
    const marks = this.#reached.map(({ mark }) => mark);
    for (const { id, message } of unreachedEnds(marks, this.#edges))
      this.#report({ invariant: 'NO-DEAD-END', message }, this.#wayTo(id));
  }

  #report({ invariant, message }: Finding, moves: readonly string[]): void {
    this.#counterexamples.push({ invariant, message, plan: this.#plan.name, moves });
  }

  #wayTo(id: number): readonly string[] {
    const moves: string[] = [];
    for (let at = this.#reached[id]; at !== undefined && at.from >= 0; at = this.#reached[at.from])
      moves.push(at.label);
    return moves.toReversed();
  }

  /** As a driver does it, with a token in place of the digest: each event follows the head that the state holds. */
  #sealed(head: Pick<RunState, 'seq' | 'hash'>, draft: EventDraft, nowMs: number): RunEvent {
    this.#hashCount += 1;
    return {
      tenant: REF.tenant,
      runId: REF.runId,
      seq: head.seq + 1,
      kind: draft.kind,
      schemaVersion: 1,
      at: timeAt(nowMs),
      actor: 'explorer',
      prev: head.hash,
      bodyDigest: 'sha256:',
      hash: `sha256:${this.#hashCount}`,
      body: draft.body,
    } as RunEvent;
  }
}

const QUEUE_TRIM = 4_096;
const RECORD_ONLY: ReadonlySet<string> = new Set(['result.stale', 'result.duplicate', 'result.late']);

function markOf({ state, nowMs }: Omit<Node, 'id' | 'depth' | 'key'>): Mark {
  if (state.phase === 'ended') return 'ended';
  if (state.blocked?.code === 'RESULT_CONFLICT') return 'conflicted';
  return runDeadlineMs(state) <= nowMs ? 'due' : 'open';
}
