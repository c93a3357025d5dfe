/**
 * Tells runs and steps as spans, counts and times, from what was committed: nothing is told that did not happen, and no decision waits for
 * it. A span is told when its run or attempt is over, under the id that the ids of the run give it, so that a crash between loses at most
 * the telling. Source: DESIGN §4 "Owners", §5 "Step ↔ span".
 */
import type { RunRef } from '#contracts/command.ts';
import type { EventBody, RunEvent } from '#contracts/event.ts';
import type { DispatchId, StepId } from '#contracts/ids.ts';
import type { RunHead, Store } from '#ports/store.ts';
import type { Span, SpanEnd, Telemetry } from '#ports/telemetry.ts';
import { noteEvent, openRecord, type OpenAttempt, type RunRecord } from './run-record.ts';

/** Runs whose record is kept at hand; of the longest open ones beyond it, the log is read again. */
const RECORD_COUNT_MAX = 10_000;
const PAGE_COUNT = 500;
const PAGE_COUNT_MAX = 200;
const EVIDENCE_COUNT_MAX = 64;

interface Followed {
  record: RunRecord | undefined;
  /** Events that came while the log was read. */
  readonly waiting: RunEvent[];
}

/** Follows every run of the store until it is called off. */
export function observeRuns(store: Store, telemetry: Telemetry): () => void {
  const runs = new Map<string, Followed>();
  return store.onCommit((events, head) => {
    const [first] = events;
    if (first === undefined) return;
    const key = `${head.ref.tenant}/${head.ref.runId}`;
    const followed = runs.get(key) ?? follow(runs, key, first);
    if (followed.record !== undefined) tellAll(telemetry, followed.record, events);
    else {
      followed.waiting.push(...events);
      // A run that was open before this process: its beginning is in the log. Telling may fail; the run does not.
      if (followed.waiting.length === events.length)
        void readBack(store, { telemetry, followed, ref: head.ref, before: first.seq });
    }
    forget(runs, key, head);
  });
}

function follow(runs: Map<string, Followed>, key: string, first: RunEvent): Followed {
  const followed: Followed = { record: openRecord(first), waiting: [] };
  const [oldest] = runs.keys();
  if (runs.size >= RECORD_COUNT_MAX && oldest !== undefined) runs.delete(oldest);
  runs.set(key, followed);
  return followed;
}

function forget(runs: Map<string, Followed>, key: string, head: RunHead): void {
  if (head.phase === 'ended') runs.delete(key);
}

interface Reading {
  readonly telemetry: Telemetry;
  readonly followed: Followed;
  readonly ref: RunRef;
  readonly before: number;
}

async function readBack(store: Store, { telemetry, followed, ref, before }: Reading): Promise<void> {
  try {
    const record = await recordOf(store, ref, before);
    if (record === undefined) return;
    followed.record = record;
    tellAll(telemetry, record, followed.waiting.splice(0));
  } catch {
    telemetry.log('warn', 'The log of a run could not be read for its spans.', { runId: ref.runId });
  }
}

async function recordOf(store: Store, ref: RunRef, before: number): Promise<RunRecord | undefined> {
  let record: RunRecord | undefined;
  for (let page = 0, after = 0; page < PAGE_COUNT_MAX; page++) {
    const events = await store.events(ref, after, PAGE_COUNT);
    for (const event of events) {
      if (event.seq >= before) return record;
      record ??= openRecord(event);
      if (record === undefined) return undefined;
      noteEvent(record, event);
      if (event.kind === 'step.settled' || event.kind === 'step.attempt_failed') closeQuietly(record, event.body);
      after = event.seq;
    }
    if (events.length < PAGE_COUNT) break;
  }
  return record;
}

function closeQuietly(record: RunRecord, body: EventBody<'step.settled'> | EventBody<'step.attempt_failed'>): void {
  const stepId = 'result' in body ? body.result.stepId : body.stepId;
  takeOpen(record, stepId, body.dispatchId);
}

function tellAll(telemetry: Telemetry, record: RunRecord, events: readonly RunEvent[]): void {
  for (const event of events) {
    noteEvent(record, event);
    tell(telemetry, record, event);
  }
}

