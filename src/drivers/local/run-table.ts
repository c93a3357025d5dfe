/** The runs this process holds, in memory: loaded by folding their log, forgotten when they end, bounded. */
import type { Job, RunRef } from '#contracts/command.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { RunEvent } from '#contracts/event.ts';
import { type ChainHead, verifyChain } from '#kernel/chain.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { RunHead, Store } from '#ports/store.ts';
import type { RunKernel } from './run-kernel.ts';

/** Events read from the store in one piece. */
const PAGE_EVENT_COUNT = 1_000;
/** Ended runs whose state is kept for readers. */
const ENDED_COUNT_MAX = 256;
/** Runs that wait for a person and whose state is kept; the others are folded again when somebody comes. */
const IDLE_COUNT_MAX = 1_000;

/** A run whose lock is held by this process. */
export interface HeldRun {
  readonly ref: RunRef;
  readonly fence: number;
  /** Undefined until the run is opened, and after a failed commit until it is folded again. */
  state: RunState | undefined;
  jobs: ReadonlyMap<string, Job>;
  /** Disarms the timer that wakes the run. */
  disarm: (() => void) | undefined;
}

/** `tenant/runId`. */
export function runKey({ tenant, runId }: RunRef): string {
  return `${tenant}/${runId}`;
}

export interface RunTable {
  readonly held: Map<string, HeldRun>;
  /** Keeps a run that ended for readers only. */
  retire(run: HeldRun, state: RunState): void;
  /** Notes that a run waits for a person; the state of the longest idle ones is dropped. */
  rest(run: HeldRun): void;
  /** Notes that a run works. */
  rouse(run: HeldRun): void;
  ended(ref: RunRef): RunState | undefined;
  /** Drops a run's state: it was evolved by a command that was not written. */
  evict(run: HeldRun): void;
  /** Gives a run up: another process holds it. */
  lose(run: HeldRun): void;
}

/** Starts empty. */
export function createRunTable(): RunTable {
  const held = new Map<string, HeldRun>();
  const ended = new Map<string, RunState>();
  const idle = new Map<string, HeldRun>();
  const forget = (run: HeldRun): void => {
    run.disarm?.();
    run.disarm = undefined;
    run.jobs = new Map();
    held.delete(runKey(run.ref));
    idle.delete(runKey(run.ref));
  };
  return {
    held,
    retire: (run, state) => {
      forget(run);
      ended.set(runKey(run.ref), state);
      for (const key of ended.keys()) if (ended.size > ENDED_COUNT_MAX) ended.delete(key);
    },
    rest: (run) => {
      idle.delete(runKey(run.ref));
      idle.set(runKey(run.ref), run);
      for (const [key, oldest] of idle) {
        if (idle.size <= IDLE_COUNT_MAX) break;
        oldest.state = undefined;
        idle.delete(key);
      }
    },
    rouse: (run) => void idle.delete(runKey(run.ref)),
    ended: (ref) => ended.get(runKey(ref)),
    evict: (run) => {
      run.state = undefined;
      ended.delete(runKey(run.ref));
    },
    lose: forget,
  };
}

/** Folds a run's log, page by page; undefined when there is none. With `verify`, a log whose chain does not hold is refused. */
export async function foldLog(
  store: Store,
  kernel: RunKernel,
  { ref, verify }: { readonly ref: RunRef; readonly verify: boolean },
): Promise<RunState | undefined> {
  let state: RunState | undefined;
  let head: ChainHead = { ref, seq: 0, hash: '' };
  for (;;) {
    const events = await store.events(ref, head.seq, PAGE_EVENT_COUNT);
    if (verify) assertChain(head, events);
    for (const event of events) state = kernel.evolve(state, event);
    const last = events.at(-1);
    if (last === undefined || events.length < PAGE_EVENT_COUNT) return state;
    head = { ref, seq: last.seq, hash: last.hash };
  }
}

function assertChain(head: ChainHead, events: readonly RunEvent[]): void {
  const verdict = verifyChain(head, events);
  if (verdict.ok) return;
  throw new CaseOpsError(
    'ERR_STORE',
    `Event ${verdict.seq} of run ${runKey(head.ref)} does not hold in its chain (expected ${verdict.expected}, got ${verdict.got}); the run is not continued: restore a backup.`,
    { at: 'driver', retryable: false },
  );
}

/** How long a run stood still: since its owner was last seen or wrote. */
export function stoodStillMs(head: RunHead, lastSeenAt: string | undefined, nowMs: number): number {
  const seenMs = Math.max(Date.parse(head.updatedAt), lastSeenAt === undefined ? 0 : Date.parse(lastSeenAt));
  return Math.max(0, nowMs - seenMs);
}
