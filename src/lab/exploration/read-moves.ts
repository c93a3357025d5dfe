/** What may happen to a step that a team works on: any word of any of its attempts, at any time, any number of times. */
import type { Artifact } from '#contracts/artifact.ts';
import type { Command, CommandOf } from '#contracts/command.ts';
import { ERROR_CODES, type ErrorCode } from '#contracts/error.ts';
import type { Evidence } from '#contracts/evidence.ts';
import { digestOf } from '#kernel/digest.ts';
import type { AttemptState, RunState, StepState } from '#kernel/run-state.ts';
import { AUDIENCE, type Scope, START_MS, timeAt, UNIT_MS, WORKLOAD } from './explored-plan.ts';
import type { Move, MoveBy } from './move.ts';

const ATTEMPT_COUNT_MAX = 3;
const PLAN_VERSION = 1;
const USAGE = { toolCallCount: 1, modelTokenCount: 0, durationMs: 5 };

/** What a delivery holds. `A` and `B` are two results that contradict each other. */
export type Made = 'A' | 'B' | 'no_data' | 'malformed' | 'misbound' | 'overspent';

type Deliverable = Omit<CommandOf<'deliver'>, 'at'>;

/** Artifacts are made once for each step, attempt and content: what a team sends twice is the same. */
export type Deliveries = (stepId: string, attempt: number, made: Made) => Deliverable;

export function makeDeliveries(): Deliveries {
  const made = new Map<string, Deliverable>();
  return (stepId, attempt, what) => {
    const key = `${stepId} ${attempt} ${what}`;
    const known = made.get(key) ?? deliveryOf(stepId, attempt, what);
    made.set(key, known);
    return known;
  };
}

export interface ReadWorld {
  readonly at: string;
  readonly scope: Scope;
  readonly deliveries: Deliveries;
}

export function readMoves(state: RunState, step: StepState, by: ReadWorld): readonly Move[] {
  const { stepId } = step.definition;
  const moves: Move[] = [];
  const open = step.phase === 'pending' || step.phase === 'ready';
  if (open && step.attempts.length < ATTEMPT_COUNT_MAX) moves.push(dispatchMove(step, by.at));
  for (const attempt of step.attempts) {
    const base = { at: by.at, stepId, attempt: attempt.attempt };
    for (const what of deliverable(state, { step, attempt, scope: by.scope })) moves.push(deliverMove(by, base, what));
    // The end of an attempt says nothing new about a step that is over: close, it is said all the same.
    if (by.scope === 'close' || step.result === undefined)
      moves.push(failMove(base, 'ERR_TEAM_UNREACHABLE', 'fails and may be tried again'));
    if (by.scope === 'close' || state.inFlight.has(stepId)) moves.push(failMove(base, 'ERR_DENIED', 'fails for good'));
    if (by.scope === 'wide') continue;
    moves.push(startMove(base));
    if (attempt.attempt === 1 && state.level === 'central')
      moves.push(failMove(base, 'ERR_STEP_BLOCKED', 'asks for claim_id'));
  }
  const [first] = step.attempts;
  if (first !== undefined && (by.scope === 'close' || stepId === firstAsked(state)))
    moves.push(...strayMoves(by, { at: by.at, stepId, attempt: first.attempt }));
  return moves;
}

/** One stray is as stray as another. */
function firstAsked({ steps }: RunState): string | undefined {
  for (const [stepId, { attempts }] of steps) if (attempts.length > 0) return stepId;
  return undefined;
}

interface At {
  readonly at: string;
  readonly stepId: string;
  readonly attempt: number;
}

/**
 * An attempt that is out may deliver anything; one that is over repeats itself, or says something else. In the wide scope only the last
 * attempt of a step does so, and in a run that takes no result any more only once.
 */
function deliverable(
  state: RunState,
  { step, attempt, scope }: { readonly step: StepState; readonly attempt: AttemptState; readonly scope: Scope },
): readonly Made[] {
  const over = step.result !== undefined || attempt.error !== undefined;
  if (scope === 'close')
    return over ? ['A', 'B', 'no_data', 'malformed'] : ['A', 'no_data', 'malformed', 'misbound', 'overspent'];
  if (!over) return ['A', 'no_data'];
  if (attempt.attempt < step.attempts.length) return [];
  return state.phase === 'ended' || state.phase === 'cancelling' ? ['A'] : ['A', 'B'];
}

function dispatchMove(step: StepState, at: string): Move {
  const { stepId } = step.definition;
  const attempt = step.attempts.length + 1;
  return move('todo', `dispatch ${stepId}#${attempt}`, {
    kind: 'dispatch',
    at,
    actor: 'supervisor',
    stepId,
    planVersion: PLAN_VERSION,
    attempt,
    dispatchId: dispatchIdOf(stepId, attempt),
    leaseId: `lse_${stepId}-${attempt}`,
    audience: AUDIENCE,
    deadlineAt: FAR_AT,
  });
}

