/**
 * The join: when a run is over and with which result, by its join contract alone. The result is the worst required status by
 * failed > cancelled > partial > no_data > completed, then degraded instead of completed or no_data if an optional step is missing
 * or a fallback was used. Source: DESIGN §3.8, CONTRACTS "State and result".
 */
import type { Join } from '#contracts/join.ts';
import type { StepId } from '#contracts/ids.ts';
import type { RunResult } from '#contracts/step-result.ts';
import { isEffectStep } from './effect-state.ts';
import { outcomeOf, satisfies, stepsOf, type StepOutcome } from './ready-set.ts';
import type { RunState, StepState } from './run-state.ts';

export interface JoinOutcome {
  readonly done: boolean;
  /** While not done: what the result would be if nothing more came. */
  readonly result: RunResult;
  readonly reason: string;
}

export type JoinCounts = Pick<RunState, 'openStepCount' | 'openRequiredStepCount' | 'completedRequiredStepCount'>;

type Severity = 'failed' | 'cancelled' | 'partial' | 'no_data' | 'completed';
const WORST_FIRST = ['failed', 'cancelled', 'partial', 'no_data', 'completed'] as const satisfies readonly Severity[];

/** The outcome of the run as it stands: O(plan); ask `joinDone` where only `done` matters. A run without a plan has failed. */
export function joinOutcome(state: RunState): JoinOutcome {
  const join = state.accepted?.plan.join;
  if (join === undefined) return { done: false, result: 'failed', reason: 'The run has no accepted plan.' };
  return {
    done: joinDone(join, state),
    ...joinResult(state, join, {
      outcomeOf,
      becauseOf: (stepId) => spokenReason(state.steps.get(stepId)),
      fallbackUsed: state.fallbackUsed,
    }),
  };
}

/** Whether the join is decided: O(1). A quorum is decided when it is reached, or when every required step is over without it. */
export function joinDone(join: Join, counts: JoinCounts): boolean {
  // With nothing required there is nothing else to wait for than the rest.
  if (join.completionRule === 'all_terminal' || join.requiredSteps.length === 0) return counts.openStepCount === 0;
  if (counts.openRequiredStepCount === 0) return true;
  if (join.completionRule !== 'quorum' || join.successRule !== 'quorum_completed') return false;
  return counts.completedRequiredStepCount >= quorumOf(join);
}

/** How the steps are over, from the state or from the state as it will be after the events being decided. */
export interface JoinView {
  readonly outcomeOf: (step: StepState) => StepOutcome | undefined;
  /** What a reviewer or an effect's target said, when that ended the step. */
  readonly becauseOf: (stepId: StepId) => string | undefined;
  readonly fallbackUsed: boolean;
}

export function joinResult(
  state: RunState,
  join: Join,
  view: JoinView,
): { readonly result: RunResult; readonly reason: string } {
  const required = [...stepsOf(state, join.requiredSteps)];
  const worst = requiredResult(state, join, view);
  const base = boundBy(join, worst.severity);
  const pointless = base === 'no_data' ? skippedForNothing(state, view) : new Set<StepState>();
  const missing = [...stepsOf(state, join.optionalSteps)].filter(
    (step) => isMissing(view.outcomeOf(step)) && !pointless.has(step),
  );
  const names = [
    ...missing.map((step) => step.definition.stepId),
    ...unplannedOutputs(state).map((kind) => `whatever gives ${kind}`),
  ];
  if (names.length > 0 && join.onOptionalFailure === 'failed')
    return { result: 'failed', reason: `Optional steps are missing and the join says failed: ${names.join(', ')}.` };
  const lowered = (names.length > 0 && join.onOptionalFailure === 'degraded') || view.fallbackUsed;
  if (lowered && (base === 'completed' || base === 'no_data')) {
    const why = names.length > 0 ? `optional steps are missing: ${names.join(', ')}` : 'a fallback was used';
    return { result: 'degraded', reason: `The required steps gave ${base}, and ${why}.` };
  }
  const by = worst.stepId === undefined ? `${required.length} required steps` : `step ${worst.stepId}`;
  const because = worst.stepId === undefined ? undefined : view.becauseOf(worst.stepId);
  const reason = `The required result is ${base}, by ${by}.`;
  return { result: base, reason: because === undefined ? reason : `${reason} ${because}` };
}

