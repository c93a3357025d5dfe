/** The part of the fold in which a plan's next version takes the place of the one before. INV-08, INV-09. Source: DESIGN §4. */
import type { EventKind, RunEvent } from '#contracts/event.ts';
import { needsPeopleBesides } from './conflict-block.ts';
import { byKey, layOut, needPeople } from './evolve-step.ts';
import { markReady, outcomeOf, satisfies, type StepOutcome } from './ready-set.ts';
import type { ArrivalRecord, Dependent, RunState, StepState } from './run-state.ts';

type Arrival = 'result.stale' | 'result.late' | 'result.duplicate' | 'result.conflicted';
type EventOf<K extends EventKind> = Extract<RunEvent, { readonly kind: K }>;

/** How many records of results that changed nothing a state keeps; the log has all. */
const ARRIVAL_COUNT_MAX = 64;

/** A result that changes nothing is on record, and shown to whoever looks. INV-08. */
export function noteArrival(state: RunState, { kind, body, at }: EventOf<Arrival>): void {
  const { stepId, attempt, planVersion, dispatchId, reason, resultHash } = body;
  const known = resultHash === undefined ? {} : { resultHash };
  state.arrivalCount += 1;
  state.arrivals.push({ kind: KINDS[kind], at, stepId, attempt, planVersion, dispatchId, reason, ...known });
  if (state.arrivals.length > ARRIVAL_COUNT_MAX) state.arrivals.shift();
}

const KINDS = {
  'result.stale': 'stale',
  'result.late': 'late',
  'result.duplicate': 'duplicate',
  'result.conflicted': 'conflicted',
} as const satisfies Readonly<Record<Arrival, ArrivalRecord['kind']>>;

/** A second, different result: the first stands until somebody decides. Rivals of old logs were not kept whole. */
export function addRival(state: RunState, event: EventOf<'result.conflicted'>): void {
  const { body } = event;
  noteArrival(state, event);
  const rivals = state.conflicts.get(body.stepId) ?? [];
  state.conflicts.set(body.stepId, body.rival === undefined ? rivals : [...rivals, body.rival]);
  needPeople(state);
}

/**
 * The conflict is over; when another result holds than the settled one, whose artifact was accepted
 * just before, it takes that one's place before the next version is laid out.
 */
export function takeHeld(state: RunState, { body }: EventOf<'conflict.decided'>): void {
  state.conflicts.delete(body.stepId);
  forgetWait(state);
  const step = state.steps.get(body.stepId);
  if (body.adopted === undefined || step === undefined) return;
  step.result = body.adopted.result;
  step.toolCalls = body.adopted.toolCalls;
}

/** O(plan): what is kept stands, everything else is as if it had just been planned. Attempts of before stay on record. */
export function revisePlan(state: RunState, { body, at }: EventOf<'plan.revised'>): void {
  const { plan, to, skills, cards, teamPolicyDigests, from, kept, by, reason } = body;
  if (state.accepted === undefined) return;
  const before = new Map(state.steps);
  for (const part of [state.steps, state.ready, state.delayed, state.readyEffects]) part.clear();
  for (const part of [state.waitingEffects, state.inFlight, state.questions, state.held]) part.clear();
  state.openStepCount = 0;
  state.openRequiredStepCount = 0;
  state.completedRequiredStepCount = 0;
  state.accepted = { plan, planDigest: to.planDigest, acceptedAt: at, skills: byKey(skills), cards, teamPolicyDigests };
  state.revisions.push({ from, to, kept, by, reason, at });
  layOut(state, state.accepted);
  const stands = new Set(kept);
  for (const [stepId, step] of state.steps) {
    const earlier = before.get(stepId);
    if (earlier === undefined) continue;
    step.attempts.push(...earlier.attempts);
    step.earlierAttemptCount = earlier.attempts.length;
    if (stands.has(stepId)) carryOver(state, step, earlier);
  }
  for (const step of state.steps.values()) if (outcomeOf(step) === undefined) openAgain(state, step);
  dropConflicts(state, stands);
}

/** Of a step that begins anew nobody has to decide between the results of before. */
function dropConflicts(state: RunState, stands: ReadonlySet<string>): void {
  const conflicted = [...state.conflicts.keys()];
  for (const stepId of conflicted) if (!stands.has(stepId)) state.conflicts.delete(stepId);
  if (conflicted.length > 0) forgetWait(state);
}

/** Behind the last conflict nobody is needed but for something else. */
function forgetWait(state: RunState): void {
  if (state.conflicts.size > 0) return;
  state.needsHuman = needsPeopleBesides(state);
  state.needsHumanBeforeBlock = state.needsHuman;
}

function carryOver(state: RunState, step: StepState, earlier: StepState): void {
  const { phase, result, artifactId, origin, toolCalls, settledAt, skipReason, given, approvalId, effectId } = earlier;
  Object.assign(step, {
    phase,
    result,
    artifactId,
    origin,
    toolCalls,
    settledAt,
    skipReason,
    given,
    approvalId,
    effectId,
  });
  step.unsatisfiedCount = 0;
  state.openStepCount -= 1;
  if (!step.definition.required) return;
  state.openRequiredStepCount -= 1;
  if (result?.status === 'completed' || result?.status === 'degraded') state.completedRequiredStepCount += 1;
}

/** Counts what it waits for among what stands. */
function openAgain(state: RunState, step: StepState): void {
  step.unsatisfiedCount = step.definition.dependsOn.filter(({ stepId, strength }) => {
    const upstream = state.steps.get(stepId);
    return upstream === undefined || !isSatisfied(step, strength, outcomeOf(upstream));
  }).length;
  step.phase = 'pending';
  if (step.unsatisfiedCount === 0) markReady(state, step);
}

function isSatisfied(step: StepState, strength: Dependent['strength'], outcome: StepOutcome | undefined): boolean {
  return outcome !== undefined && satisfies(step, strength, outcome);
}
