/**
 * A team run as an A2A task, and back: results are artifacts, an error travels as a data part of the status message (which may be
 * lost), history is empty, since a message may hold what must not be stored. Source: PROTOCOLS "A2A"; A2A 1.0.1 §4.1.
 */
import { type Artifact as WireArtifact, type Message, Role, type StreamResponse, type Task } from '@a2a-js/sdk';
import { artifact, ARTIFACT_MEDIA_TYPE, type Artifact } from '#contracts/artifact.ts';
import { errorRecord, type ErrorRecord } from '#contracts/error.ts';
import type { TaskUpdate, TaskView } from '#ports/team-door.ts';
import { chunkEvents, largeBytes } from './artifact-chunks.ts';
import { taskStateOf } from './task-state-map.ts';

const ERROR_MEDIA_TYPE = 'application/vnd.caseops.error+json';
const QUESTION_MEDIA_TYPE = 'application/vnd.caseops.question+json';

type Status = NonNullable<Task['status']>;
type Standing = Pick<TaskView, 'phase' | 'result' | 'blocked' | 'error'>;

export function taskOf(view: TaskView): Task {
  return {
    id: view.taskId,
    contextId: view.contextId,
    status: statusOf(view, view, view.updatedAt),
    artifacts: view.artifacts.map(wireArtifact),
    history: [],
    metadata: undefined,
  };
}

/** A task as a stream's first event, and its large artifacts, which follow in pieces. */
export function streamedTask(view: TaskView): { readonly task: Task; readonly large: readonly LargeArtifact[] } {
  const large = view.artifacts.flatMap((made) => {
    const bytes = largeBytes(made);
    return bytes === undefined ? [] : [{ artifact: made, bytes }];
  });
  const small = view.artifacts.filter((made) => !large.some(({ artifact: other }) => other === made));
  return { task: taskOf({ ...view, artifacts: small }), large };
}

export interface LargeArtifact {
  readonly artifact: Artifact;
  readonly bytes: Uint8Array;
}

/** One numbered update of a task as stream events: several for a large artifact. */
export function* streamEventsOf(
  view: Pick<TaskView, 'taskId' | 'contextId'>,
  update: TaskUpdate,
): Generator<NonNullable<StreamResponse['payload']>, void, undefined> {
  const bytes = update.kind === 'artifact' ? largeBytes(update.artifact) : undefined;
  if (update.kind === 'artifact' && bytes !== undefined) yield* chunkEvents(view, update.artifact, bytes);
  else yield streamEventOf(view, update);
}

/** One numbered update of a task as one event, whatever its size. */
export function streamEventOf(
  view: Pick<TaskView, 'taskId' | 'contextId'>,
  update: TaskUpdate,
): NonNullable<StreamResponse['payload']> {
  const { taskId, contextId } = view;
  if (update.kind === 'status') {
    const status = statusOf(view, update, update.at);
    return { $case: 'statusUpdate', value: { taskId, contextId, status, metadata: undefined } };
  }
  return {
    $case: 'artifactUpdate',
    value: {
      taskId,
      contextId,
      artifact: wireArtifact(update.artifact),
      append: false,
      lastChunk: true,
      metadata: undefined,
    },
  };
}

export type ReadArtifact =
  | { readonly ok: true; readonly artifact: Artifact }
  | { readonly ok: false; readonly reason: string };

/** An artifact's value as received: parsed against its contract, not yet accepted. */
export function readArtifactValue(value: unknown): ReadArtifact {
  const parsed = artifact.safeParse(value);
  if (parsed.success) return { ok: true, artifact: parsed.data };
  const [issue] = parsed.error.issues;
  const where = issue?.path.map((step) => `/${String(step)}`).join('') ?? '';
  return { ok: false, reason: `The artifact does not conform at ${where === '' ? 'its root' : where}.` };
}

/** The error that a status message carries, when it does; messages may be lost and then say nothing. */
export function readStatusError(status: Status | undefined): ErrorRecord | undefined {
  for (const part of status?.message?.parts ?? []) {
    if (part.content?.$case !== 'data' || part.mediaType !== ERROR_MEDIA_TYPE) continue;
    const read = errorRecord.safeParse(part.content.value);
    if (read.success) return read.data;
  }
  return undefined;
}

function statusOf(task: Pick<TaskView, 'taskId' | 'contextId'>, standing: Standing, at: string): Status {
  return { state: taskStateOf(standing), message: statusMessage(task, standing), timestamp: at };
}

function statusMessage(task: Pick<TaskView, 'taskId' | 'contextId'>, standing: Standing): Message | undefined {
  if (standing.error !== undefined) return agentMessage(task, { value: standing.error, mediaType: ERROR_MEDIA_TYPE });
  if (standing.phase === 'blocked' && standing.blocked !== undefined)
    return agentMessage(task, { value: standing.blocked, mediaType: QUESTION_MEDIA_TYPE });
  return undefined;
}

function agentMessage(
  task: Pick<TaskView, 'taskId' | 'contextId'>,
  data: { readonly value: unknown; readonly mediaType: string },
): Message {
  return {
    messageId: `${task.taskId}-status`,
    contextId: task.contextId,
    taskId: task.taskId,
    role: Role.ROLE_AGENT,
    parts: [
      { content: { $case: 'data', value: data.value }, metadata: undefined, filename: '', mediaType: data.mediaType },
    ],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function wireArtifact(made: Artifact): WireArtifact {
  return {
    artifactId: made.artifactId,
    name: made.skillId,
    description: '',
    parts: [
      { content: { $case: 'data', value: made }, metadata: undefined, filename: '', mediaType: ARTIFACT_MEDIA_TYPE },
    ],
    metadata: undefined,
    extensions: [],
  };
}