/** The words of a reviewer, or of an effect's end; undefined for a step without an effect. */
export function spokenReason(step: StepState | undefined, result = step?.result): string | undefined {
  return step === undefined || !isEffectStep(step) ? undefined : result?.errors[0]?.message;
}

/** Outputs that were asked for and that no step of the plan gives: nobody could be found for them. */
function unplannedOutputs(state: RunState): readonly string[] {
  const given = new Set([...state.steps.values()].flatMap((step) => step.skill.produces.map(({ kind }) => kind)));
  return (state.goal?.requestedOutputs ?? []).map(({ kind }) => kind).filter((kind) => !given.has(kind));
}

function quorumOf(join: Join): number {
  return join.quorumCount ?? join.requiredSteps.length;
}

function boundBy(join: Join, severity: Severity): RunResult {
  if (severity === 'failed') return join.onRequiredFailure;
  if (severity === 'no_data') return join.onRequiredNoData;
  return severity;
}

/** Open when the join closed, failed, skipped, cancelled or blocked: nothing that the answer could use. */
function isMissing(outcome: StepOutcome | undefined): boolean {
  return (
    outcome === undefined ||
    outcome === 'failed' ||
    outcome === 'skipped' ||
    outcome === 'cancelled' ||
    outcome === 'blocked'
  );
}

function requiredResult(
  state: RunState,
  join: Join,
  view: JoinView,
): { readonly severity: Severity; readonly stepId?: StepId } {
  const required = [...stepsOf(state, join.requiredSteps)];
  if (join.successRule === 'quorum_completed') {
    const completed = required.filter((step) => {
      const outcome = view.outcomeOf(step);
      return outcome === 'completed' || outcome === 'degraded';
    });
    if (completed.length >= quorumOf(join)) return { severity: 'completed' };
  }
  const skipped = required.some((step) => view.outcomeOf(step) === 'skipped');
  const causes = skipped ? severityOfSkipped(state, view) : new Map<StepState, Severity>();
  let worst: { severity: Severity; stepId?: StepId } = { severity: 'completed' };
  for (const step of required) {
    const outcome = view.outcomeOf(step);
    if (outcome === undefined) continue;
    const severity = outcome === 'skipped' ? (causes.get(step) ?? 'failed') : severityOf(outcome);
    if (WORST_FIRST.indexOf(severity) < WORST_FIRST.indexOf(worst.severity))
      worst = { severity, stepId: step.definition.stepId };
  }
  return worst;
}

function severityOf(outcome: Exclude<StepOutcome, 'skipped'>): Severity {
  if (outcome === 'blocked') return 'failed';
  return outcome === 'degraded' ? 'completed' : outcome;
}

/**
 * A skipped step weighs as much as the worst step that made it impossible: required steps after one that found nothing make the run
 * no_data, not failed. Looked at once all are over, so that the order in which they ended does not matter.
 */
function severityOfSkipped(state: RunState, view: JoinView): ReadonlyMap<StepState, Severity> {
  const marked = new Map<StepState, Severity>();
  const roots = Map.groupBy(state.steps.values(), (step): Severity | 'none' => {
    const outcome = view.outcomeOf(step);
    return outcome === undefined || outcome === 'skipped' || outcome === 'completed' ? 'none' : rootSeverity(outcome);
  });
  for (const severity of WORST_FIRST) {
    const queue = [...(roots.get(severity) ?? [])];
    for (const closed of queue) {
      const outcome = view.outcomeOf(closed);
      for (const { step, strength } of closed.dependents) {
        if (outcome === undefined || marked.has(step) || view.outcomeOf(step) !== 'skipped') continue;
        if (satisfies(step, strength, outcome)) continue;
        marked.set(step, severity);
        queue.push(step);
      }
    }
  }
  return marked;
}

/** Skipped because what they rest on found nothing: nobody misses them where the whole run found nothing. */
function skippedForNothing(state: RunState, view: JoinView): ReadonlySet<StepState> {
  const causes = [...severityOfSkipped(state, view)];
  return new Set(causes.flatMap(([step, severity]) => (severity === 'no_data' ? [step] : [])));
}

function rootSeverity(outcome: Exclude<StepOutcome, 'skipped' | 'completed'>): Severity {
  return outcome === 'degraded' || outcome === 'blocked' ? 'failed' : outcome;
}
