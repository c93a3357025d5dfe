/**
 * Turns what a task says, as snapshots and stream events in any order and number, into what control needs once each: started, each
 * artifact, a failure. Results are artifacts; messages may be lost. Source: PROTOCOLS "A2A"; DESIGN §3.6.
 */
import type { Artifact as WireArtifact, StreamResponse, Task } from '@a2a-js/sdk';
import { ARTIFACT_BYTES_MAX, type Artifact } from '#contracts/artifact.ts';
import { ERROR_CODES, type ErrorCode, type ErrorRecord } from '#contracts/error.ts';
import { canonicalText } from '#kernel/canonical.ts';
import type { TeamUpdate } from '#ports/team-transport.ts';
import { type ArtifactAssembly, type Assembled, createArtifactAssembly, wholeValue } from './artifact-assembly.ts';
import { readArtifactValue, readStatusError } from './task-projection.ts';
import { STANDING_OF_TASK_STATE, type TaskStanding } from './task-state-map.ts';

export interface TaskReader {
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
  /** True after a failure or an end with its artifact: nothing more will come. */
  readonly ended: boolean;
  /** What is new in this event. */
  event(payload: StreamResponse['payload']): readonly TeamUpdate[];
  /** What is new in this snapshot; a snapshot that has ended is the last word. */
  snapshot(task: Task): readonly TeamUpdate[];
}

interface Reading {
  taskId: string | undefined;
  contextId: string | undefined;
  ended: boolean;
  readonly seen: Set<string>;
  readonly assembly: ArtifactAssembly;
  deliveredCount: number;
  /** The task has ended well; what it delivered may be on its way. */
  isDelivered: boolean;
  /** Of an artifact that says its step failed: the failure is told, with its reason, once the task has ended. */
  heldError: ErrorRecord | undefined;
}

export function createTaskReader(): TaskReader {
  const at: Reading = {
    taskId: undefined,
    contextId: undefined,
    ended: false,
    seen: new Set(),
    assembly: createArtifactAssembly(),
    deliveredCount: 0,
    isDelivered: false,
    heldError: undefined,
  };
  return {
    get taskId() {
      return at.taskId;
    },
    get contextId() {
      return at.contextId;
    },
    get ended() {
      return at.ended;
    },
    event: (payload) => readEvent(at, payload),
    snapshot: (task) => readTask(at, task, true),
  };
}

function readEvent(at: Reading, payload: StreamResponse['payload']): readonly TeamUpdate[] {
  if (at.ended || payload === undefined) return [];
  if (payload.$case === 'task') return readTask(at, payload.value, false);
  // A bare message is no task: nothing can be awaited of it.
  if (payload.$case === 'message') return fail(at, failure('ERR_TEAM_FAILED', 'The team answered without a task.'));
  if (payload.value.taskId !== at.taskId) return [];
  if (payload.$case === 'artifactUpdate') {
    const { artifact } = payload.value;
    if (artifact === undefined || at.seen.has(artifact.artifactId)) return [];
    return readAssembled(at, artifact.artifactId, at.assembly.take(payload.value, artifact));
  }
  return readStatus(at, payload.value.status, false);
}

function readTask(at: Reading, task: Task, isLastWord: boolean): readonly TeamUpdate[] {
  if (at.ended) return [];
  const updates: TeamUpdate[] = [];
  if (at.taskId === undefined) {
    if (task.id === '' || task.contextId === '')
      return fail(at, failure('ERR_TEAM_FAILED', 'The team answered with a task that has no id or context.'));
    at.taskId = task.id;
    at.contextId = task.contextId;
    updates.push({ kind: 'started', taskId: task.id, contextId: task.contextId });
  }
  if (task.id !== at.taskId) return updates;
  for (const artifact of task.artifacts)
    if (!at.ended && !at.seen.has(artifact.artifactId) && isWhole(artifact, task.status))
      updates.push(...readAssembled(at, artifact.artifactId, wholeValue(artifact)));
  updates.push(...readStatus(at, task.status, isLastWord));
  return updates;
}

/** While a task works, an artifact in its snapshot may be as far as its stream has come: only one data part is surely all of it. */
function isWhole({ parts }: WireArtifact, status: Task['status']): boolean {
  const standing = status === undefined ? undefined : STANDING_OF_TASK_STATE[status.state];
  const isOpen = standing === undefined || standing === 'open' || standing === 'waiting';
  return !isOpen || (parts.length === 1 && parts[0]?.content?.$case === 'data');
}

function readAssembled(at: Reading, artifactId: string, assembled: Assembled): readonly TeamUpdate[] {
  if (assembled.kind === 'open') return [];
  if (assembled.kind === 'refused') return fail(at, assembled.error);
  at.seen.add(artifactId);
  const read = readArtifactValue(assembled.value);
  if (!read.ok) return fail(at, failure('ERR_ARTIFACT_SCHEMA', read.reason));
  const { artifact } = read;
  const bytes = new TextEncoder().encode(canonicalText(artifact) ?? '');
  if (bytes.byteLength > ARTIFACT_BYTES_MAX)
    return fail(at, failure('ERR_ARTIFACT_SIZE', `The artifact has more than ${ARTIFACT_BYTES_MAX} bytes.`));
  if (isFailed(artifact)) {
    at.heldError = artifact.errors[0] ?? failure('ERR_TEAM_FAILED', `The artifact says ${artifact.status}.`);
    return [];
  }
  at.deliveredCount += 1;
  // The task said before that it has ended; its artifact came after, in pieces.
  if (at.isDelivered) at.ended = true;
  return [{ kind: 'artifact', artifact, bytes }];
}

function readStatus(at: Reading, status: Task['status'], isLastWord: boolean): readonly TeamUpdate[] {
  if (at.ended || status === undefined) return [];
  const standing = STANDING_OF_TASK_STATE[status.state];
  if (standing === undefined || standing === 'open' || standing === 'waiting') return [];
  if (standing === 'delivered') {
    at.isDelivered = true;
    if (at.deliveredCount > 0) {
      at.ended = true;
      return [];
    }
    if (at.heldError !== undefined) return fail(at, at.heldError);
    // Its artifact was lost on the way; the task still has it.
    return isLastWord ? fail(at, failure('ERR_ARTIFACT_MISSING', 'The task has ended without an artifact.')) : [];
  }
  return fail(at, readStatusError(status) ?? at.heldError ?? FAILURE_OF_STANDING[standing]());
}

const FAILURE_OF_STANDING: Readonly<
  Record<Extract<TaskStanding, 'failed' | 'cancelled' | 'rejected'>, () => ErrorRecord>
> = {
  failed: () => failure('ERR_TEAM_FAILED', 'The task has failed without saying why.'),
  cancelled: () => failure('ERR_CANCELLED', 'The task was cancelled.'),
  rejected: () => failure('ERR_TEAM_FAILED', 'The team has rejected the task.'),
};

function isFailed(artifact: Artifact): boolean {
  return artifact.status === 'failed' || artifact.status === 'blocked' || artifact.status === 'cancelled';
}

function fail(at: Reading, error: ErrorRecord): readonly TeamUpdate[] {
  at.ended = true;
  return [{ kind: 'failed', error }];
}

function failure(code: ErrorCode, message: string): ErrorRecord {
  return { code, kind: ERROR_CODES[code], message, at: 'a2a', retryable: false };
}
