/**
 * The fold of a run's events. `evolve` changes the state in place, by deltas: O(1) per event, O(dependents) when a step is over,
 * O(plan) when a plan is accepted. Events are trusted here: they were decided, sealed and, when read back, verified. Nothing else
 * writes to a run's state. INV-08, INV-09. Source: DESIGN §4.
 */
import type { EventKind, RunEvent } from '#contracts/event.ts';
import { openBudget, reserve, settle } from './budget.ts';
import { releaseHeld } from './contract-hold.ts';
import { permitCall, settleCall } from './evolve-call.ts';
import {
  closeApproval,
  compensateEffect,
  confirmEffect,
  decideOn,
  failEffect,
  intendEffect,
  loseEffect,
  noteSent,
  reconcileEffect,
  replayEffect,
  requestApproval,
  retryEffect,
  spendApproval,
} from './evolve-effect.ts';
import {
  acceptPlan,
  addEvidence,
  debitPlanning,
  dispatchStep,
  endAttempt,
  migrateRun,
  noteProposal,
  reuseStep,
  settleStep,
  skipStep,
  startStep,
  takeAnswer,
  withStep,
} from './evolve-step.ts';
import { addRival, noteArrival, revisePlan, takeHeld } from './evolve-revise.ts';
import { attemptsInFlight } from './next.ts';
import { waitsForPeople } from './people-block.ts';
import type { RunState } from './run-state.ts';
import { millisOf } from './time.ts';

type EventMap = { [K in EventKind]: Extract<RunEvent, { readonly kind: K }> };
type Received = EventMap['run.received'];

/** The state after the first event. */
export function openRun(event: Received): RunState {
  const { origin, statement, language } = event.body;
  return {
    ref: { tenant: event.tenant, runId: event.runId },
    level: origin.level === 'team' ? 'team' : 'central',
    origin,
    statement,
    language,
    receivedAt: event.at,
    seq: event.seq,
    hash: event.hash,
    phase: 'received',
    phaseBeforeBlock: undefined,
    blocked: undefined,
    goal: undefined,
    goalDigest: undefined,
    planRejectedCount: 0,
    lastFindings: [],
    accepted: undefined,
    steps: new Map(),
    ready: new Set(),
    delayed: new Set(),
    readyEffects: new Set(),
    waitingEffects: new Set(),
    inFlight: new Set(),
    questions: new Map(),
    held: new Map(),
    erasures: [],
    migrations: [],
    revisions: [],
    approvals: new Map(),
    effects: new Map(),
    openEffects: new Map(),
    openStepCount: 0,
    openRequiredStepCount: 0,
    completedRequiredStepCount: 0,
    tools: new Map(),
    calls: new Map(),
    evidence: new Map(),
    errors: [],
    budget: origin.level === 'governed' ? openBudget({ ...origin, modelTokenCountMax: 0 }) : undefined,
    queuedAt: undefined,
    admittedAt: undefined,
    pausedMs: 0,
    pausedSince: undefined,
    cancelRequested: undefined,
    cancelSettled: false,
    fallbackUsed: false,
    conflicts: new Map(),
    arrivals: [],
    arrivalCount: 0,
    answer: undefined,
    answerError: undefined,
    result: undefined,
    needsHuman: false,
    needsHumanBeforeBlock: false,
    endedReason: undefined,
    updatedAt: event.at,
  };
}

/** Applies the next event in place. */
export function evolve(state: RunState, event: RunEvent): void {
  apply(state, event.kind, event);
  state.seq = event.seq;
  state.hash = event.hash;
  state.updatedAt = event.at;
}

/** Applies the next event, which may be the first; returns the state. An event of a run that was never received opens nothing. */
export function evolveFrom(state: RunState | undefined, event: RunEvent): RunState | undefined {
  if (state === undefined) return event.kind === 'run.received' ? openRun(event) : undefined;
  evolve(state, event);
  return state;
}

/** The state after all events; undefined when there are none or they do not begin with `run.received`. */
export function foldRun(events: Iterable<RunEvent>): RunState | undefined {
  let state: RunState | undefined;
  for (const event of events) state = evolveFrom(state, event);
  return state;
}

function apply<K extends EventKind>(state: RunState, kind: K, event: EventMap[K]): void {
  APPLY[kind](state, event);
}

/** Recorded for the trail; the state does not change. INV-08. */
const recordOnly = (): void => {};

