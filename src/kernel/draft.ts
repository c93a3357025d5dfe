/**
 * Events being decided together with what they will have changed, so that one command's consequences (skips, the join, the end) are
 * decided in the same step without touching or copying the state.
 */
import type { Usage } from '#contracts/budget.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import type { EventBody, EventDraft } from '#contracts/event.ts';
import type { EffectId, StepId } from '#contracts/ids.ts';
import type { RunResult, StepResult, StepStatus } from '#contracts/step-result.ts';
import { isNothing } from './budget.ts';
import { enoughTime } from './deadline.ts';
import type { Decision } from './decision.ts';
import { openApproval, openEffect } from './effect-state.ts';
import { movedOf } from './contract-hold.ts';
import { failure } from './failure.ts';
import { joinDone, joinResult, type JoinCounts, spokenReason } from './join.ts';
import { liftPeopleBlock, needsPeopleAnyhow } from './people-block.ts';
import type { PlannedRun } from './planned-run.ts';
import { neverReady, outcomeOf, type StepOutcome } from './ready-set.ts';
import { resultHash } from './result-hash.ts';
import type { AttemptState, RunState, StepState } from './run-state.ts';
import { questionOf } from './step-question.ts';
import { millisOf, timestampOf } from './time.ts';

export interface Draft {
  readonly state: RunState;
  readonly run: PlannedRun;
  readonly at: string;
  readonly events: EventDraft[];
  /** Steps that these events end. */
  readonly over: Map<StepState, StepOutcome>;
  /** Of the steps that these events settle. */
  readonly results: Map<StepId, StepResult>;
  readonly counts: { -readonly [K in keyof JoinCounts]: JoinCounts[K] };
  fallbackUsed: boolean;
  /** People are needed whatever block is lifted. */
  needsHuman: boolean;
  /** Effects that these events end. While another is open, the join waits. */
  readonly endedEffects: Set<EffectId>;
  /** A conflict in these events blocks the run: the join waits. */
  blocked: boolean;
  /** These events lift a block behind which the join may have been decided. */
  lifted: boolean;
}

export function openDraft(state: RunState, run: PlannedRun, at: string): Draft {
  const { openStepCount, openRequiredStepCount, completedRequiredStepCount, fallbackUsed } = state;
  const counts = { openStepCount, openRequiredStepCount, completedRequiredStepCount };
  const blocked = state.phase === 'blocked' || state.conflicts.size > 0;
  return {
    state,
    run,
    at,
    events: [],
    over: new Map(),
    results: new Map(),
    endedEffects: new Set(),
    counts,
    fallbackUsed,
    needsHuman: needsPeopleAnyhow(state),
    blocked,
    lifted: false,
  };
}

/** Settles a step and skips what can never start now. */
export function settle(draft: Draft, step: StepState, settled: EventBody<'step.settled'>): void {
  const { status } = settled.result;
  draft.events.push({ kind: 'step.settled', body: settled });
  markOver(draft, step, status);
  draft.results.set(settled.result.stepId, settled.result);
  if (status === 'degraded') draft.fallbackUsed = true;
  if (step.definition.required && (status === 'completed' || status === 'degraded'))
    draft.counts.completedRequiredStepCount += 1;
  for (const { step: never, because } of neverReady({ step, outcome: status }, (other) => isOver(draft, other)))
    skip(draft, never, { because: [because], reason: `Step ${because} did not give what this step needs.` });
}

/** Ends an attempt: what it used is debited, the rest of its reservation is free again. One that reserved and used nothing has no account. */
export function releaseBudget(draft: Draft, step: StepState, used: Usage): void {
  const { stepId } = step.definition;
  const reserved = { toolCallCount: step.reservedToolCallCount, modelTokenCount: step.reservedModelTokenCount };
  if (isNothing(reserved) && isNothing(used)) return;
  draft.events.push({ kind: 'budget.settled', body: { stepId, attempt: step.attempts.length, reserved, used } });
}

/**
 * Ends the current attempt of a step without a result: it is tried again when the error allows it, attempts and time are left;
 * else the step is settled as `status`. One whose worker asks a question is not over: it waits for the answer.
 */
