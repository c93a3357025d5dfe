/** What a run's spans need from its log: kept while the run is open, and read again from the log when it is not at hand. */
import type { EventBody, RunEvent } from '#contracts/event.ts';
import type { DispatchId, RunId, StepId } from '#contracts/ids.ts';
import type { PlanStep } from '#contracts/plan.ts';
import { traceparentOfRun } from '#kernel/span-identity.ts';
import type { SpanAttributes } from '#ports/telemetry.ts';

/** One attempt that was handed out. */
export interface OpenAttempt {
  readonly dispatchId: DispatchId;
  readonly stepId: StepId;
  readonly attempt: number;
  readonly leaseId: string;
  readonly startedAtMs: number;
  taskId: string | undefined;
  contextId: string | undefined;
  artifactId: string | undefined;
}

export interface RunRecord {
  readonly runId: RunId;
  readonly level: 'central' | 'team';
  readonly startedAtMs: number;
  /** The span that asked for the run. */
  readonly parent: string | undefined;
  readonly traceparent: string;
  readonly traceparentOf: (dispatchId: DispatchId) => string;
  /** Correlation keys known so far, of the run and of everything in it. */
  keys: SpanAttributes;
  readonly steps: Map<StepId, PlanStep>;
  /** Workload by team. */
  readonly agents: Map<string, string>;
  readonly open: Map<DispatchId, OpenAttempt>;
}

/** Undefined unless the log begins with the run's opening. */
export function openRecord(event: RunEvent): RunRecord | undefined {
  if (event.kind !== 'run.received') return undefined;
  const { origin } = event.body;
  const { runId, tenant } = event;
  return {
    runId,
    level: origin.level === 'team' ? 'team' : 'central',
    startedAtMs: Date.parse(event.at),
    parent: origin.level === 'governed' ? undefined : origin.traceparent,
    traceparent: traceparentOfRun(runId, origin),
    traceparentOf: (dispatchId) => traceparentOfRun(runId, origin, dispatchId),
    keys: {
      tenant,
      runId,
      ...(origin.level === 'central' ? { sessionId: origin.sessionId } : {}),
      ...(origin.level === 'team' ? { taskId: origin.taskId, contextId: origin.contextId } : {}),
    },
    steps: new Map(),
    agents: new Map(),
    open: new Map(),
  };
}

/** Takes in one event; says nothing. */
export function noteEvent(record: RunRecord, event: RunEvent): void {
  if (event.kind === 'goal.frozen') record.keys = { ...record.keys, goalId: event.body.goal.goalId };
  else if (event.kind === 'plan.accepted') notePlan(record, event.body);
  else if (event.kind === 'step.dispatched') {
    const { dispatchId, stepId, attempt, leaseId } = event.body;
    const startedAtMs = Date.parse(event.at);
    const nothing = { taskId: undefined, contextId: undefined, artifactId: undefined };
    record.open.set(dispatchId, { dispatchId, stepId, attempt, leaseId, startedAtMs, ...nothing });
  } else if (event.kind === 'step.started') {
    const open = record.open.get(event.body.dispatchId);
    if (open !== undefined) Object.assign(open, { taskId: event.body.taskId, contextId: event.body.contextId });
  } else if (event.kind === 'artifact.received') {
    const open = record.open.get(event.body.dispatchId);
    if (open !== undefined) open.artifactId = event.body.artifactId;
  }
}

function notePlan(record: RunRecord, { plan, cards }: EventBody<'plan.accepted'>): void {
  record.keys = { ...record.keys, planId: plan.planId, planVersion: plan.version };
  for (const { team, workload } of cards) record.agents.set(team, workload);
  for (const step of plan.steps) record.steps.set(step.stepId, step);
}
