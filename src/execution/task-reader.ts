/** Reads tasks out of the store: each is folded from its run's log and the artifacts that the log refers to. */
import { artifact as artifactSchema, type Artifact } from '#contracts/artifact.ts';
import { dispatch as dispatchSchema, type Dispatch } from '#contracts/dispatch.ts';
import { CaseOpsError } from '#contracts/error.ts';
import { digest as digestSchema, runId as runIdSchema, type Digest } from '#contracts/ids.ts';
import type { RunRef } from '#contracts/command.ts';
import type { RunState } from '#kernel/run-state.ts';
import { parseStrictJson } from '#kernel/strict-json.ts';
import type { Driver } from '#ports/driver.ts';
import type { Store } from '#ports/store.ts';
import type { TaskCaller, TaskPage, TaskPageQuery, TaskView } from '#ports/team-door.ts';
import { bindToDispatch, standingOf, type Standing, type TeamOrigin } from './task-view.ts';
import { WORKER_STEP } from './team-plan.ts';

/** Runs looked at for one page, and the total count: beyond it a list is cut and older tasks are read by their id. */
const TASK_SCAN_COUNT_MAX = 5_000;
const SCAN_PAGE_COUNT = 200;

/** A task as it was when it was looked up. */
export interface OwnTask {
  readonly ref: RunRef;
  readonly origin: TeamOrigin;
  readonly standing: Standing;
  /** Addresses in the artifact store. */
  readonly dispatchRef: Digest;
  readonly artifactRef: Digest | undefined;
}

export interface TaskReader {
  /** The run behind a task of this caller. A task id is the id of its run. */
  own(caller: TaskCaller, taskId: string): Promise<OwnTask | undefined>;
  view(task: OwnTask): Promise<TaskView>;
  /** An artifact that the run's log refers to, bound to the caller's dispatch. */
  artifact(task: OwnTask, ref: Digest): Promise<Artifact>;
  page(caller: TaskCaller, query: TaskPageQuery): Promise<TaskPage>;
}

export function createTaskReader(store: Store, driver: Driver<RunState>): TaskReader {
  const reader: TaskReader = {
    own: async (caller, taskId) => {
      const runId = runIdSchema.safeParse(taskId);
      if (!runId.success) return undefined;
      const state = await driver.state({ tenant: caller.tenant, runId: runId.data });
      return state === undefined ? undefined : ownTask(state, caller);
    },
    view: async (task) => {
      const { stepId: step, attempt, planDigest } = await dispatchOf(store, task);
      const artifacts = task.artifactRef === undefined ? [] : [await reader.artifact(task, task.artifactRef)];
      return { ...task.standing, step, attempt, planDigest, artifacts };
    },
    artifact: async (task, ref) => {
      const made = artifactSchema.parse(await readJson(store, task.ref, ref));
      return bindToDispatch(made, task.origin, await dispatchOf(store, task));
    },
    page: (caller, query) => readPage(store, { caller, query, reader }),
  };
  return reader;
}

function ownTask(state: RunState, caller: TaskCaller): OwnTask | undefined {
  const { origin } = state;
  const owned = origin.level === 'team' && origin.caller === caller.workload && origin.subject === caller.subject;
  if (!owned) return undefined;
  return {
    ref: state.ref,
    origin,
    standing: standingOf(state, origin),
    dispatchRef: digestSchema.parse(state.statement),
    artifactRef: state.steps.get(WORKER_STEP)?.result?.artifactRef,
  };
}

/** The dispatch of a run is kept in the artifact store; the run's statement is its address. */
async function dispatchOf(store: Store, { ref, dispatchRef }: OwnTask): Promise<Dispatch> {
  return dispatchSchema.parse(await readJson(store, ref, dispatchRef));
}

async function readJson(store: Store, ref: RunRef, address: Digest): Promise<unknown> {
  const bytes = await store.artifact(ref.tenant, address);
  const parsed = bytes === undefined ? undefined : parseStrictJson(bytes, { bytesMax: bytes.byteLength });
  if (parsed?.ok === true) return parsed.value;
  throw new CaseOpsError('ERR_STORE', `Run ${ref.runId} refers to ${address}, which cannot be read.`, { at: 'team' });
}

async function readPage(
  store: Store,
  by: { readonly caller: TaskCaller; readonly query: TaskPageQuery; readonly reader: TaskReader },
): Promise<TaskPage> {
  const { caller, query, reader } = by;
  const found: TaskView[] = [];
  let before: RunState['ref']['runId'] | undefined;
  for (let scannedCount = 0; scannedCount < TASK_SCAN_COUNT_MAX; scannedCount += SCAN_PAGE_COUNT) {
    const heads = await store.runs({
      tenant: caller.tenant,
      level: 'team',
      limit: SCAN_PAGE_COUNT,
      ...(before === undefined ? {} : { before }),
    });
    for (const { ref, requestedBy } of heads) {
      const task = requestedBy === caller.subject ? await reader.own(caller, ref.runId) : undefined;
      const view = task === undefined ? undefined : await reader.view(task);
      const wanted = view !== undefined && (query.contextId === undefined || view.contextId === query.contextId);
      if (wanted && query.where(view)) found.push(view);
    }
    before = heads.at(-1)?.ref.runId;
    if (heads.length < SCAN_PAGE_COUNT) break;
  }
  const start = query.after === undefined ? 0 : found.findIndex(({ taskId }) => taskId === query.after) + 1;
  const tasks = found.slice(start, start + query.taskCountMax);
  const more = start + tasks.length < found.length;
  return { tasks, next: more ? tasks.at(-1)?.taskId : undefined, totalCount: found.length };
}
