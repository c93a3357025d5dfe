/**
 * A team door that keeps its tasks in memory and does what its test says. It keeps the port's promises (one task per message, one use
 * per lease, only one's own tasks, terminal absorbs), so that protocols can be tested without execution.
 */
import type { Artifact } from '#contracts/artifact.ts';
import type { Dispatch } from '#contracts/dispatch.ts';
import { ERROR_CODES, type ErrorCode, type ErrorRecord } from '#contracts/error.ts';
import type { BlockedReason } from '#contracts/event.ts';
import type { Digest } from '#contracts/ids.ts';
import type { RunResult } from '#contracts/step-result.ts';
import type { Clock } from '#ports/clock.ts';
import type { TeamDefinition } from '#ports/team-definition.ts';
import type {
  SubmitOutcome,
  TaskCaller,
  TaskPage,
  TaskPageQuery,
  TaskSubmission,
  TaskUpdate,
  TaskView,
  TeamDoor,
} from '#ports/team-door.ts';
import { fixtureArtifact } from './team-fixtures.ts';

/** One task as its test drives it. */
interface MemoryTask {
  readonly taskId: string;
  readonly dispatch: Dispatch;
  /** Delivers an artifact; ignored once ended. */
  deliver(over?: Partial<Artifact>): void;
  status(phase: 'running' | 'cancelling'): void;
  block(blocked: BlockedReason): void;
  /** Ignored once ended. */
  end(result: RunResult, error?: ErrorRecord): void;
}

export interface MemoryTeamDoor extends TeamDoor {
  /** Called once per new task, after its submission was answered. */
  onOpen: (task: MemoryTask) => void;
  readonly opened: readonly MemoryTask[];
  /** Streams being followed now. */
  readonly followerCount: number;
  /** Everything the door was ever given and keeps, as text: no lease or proof may be found in it. */
  stored(): string;
}

interface Entry {
  readonly owner: TaskCaller;
  readonly messageId: string;
  readonly payloadDigest: Digest;
  view: TaskView;
  readonly log: TaskUpdate[];
  readonly wake: Set<() => void>;
}

interface Memory {
  readonly clock: Clock;
  readonly entries: Map<string, Entry>;
  readonly consumed: Map<string, Digest>;
  readonly opened: MemoryTask[];
  followerCount: number;
}

export function createMemoryTeamDoor(options: {
  readonly team: TeamDefinition;
  readonly clock: Clock;
}): MemoryTeamDoor {
  const memory: Memory = {
    clock: options.clock,
    entries: new Map(),
    consumed: new Map(),
    opened: [],
    followerCount: 0,
  };
  const door: MemoryTeamDoor = {
    team: options.team,
    onOpen: () => undefined,
    opened: memory.opened,
    get followerCount() {
      return memory.followerCount;
    },
    stored: () => JSON.stringify([...memory.entries.values()].map(({ owner, view, log }) => ({ owner, view, log }))),
    submit: async (submission) => submit(memory, submission, { open: (task) => door.onOpen(task) }),
    task: async (caller, taskId) => own(memory, caller, taskId)?.view,
    tasks: async (caller, query) => page(memory, caller, query),
    async *follow(caller, taskId, afterSeq, signal) {
      const entry = own(memory, caller, taskId);
      if (entry === undefined) return;
      memory.followerCount += 1;
      try {
        yield* followLog(entry, afterSeq, signal);
      } finally {
        memory.followerCount -= 1;
      }
    },
    async cancel(caller, taskId) {
      const entry = own(memory, caller, taskId);
      if (entry === undefined) return 'not_found';
      if (entry.view.phase === 'ended') return 'not_cancelable';
      record(memory, entry, { ...standing('ended'), result: 'cancelled', error: failure('ERR_CANCELLED') });
      return 'cancelled';
    },
  };
  return door;
}

interface Told {
  readonly open: (task: MemoryTask) => void;
}

function submit(memory: Memory, submission: TaskSubmission, told: Told): SubmitOutcome {
  const known = [...memory.entries.values()].find(
    (entry) => entry.messageId === submission.messageId && sameCaller(entry.owner, submission.caller),
  );
  if (known !== undefined) {
    if (known.payloadDigest === submission.payloadDigest) return { ok: true, task: known.view };
    return { ok: false, reason: 'conflict', error: failure('ERR_IDEMPOTENCY_KEY_REUSED') };
  }
  const { jti } = submission.lease.lease;
  if (memory.consumed.has(jti)) return { ok: false, reason: 'lease_consumed', error: failure('ERR_LEASE_CONSUMED') };
  memory.consumed.set(jti, submission.lease.requestDigest);
  const entry = newEntry(submission, { number: memory.entries.size + 1, at: memory.clock.now() });
  memory.entries.set(entry.view.taskId, entry);
  const task = driven(memory, submission, entry);
  memory.opened.push(task);
  queueMicrotask(() => told.open(task));
  return { ok: true, task: entry.view };
}