function startMove({ at, stepId, attempt }: At): Move {
  return move('arrival', `start ${stepId}#${attempt}`, {
    kind: 'start',
    at,
    actor: WORKLOAD,
    stepId,
    planVersion: PLAN_VERSION,
    attempt,
    dispatchId: dispatchIdOf(stepId, attempt),
    taskId: `task-${stepId}-${attempt}`,
    contextId: 'ctx',
  });
}

function deliverMove(by: ReadWorld, on: At, what: Made): Move {
  return move('arrival', `deliver ${on.stepId}#${on.attempt} ${what}`, {
    ...by.deliveries(on.stepId, on.attempt, what),
    at: by.at,
  });
}

function failMove({ at, stepId, attempt }: At, code: ErrorCode, says: string): Move {
  const kind = ERROR_CODES[code];
  const error = { code, kind, message: `Ended with ${code}.`, at: 'a2a', retryable: kind === 'unavailable' };
  return move('arrival', `${stepId}#${attempt} ${says}`, {
    kind: 'fail',
    at,
    actor: WORKLOAD,
    stepId,
    planVersion: PLAN_VERSION,
    attempt,
    dispatchId: dispatchIdOf(stepId, attempt),
    error: code === 'ERR_STEP_BLOCKED' ? { ...error, detail: { wants: 'claim_id' } } : error,
    usage: USAGE,
  });
}

/** Results of a plan that is not in force, and of a dispatch that never was. */
function strayMoves(by: ReadWorld, on: At): readonly Move[] {
  const known = { ...by.deliveries(on.stepId, on.attempt, 'A'), at: by.at };
  const stale = move('wrong', `deliver ${on.stepId} of plan version 2`, { ...known, planVersion: 2 });
  if (by.scope === 'wide') return [stale];
  return [
    stale,
    move('wrong', `deliver ${on.stepId} of a dispatch that never was`, { ...known, dispatchId: 'dsp_other' }),
  ];
}

export function move(by: MoveBy, label: string, command: Command): Move {
  return { by, label, waits: 0, command };
}

function dispatchIdOf(stepId: string, attempt: number): `dsp_${string}` {
  return `dsp_${stepId}-${attempt}`;
}

/** What was observed for each piece of evidence that the run has accepted. */
export function recordsOf({ evidence }: RunState): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    [...evidence.values()].map(({ evidenceId }) => [evidenceId, { value: evidenceId.endsWith('B') ? 'B' : 'A' }]),
  );
}

const FAR_AT = timeAt(START_MS + 1_000_000 * UNIT_MS);

function deliveryOf(stepId: string, attempt: number, what: Made): Deliverable {
  const artifact = artifactOf(stepId, attempt, what);
  return {
    kind: 'deliver',
    actor: WORKLOAD,
    stepId,
    planVersion: PLAN_VERSION,
    attempt,
    dispatchId: dispatchIdOf(stepId, attempt),
    artifact,
    artifactRef: digestOf(artifact),
    sizeBytes: 100,
    usage: what === 'overspent' ? { ...USAGE, toolCallCount: 9 } : USAGE,
  };
}

function artifactOf(stepId: string, attempt: number, what: Made): Artifact {
  const value = what === 'B' ? 'B' : 'A';
  const evidence: Evidence = {
    evidenceId: `ev_${stepId}-${value}`,
    source: 'claims-db',
    anchor: `claim:${stepId}`,
    version: 'v17',
    observedAt: timeAt(START_MS),
    digest: digestOf({ value }),
    trust: 'authoritative',
    readers: ['internal'],
  };
  const found = what !== 'no_data';
  const open: Omit<Artifact, 'contentDigest'> = {
    contractVersion: '1.0.0',
    artifactId: `art_${stepId}-${attempt}-${what}`,
    binding: {
      dispatchId: dispatchIdOf(stepId, attempt),
      stepId,
      planVersion: PLAN_VERSION,
      attempt,
      taskId: `task-${stepId}-${attempt}`,
      contextId: 'ctx',
      leaseId: what === 'misbound' ? 'lse_other' : `lse_${stepId}-${attempt}`,
    },
    producer: { team: 'claims', workload: WORKLOAD, worker: 'reader' },
    skillId: 'claim-status',
    skillVersion: '1.0.0',
    schemaId: 'claim-status.artifact',
    schemaVersion: '1.0.0',
    status: found ? 'completed' : 'no_data',
    ...(found ? { data: { value: what === 'malformed' ? 17 : value } } : {}),
    evidence: [evidence],
    records: { [evidence.evidenceId]: { value } },
    toolCalls: [],
    missing: found ? [] : ['something'],
    errors: [],
    producedAt: timeAt(START_MS),
  };
  return { ...open, contentDigest: digestOf(open) };
}