function tell(telemetry: Telemetry, record: RunRecord, event: RunEvent): void {
  const atMs = Date.parse(event.at);
  if (event.kind === 'step.settled') tellSettled(telemetry, record, { body: event.body, atMs });
  else if (event.kind === 'step.skipped') telemetry.count('steps', { level: record.level, status: 'skipped' });
  else if (event.kind === 'run.ended') tellEnded(telemetry, record, { body: event.body, atMs });
  else if (event.kind === 'step.attempt_failed') {
    const { stepId, dispatchId, error } = event.body;
    const open = takeOpen(record, stepId, dispatchId);
    if (open !== undefined) startStepSpan(telemetry, record, open).end({ error: error.code, endedAtMs: atMs });
  }
}

function tellSettled(
  telemetry: Telemetry,
  record: RunRecord,
  { body, atMs }: { readonly body: EventBody<'step.settled'>; readonly atMs: number },
): void {
  const { level } = record;
  const { result, toolCalls } = body;
  const { status } = result;
  telemetry.count('steps', { level, status });
  for (const call of level === 'central' ? toolCalls : []) {
    telemetry.count('tool_calls', { outcome: call.outcome });
    const seconds = (Date.parse(call.endedAt) - Date.parse(call.startedAt)) / 1_000;
    telemetry.observe('tool_call_duration', seconds, { outcome: call.outcome });
  }
  const open = takeOpen(record, result.stepId, body.dispatchId);
  if (open === undefined) return;
  telemetry.observe('step_duration', (atMs - open.startedAtMs) / 1_000, { level, status });
  const evidenceIds = result.evidence.slice(0, EVIDENCE_COUNT_MAX).map(({ evidenceId }) => evidenceId);
  const attributes = {
    result: status,
    artifactId: open.artifactId,
    ...(evidenceIds.length > 0 ? { evidenceIds } : {}),
  };
  const error = status === 'failed' || status === 'cancelled' ? (result.errors[0]?.code ?? status) : undefined;
  startStepSpan(telemetry, record, open).end({ attributes, error, endedAtMs: atMs } satisfies SpanEnd);
}

function tellEnded(
  telemetry: Telemetry,
  record: RunRecord,
  { body, atMs }: { readonly body: EventBody<'run.ended'>; readonly atMs: number },
): void {
  const { level, parent, traceparent, keys, startedAtMs } = record;
  const { result } = body;
  for (const open of record.open.values())
    startStepSpan(telemetry, record, open).end({ error: 'ERR_CANCELLED', endedAtMs: atMs });
  record.open.clear();
  telemetry.count('runs', { level, result });
  const [, traceId] = traceparent.split('-');
  telemetry.log('info', 'A run ended.', { runId: record.runId, level, result, needsHuman: body.needsHuman, traceId });
  telemetry.observe('run_duration', (atMs - startedAtMs) / 1_000, { level, result });
  telemetry
    .startSpan(level === 'central' ? 'run' : 'team run', { parent, own: traceparent, startedAtMs, attributes: keys })
    .end({ attributes: { result }, error: result === 'failed' ? result : undefined, endedAtMs: atMs });
}

function startStepSpan(telemetry: Telemetry, record: RunRecord, open: OpenAttempt): Span {
  const step = record.steps.get(open.stepId);
  const { dispatchId, stepId, attempt, leaseId, startedAtMs } = open;
  const team = record.level === 'team';
  return telemetry.startSpan(team ? `invoke_agent ${step?.skillId ?? stepId}` : `step ${step?.skillId ?? stepId}`, {
    parent: record.traceparent,
    own: record.traceparentOf(dispatchId),
    startedAtMs,
    attributes: {
      ...record.keys,
      stepId,
      attempt,
      dispatchId,
      leaseId,
      taskId: open.taskId ?? record.keys.taskId,
      contextId: open.contextId ?? record.keys.contextId,
      agentName: step?.team,
      agentId: record.agents.get(step?.team ?? ''),
      skillId: step?.skillId,
      genAiOperation: team ? 'invoke_agent' : undefined,
    },
  });
}

/** The attempt by its dispatch, or the last of its step; it is no longer open then. */
function takeOpen(record: RunRecord, stepId: StepId, dispatchId: DispatchId | undefined): OpenAttempt | undefined {
  const open =
    dispatchId === undefined
      ? [...record.open.values()].findLast((one) => one.stepId === stepId)
      : record.open.get(dispatchId);
  if (open !== undefined) record.open.delete(open.dispatchId);
  return open;
}