export function failAttempt(
  draft: Draft,
  { step, attempt }: { readonly step: StepState; readonly attempt: AttemptState },
  ended: { readonly error: ErrorRecord; readonly used: Usage; readonly status: 'failed' | 'cancelled' },
): void {
  const { stepId } = step.definition;
  const { error, used, status } = ended;
  releaseBudget(draft, step, used);
  const retryAt = retryAtOf(draft, step, error);
  const body = {
    stepId,
    attempt: attempt.attempt,
    planVersion: draft.run.accepted.plan.version,
    dispatchId: attempt.dispatchId,
    error,
  };
  draft.events.push({
    kind: 'step.attempt_failed',
    body: retryAt === undefined ? body : { ...body, retryAt },
  });
  const waits = questionOf(draft.state, step, error) ?? movedOf(draft.state, step, error);
  if (retryAt !== undefined || waits !== undefined) return;
  const result = unsuccessful(draft, step, { status, error, used });
  settle(draft, step, { result, dispatchId: attempt.dispatchId, toolCalls: [] });
}

/** Settles a step that has no attempt in flight as failed. */
export function failStep(draft: Draft, step: StepState, error: ErrorRecord): void {
  const result = unsuccessful(draft, step, { status: 'failed', error, used: NOTHING_USED });
  settle(draft, step, { result, toolCalls: [] });
}

/** What an attempt used whose usage nobody can tell: all that it was allowed. */
export function allOfIt(step: StepState, attempt: AttemptState, at: string): Usage {
  return {
    toolCallCount: step.reservedToolCallCount,
    modelTokenCount: step.reservedModelTokenCount,
    durationMs: Math.max(0, millisOf(at) - millisOf(attempt.dispatchedAt)),
  };
}

/**
 * Ends the draft: when its events decide the join, what is still open is closed, and a run whose goal declares no sentence ends;
 * one that declares some is asked to compose. A blocked run waits.
 */
export function conclude(draft: Draft): Decision {
  const { state, run } = draft;
  const { join } = run.accepted.plan;
  if (draft.blocked || (draft.over.size === 0 && !draft.lifted) || !joinDone(join, draft.counts) || holdsEffect(draft))
    return { ok: true, events: draft.events };
  closeOpenSteps(draft, 'The join closed without this step.');
  const { result, reason } = joinResult(state, join, {
    outcomeOf: (step) => draft.over.get(step) ?? outcomeOf(step),
    becauseOf: (stepId) => spokenReason(state.steps.get(stepId), draft.results.get(stepId)),
    fallbackUsed: draft.fallbackUsed,
  });
  if (run.goal.claims.length === 0) end(draft, { result, reason, needsHuman: draft.needsHuman });
  return { ok: true, events: draft.events };
}

/** Ends the run. */
export function end(
  draft: Pick<Draft, 'events'>,
  ending: { readonly result: RunResult; readonly needsHuman: boolean; readonly reason: string },
): void {
  draft.events.push({ kind: 'run.ended', body: { ...ending, reason: ending.reason.slice(0, 1_000) } });
}

/** Closes every open step: what is in flight is settled as cancelled, what never started is skipped. O(plan), once in a run's life. */
export function closeOpenSteps(draft: Draft, reason: string): void {
  if (draft.counts.openStepCount === 0) return;
  for (const step of openSteps(draft)) {
    if (closeEffectStep(draft, step, reason)) continue;
    const attempt = attemptInFlight(draft, step);
    if (attempt === undefined) {
      skip(draft, step, { because: [], reason });
      continue;
    }
    const ended = { error: failure('ERR_CANCELLED', reason), used: allOfIt(step, attempt, draft.at) };
    failAttempt(draft, { step, attempt }, { ...ended, status: 'cancelled' });
  }
}

/**
 * Closes a step whose action was proposed: nobody may decide it any more, and an effect that may have been applied is in doubt, to be
 * reconciled. False for a step that has neither.
 */