function page(memory: Memory, caller: TaskCaller, query: TaskPageQuery): TaskPage {
  const mine = [...memory.entries.values()]
    .filter((entry) => sameCaller(entry.owner, caller))
    .map((entry) => entry.view)
    .filter((view) => (query.contextId === undefined || view.contextId === query.contextId) && query.where(view))
    .toReversed();
  const from = query.after === undefined ? 0 : Number(query.after);
  const tasks = mine.slice(from, from + query.taskCountMax);
  const next = from + tasks.length < mine.length ? String(from + tasks.length) : undefined;
  return { tasks, next, totalCount: mine.length };
}

function own(memory: Memory, caller: TaskCaller, taskId: string): Entry | undefined {
  const entry = memory.entries.get(taskId);
  return entry !== undefined && sameCaller(entry.owner, caller) ? entry : undefined;
}

/** Terminal absorbs: after the end nothing is recorded. */
function record(memory: Memory, entry: Entry, update: Unnumbered): void {
  if (entry.view.phase === 'ended') return;
  const numbered: TaskUpdate = { ...update, seq: entry.view.lastSeq + 1, at: memory.clock.now() };
  entry.log.push(numbered);
  entry.view = viewAfter(entry.view, numbered);
  for (const wake of entry.wake) wake();
}

type Unnumbered = TaskUpdate extends infer U ? (U extends TaskUpdate ? Omit<U, 'seq' | 'at'> : never) : never;

function standing(phase: TaskView['phase']): Extract<Unnumbered, { readonly kind: 'status' }> {
  return { kind: 'status', phase, result: undefined, blocked: undefined, error: undefined };
}

function driven(memory: Memory, submission: TaskSubmission, entry: Entry): MemoryTask {
  const { dispatch } = submission;
  const { taskId, contextId } = entry.view;
  const binding = { taskId, contextId, leaseId: submission.lease.lease.jti };
  const say = (update: Unnumbered): void => record(memory, entry, update);
  return {
    taskId,
    dispatch,
    deliver: (over) => say({ kind: 'artifact', artifact: fixtureArtifact(dispatch, binding, over) }),
    status: (phase) => say(standing(phase)),
    block: (blocked) => say({ ...standing('blocked'), blocked }),
    end: (result, error) => say({ ...standing('ended'), result, error }),
  };
}

async function* followLog(entry: Entry, afterSeq: number, signal: AbortSignal): AsyncIterable<TaskUpdate> {
  let next = entry.log.findIndex((update) => update.seq > afterSeq);
  if (next < 0) next = entry.log.length;
  for (;;) {
    for (let update = entry.log[next]; update !== undefined; update = entry.log[next]) {
      if (signal.aborted) return;
      next += 1;
      yield update;
    }
    if (signal.aborted || entry.view.phase === 'ended') return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        entry.wake.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      entry.wake.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }
}

function newEntry(submission: TaskSubmission, made: { readonly number: number; readonly at: string }): Entry {
  const { caller, dispatch, messageId, payloadDigest } = submission;
  const view: TaskView = {
    taskId: `tsk_${made.number}`,
    contextId: submission.contextId ?? `ctx_${made.number}`,
    run: dispatch.runId,
    step: dispatch.stepId,
    attempt: dispatch.attempt,
    planDigest: dispatch.planDigest,
    phase: 'received',
    result: undefined,
    blocked: undefined,
    error: undefined,
    artifacts: [],
    lastSeq: 1,
    createdAt: made.at,
    updatedAt: made.at,
  };
  return { owner: caller, messageId, payloadDigest, view, log: [], wake: new Set() };
}

function viewAfter(view: TaskView, update: TaskUpdate): TaskView {
  const moved = { ...view, lastSeq: update.seq, updatedAt: update.at };
  if (update.kind === 'artifact') return { ...moved, artifacts: [...view.artifacts, update.artifact] };
  const { phase, result, blocked, error } = update;
  return { ...moved, phase, result, blocked, error };
}

function sameCaller(a: TaskCaller, b: TaskCaller): boolean {
  return a.workload === b.workload && a.tenant === b.tenant && a.subject === b.subject;
}

function failure(code: ErrorCode): ErrorRecord {
  return { code, kind: ERROR_CODES[code], message: `The door says ${code}.`, at: 'team', retryable: false };
}
