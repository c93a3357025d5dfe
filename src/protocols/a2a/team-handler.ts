/**
 * The SDK's request handler over a team door: projects what was admitted. It reads the operation from the authorised caller, and
 * refuses when the SDK's own reading of the request is another one. Source: PROTOCOLS "A2A"; SEAMS.
 */
import type { AgentCard, StreamResponse, Task } from '@a2a-js/sdk';
import {
  A2AError,
  ExtendedAgentCardNotConfiguredError,
  PushNotificationNotSupportedError,
  TaskNotFoundError,
} from '@a2a-js/sdk/errors';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { LEASE_EXTENSION } from '#contracts/lease.ts';
import type { TaskPageQuery, TaskUpdate, TaskView, TeamDoor } from '#ports/team-door.ts';
import { chunkEvents } from './artifact-chunks.ts';
import type { Operation, OperationOf } from './operation.ts';
import { AuthorizedCaller } from './task-caller.ts';
import { streamedTask, streamEventsOf, taskOf } from './task-projection.ts';
import { taskStateOf } from './task-state-map.ts';

/** All twelve methods; push notifications and the extended card are declared off and refused. */
export function createTeamHandler(door: TeamDoor, card: AgentCard): A2ARequestHandler {
  return {
    getAgentCard: () => Promise.resolve(card),
    getAuthenticatedExtendedAgentCard: () => Promise.reject(new ExtendedAgentCardNotConfiguredError()),
    sendMessage: async (params, context) => {
      const { caller, operation, task } = admitted(context, 'send');
      assertSame(!operation.stream && params.message?.messageId === operation.message.messageId);
      return taskOf(operation.returnImmediately ? task : await settled(door, caller, task));
    },
    sendMessageStream: (params, context) => {
      const { caller, operation, task } = admitted(context, 'send');
      assertSame(operation.stream && params.message?.messageId === operation.message.messageId);
      return follow(door, caller, { task, afterSeq: task.lastSeq });
    },
    getTask: async (params, context) => {
      const { operation, task } = admitted(context, 'get');
      assertSame(params.id === operation.taskId);
      return taskOf(task);
    },
    cancelTask: async (params, context) => {
      const { operation, task } = admitted(context, 'cancel');
      assertSame(params.id === operation.taskId);
      return taskOf(task);
    },
    resubscribe: (params, context) => {
      const { caller, operation, task } = admitted(context, 'subscribe');
      assertSame(params.id === operation.taskId);
      return follow(door, caller, { task, afterSeq: operation.afterSeq ?? task.lastSeq });
    },
    listTasks: async (params, context) => {
      const caller = callerOf(context, 'list');
      const { query } = operationOf(caller, 'list');
      assertSame((params.pageSize ?? query.pageSize) === query.pageSize);
      assertSame(params.contextId === (query.contextId ?? '') && params.pageToken === (query.pageToken ?? ''));
      const page = await door.tasks(caller.who, pageQuery(query));
      const tasks = page.tasks.map((task) => listed(streamedTask(task).task, query.includeArtifacts));
      return { tasks, nextPageToken: page.next ?? '', pageSize: query.pageSize, totalSize: page.totalCount };
    },
    createTaskPushNotificationConfig: push,
    getTaskPushNotificationConfig: push,
    listTaskPushNotificationConfigs: push,
    deleteTaskPushNotificationConfig: push,
  };
}

function push(): Promise<never> {
  return Promise.reject(new PushNotificationNotSupportedError());
}

/**
 * The first event is the task, under the id after which the log continues; what is large in it follows in pieces, unless the log is going to
 * tell it. Of an artifact in pieces only the last has the event's id, so that whoever resumes gets it from its beginning. Ends quietly,
 * since headers are long gone.
 */
async function* follow(
  door: TeamDoor,
  caller: AuthorizedCaller,
  from: { readonly task: TaskView; readonly afterSeq: number },
): AsyncGenerator<StreamResponse, void, undefined> {
  caller.eventSeq = from.afterSeq;
  const { task, large } = streamedTask(from.task);
  yield { payload: { $case: 'task', value: task } };
  if (from.afterSeq >= from.task.lastSeq)
    for (const { artifact, bytes } of large)
      for (const payload of chunkEvents(from.task, artifact, bytes)) yield { payload };
  try {
    for await (const update of door.follow(caller.who, from.task.taskId, from.afterSeq, caller.signal)) {
      for (const payload of streamEventsOf(from.task, update)) {
        if (caller.signal.aborted) return;
        if (payload.$case !== 'artifactUpdate' || payload.value.lastChunk) caller.eventSeq = update.seq;
        yield { payload };
      }
    }
  } catch {
    // A stream that ends without an end state sends its reader to GetTask, which says what happened.
  }
}

/** Waits until the task has ended or waits for someone; cut short, it tells the task as it is then. */
async function settled(door: TeamDoor, caller: AuthorizedCaller, task: TaskView): Promise<TaskView> {
  if (task.phase === 'ended' || task.phase === 'blocked') return task;
  for await (const update of door.follow(caller.who, task.taskId, task.lastSeq, caller.signal)) {
    if (isRest(update)) break;
  }
  const now = await door.task(caller.who, task.taskId);
  if (now === undefined) throw new TaskNotFoundError('No such task.');
  return now;
}

function isRest(update: TaskUpdate): boolean {
  return update.kind === 'status' && (update.phase === 'ended' || update.phase === 'blocked');
}

function pageQuery(query: OperationOf<'list'>['query']): TaskPageQuery {
  const { contextId, state, updatedAfter } = query;
  return {
    contextId,
    where: (task) =>
      (state === undefined || taskStateOf(task) === state) &&
      (updatedAfter === undefined || Date.parse(task.updatedAt) > Date.parse(updatedAfter)),
    taskCountMax: query.pageSize,
    after: query.pageToken,
  };
}

/** A list holds no large artifacts: each is read with its task. */
function listed(task: Task, withArtifacts: boolean): Task {
  return withArtifacts ? task : { ...task, artifacts: [] };
}

function admitted<K extends 'send' | 'get' | 'cancel' | 'subscribe'>(
  context: ServerCallContext,
  kind: K,
): { readonly caller: AuthorizedCaller; readonly operation: OperationOf<K>; readonly task: TaskView } {
  const caller = callerOf(context, kind);
  if (caller.task === undefined) throw new A2AError({ message: 'Internal error.' });
  return { caller, operation: operationOf(caller, kind), task: caller.task };
}

function callerOf(context: ServerCallContext, kind: Operation['kind']): AuthorizedCaller {
  const { user } = context;
  if (!(user instanceof AuthorizedCaller)) throw new A2AError({ message: 'Internal error.' });
  assertSame(user.operation.kind === kind);
  context.addActivatedExtension(LEASE_EXTENSION);
  return user;
}

function operationOf<K extends Operation['kind']>(caller: AuthorizedCaller, kind: K): OperationOf<K> {
  const { operation } = caller;
  if (!isKind(operation, kind)) throw new A2AError({ message: 'Internal error.' });
  return operation;
}

function isKind<K extends Operation['kind']>(operation: Operation, kind: K): operation is OperationOf<K> {
  return operation.kind === kind;
}

/** What was authorised and what the SDK would do must be the same; otherwise nothing is done. */
function assertSame(same: boolean): void {
  if (!same) throw new A2AError({ message: 'The request was read in two ways; nothing was done.' });
}