const APPLY: { readonly [K in EventKind]: (state: RunState, event: EventMap[K]) => void } = {
  'run.received': recordOnly,
  'goal.frozen': (state, { body, at }) => {
    state.goal = body.goal;
    state.goalDigest = body.goalDigest;
    state.admittedAt = at;
    state.budget = openBudget(body.goal.budget);
  },
  'run.queued': (state, { at }) => {
    state.queuedAt = at;
    state.admittedAt = undefined;
  },
  'run.admitted': (state, { at }) => {
    state.queuedAt = undefined;
    state.admittedAt = at;
  },
  'plan.proposed': debitPlanning,
  'plan.rejected': (state, { body }) => {
    state.planRejectedCount += 1;
    state.lastFindings = body.findings;
  },
  'plan.accepted': acceptPlan,
  'run.migrated': migrateRun,
  'plan.revised': revisePlan,
  'step.dispatched': dispatchStep,
  'step.started': startStep,
  'step.reused': reuseStep,
  'step.attempt_failed': endAttempt,
  'step.settled': settleStep,
  'step.skipped': skipStep,
  'worker.proposed': noteProposal,
  'artifact.received': recordOnly,
  'artifact.accepted': addEvidence,
  'artifact.rejected': recordOnly,
  'artifact.quarantined': recordOnly,
  'result.stale': noteArrival,
  'result.duplicate': noteArrival,
  'result.conflicted': addRival,
  'conflict.decided': takeHeld,
  'result.late': noteArrival,
  'budget.reserved': (state, { body }) => {
    withStep(state, body.stepId, (step, account) => {
      step.reservedToolCallCount = body.toolCallCount;
      step.reservedModelTokenCount = body.modelTokenCount;
      reserve(account, body);
    });
  },
  'budget.settled': (state, { body }) => {
    withStep(state, body.stepId, (step, account) => {
      step.reservedToolCallCount = 0;
      step.reservedModelTokenCount = 0;
      settle(account, body.reserved, body.used);
    });
  },
  'run.blocked': (state, { body, at }) => {
    state.blocked = body;
    state.phaseBeforeBlock = state.phase;
    state.phase = 'blocked';
    state.needsHumanBeforeBlock = state.needsHuman;
    if (waitsForPeople(body)) state.needsHuman = true;
    state.pausedSince = at;
  },
  'run.unblocked': (state, { body, at }) => {
    state.phase = state.phaseBeforeBlock ?? state.phase;
    endPause(state, at);
    if (body.code === 'STEP_BLOCKED') takeAnswer(state, body.input);
    // Lifted by a decision about something else, the step is still held.
    if (body.code === 'CONTRACT' && body.input['contract'] !== undefined) releaseHeld(state);
  },
  'approval.requested': requestApproval,
  'approval.endorsed': decideOn('pending'),
  'approval.granted': decideOn('approved'),
  'approval.rejected': decideOn('rejected'),
  'approval.expired': closeApproval('expired'),
  'approval.staled': closeApproval('stale'),
  'approval.withdrawn': closeApproval('withdrawn'),
  'approval.spent': spendApproval,
  'effect.intended': intendEffect,
  'effect.sent': noteSent,
  'effect.confirmed': confirmEffect,
  'effect.failed': failEffect,
  'effect.unknown': loseEffect,
  'effect.reconciled': reconcileEffect,
  'effect.retried': retryEffect,
  'effect.compensated': compensateEffect,
  'effect.replayed': replayEffect,
  'tool.adopted': (state, { body }) => {
    state.tools.set(body.contract.tool, body.contract.digest);
  },
  'call.permitted': permitCall,
  'call.refused': (state, { body }) => {
    state.errors.push(body.error);
  },
  'call.settled': settleCall,
  'cancel.requested': (state, { body, at }) => {
    state.cancelRequested = { ...body, at };
    state.phase = 'cancelling';
    endPause(state, at);
  },
  'cancel.settled': (state) => {
    state.cancelSettled = true;
  },
  'run.recovered': (state, { body }) => {
    // A run that stood still in a block is paused by that already, and one in the queue has no running time yet.
    if (state.pausedSince === undefined && state.queuedAt === undefined) state.pausedMs += body.pausedMs;
    for (const { attempt } of attemptsInFlight(state)) attempt.stoodStillMs += body.pausedMs;
  },
  'answer.composed': (state, { body }) => {
    state.answer = body.answer;
  },
  'answer.refused': (state, { body }) => {
    state.answerError ??= body.error;
    state.errors.push(body.error);
  },
  'run.erased': (state, { body, at }) => {
    state.erasures.push({ ...body, at });
  },
  'body.erased': recordOnly,
  'run.ended': (state, { body, at }) => {
    endPause(state, at);
    state.phase = 'ended';
    state.result = body.result;
    state.needsHuman = body.needsHuman;
    state.endedReason = body.reason;
  },
};

/** Lifts a block: the time it lasted is no running time. Before admission there is none to pause. */
function endPause(state: RunState, at: string): void {
  if (state.blocked !== undefined && waitsForPeople(state.blocked)) state.needsHuman = state.needsHumanBeforeBlock;
  if (state.pausedSince !== undefined && state.admittedAt !== undefined)
    state.pausedMs += millisOf(at) - millisOf(state.pausedSince);
  state.pausedSince = undefined;
  state.blocked = undefined;
  state.phaseBeforeBlock = undefined;
}