export function closeEffectStep(draft: Draft, step: StepState, reason: string): boolean {
  const { state } = draft;
  const effect = openEffect(state, step);
  if (effect !== undefined && !draft.endedEffects.has(effect.effectId)) {
    const { effectId, attempt } = effect;
    if (effect.state === 'in_progress')
      draft.events.push({ kind: 'effect.unknown', body: { effectId, attempt, note: reason.slice(0, 500) } });
    draft.endedEffects.add(effectId);
    if (effect.state !== 'not_started') draft.needsHuman = true;
    const doubt = `Effect ${effectId} is ${effect.state === 'not_started' ? 'not applied' : 'in doubt'}: ${reason}`;
    failStep(draft, step, failure(effect.state === 'not_started' ? 'ERR_CANCELLED' : 'ERR_EFFECT_UNKNOWN', doubt));
    return true;
  }
  const approval = openApproval(state, step);
  if (approval === undefined) return false;
  draft.events.push({
    kind: 'approval.withdrawn',
    body: { approvalId: approval.approvalId, by: 'kernel', reason: reason.slice(0, 1_000) },
  });
  skip(draft, step, { because: [], reason });
  return true;
}

/** Lifts a block that decisions lift. */
export function lift(draft: Draft, by: string): void {
  const lifted = draft.blocked ? liftPeopleBlock(draft.state, by) : [];
  draft.events.push(...lifted);
  if (lifted.length > 0) draft.blocked = draft.state.conflicts.size > 0;
}

/** The attempt of a step that is out and that these events do not end. */
export function attemptInFlight(draft: Draft, step: StepState): AttemptState | undefined {
  return draft.state.inFlight.has(step.definition.stepId) ? step.attempts.at(-1) : undefined;
}

/** The steps that are still open after the draft's events, one after the other; closing one may close others. */
export function* openSteps(draft: Draft): Generator<StepState, void, undefined> {
  for (const step of draft.state.steps.values()) if (!isOver(draft, step)) yield step;
}

/** Whether an effect is not over after these events. */
export function holdsEffect({ state, endedEffects }: Draft): boolean {
  for (const effectId of state.openEffects.keys()) if (!endedEffects.has(effectId)) return true;
  return false;
}

const NOTHING_USED: Usage = { modelTokenCount: 0, toolCallCount: 0, durationMs: 0 };

function isOver(draft: Draft, step: StepState): boolean {
  return draft.over.has(step) || step.phase === 'settled' || step.phase === 'skipped';
}

function markOver(draft: Draft, step: StepState, outcome: StepOutcome): void {
  draft.over.set(step, outcome);
  draft.counts.openStepCount -= 1;
  if (step.definition.required) draft.counts.openRequiredStepCount -= 1;
}

function skip(draft: Draft, step: StepState, why: { readonly because: string[]; readonly reason: string }): void {
  const { stepId } = step.definition;
  const planVersion = draft.run.accepted.plan.version;
  draft.events.push({ kind: 'step.skipped', body: { stepId, planVersion, ...why } });
  markOver(draft, step, 'skipped');
}

/** Exponential from the skill's backoff, without jitter: the same log always decides the same. */
function retryAtOf(draft: Draft, step: StepState, error: ErrorRecord): string | undefined {
  const { attemptCountMax, backoffMs } = step.skill.retry;
  const repeatable = error.retryable && error.kind !== 'contract' && error.kind !== 'denied';
  const attemptCount = step.attempts.length - step.earlierAttemptCount;
  if (!repeatable || attemptCount >= attemptCountMax) return undefined;
  const retryMs = millisOf(draft.at) + backoffMs * 2 ** (attemptCount - 1);
  return enoughTime(draft.state, step, retryMs) ? timestampOf(retryMs) : undefined;
}

function unsuccessful(
  draft: Draft,
  step: StepState,
  why: { readonly status: StepStatus; readonly error: ErrorRecord; readonly used: Usage },
): StepResult {
  const { status, error, used } = why;
  const contractVersion = step.skill.version;
  return {
    stepId: step.definition.stepId,
    planVersion: draft.run.accepted.plan.version,
    attempt: Math.max(1, step.attempts.length),
    status,
    evidence: [],
    missing: [],
    errors: [error],
    usage: used,
    producer: 'kernel',
    contractVersion,
    resultHash: resultHash({ status, data: undefined, evidence: [], missing: [], contractVersion }),
  };
}
