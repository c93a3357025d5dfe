/** The part of the fold that concerns a plan and its steps. Source: DESIGN §4. */
import { type Evidence, evidenceKey } from '#contracts/evidence.ts';
import type { EventKind, RunEvent } from '#contracts/event.ts';
import type { StepId } from '#contracts/ids.ts';
import type { SkillContract } from '#contracts/skill.ts';
import { debitTokens } from './budget.ts';
import { movedOf, releaseHeld } from './contract-hold.ts';
import { markReady, outcomeOf, unlockDependents } from './ready-set.ts';
import type { AcceptedPlan, BudgetState, Dependent, RunState, StepState } from './run-state.ts';
import { skillKey } from './skill-key.ts';
import { answerTo, questionOf } from './step-question.ts';

type EventOf<K extends EventKind> = Extract<RunEvent, { readonly kind: K }>;

/** Runs `change` on a step and the run's account; an event about a step that the run does not have changes nothing. */
export function withStep(
  state: RunState,
  stepId: StepId,
  change: (step: StepState, account: BudgetState) => void,
): void {
  const step = state.steps.get(stepId);
  if (step !== undefined && state.budget !== undefined) change(step, state.budget);
}

/** Planning is paid from the same account. */
export function debitPlanning(state: RunState, { body }: EventOf<'plan.proposed'>): void {
  if (state.budget !== undefined) debitTokens(state.budget, body.proposer.modelTokenCount ?? 0);
}

/** Lays the plan out: O(plan). A step whose skill contract the event lacks cannot be laid out and is left out. */
export function acceptPlan(state: RunState, event: EventOf<'plan.accepted'>): void {
  const { plan, planDigest, skills, cards, teamPolicyDigests } = event.body;
  state.accepted = { plan, planDigest, acceptedAt: event.at, skills: byKey(skills), cards, teamPolicyDigests };
  state.phase = 'planned';
  if (state.budget !== undefined) {
    const { toolCallCountMax, modelTokenCountMax } = plan.budget;
    state.budget = { ...state.budget, toolCallCountMax, modelTokenCountMax };
  }
  layOut(state, state.accepted);
  for (const step of state.steps.values()) if (step.phase === 'ready') markReady(state, step);
}

/** Contracts by `skillKey`. */
export function byKey(skills: readonly SkillContract[]): ReadonlyMap<string, SkillContract> {
  return new Map(
    skills.map((skill) => [skillKey({ team: skill.team, skillId: skill.skillId, skillVersion: skill.version }), skill]),
  );
}

/** Opens every step of the plan; which of them may start is for the caller to say. */
export function layOut(state: RunState, { plan, skills }: Pick<AcceptedPlan, 'plan' | 'skills'>): void {
  const dependents = new Map<StepId, Dependent[]>(plan.steps.map((step) => [step.stepId, []]));
  for (const definition of plan.steps) {
    const skill = skills.get(skillKey(definition));
    const own = dependents.get(definition.stepId);
    if (skill === undefined || own === undefined) continue;
    const step = openStep(definition, skill, own);
    state.steps.set(definition.stepId, step);
    for (const { stepId, strength } of definition.dependsOn) dependents.get(stepId)?.push({ step, strength });
    state.openStepCount += 1;
    if (definition.required) state.openRequiredStepCount += 1;
  }
}

/** The plan of the next version holds for what is not over; what is keeps the contract that it was made under. */
export function migrateRun(state: RunState, { body, at }: EventOf<'run.migrated'>): void {
  const { accepted } = state;
  if (accepted === undefined) return;
  const { plan, cards, teamPolicyDigests, from, to, steps, by, reason } = body;
  const changed = new Map(
    body.skills.map((skill) => [
      skillKey({ team: skill.team, skillId: skill.skillId, skillVersion: skill.version }),
      skill,
    ]),
  );
  const moved = new Set(steps.map(({ stepId }) => stepId));
  const skills = new Map([...accepted.skills, ...changed]);
  state.accepted = { ...accepted, plan, planDigest: to.planDigest, skills, cards, teamPolicyDigests };
  state.migrations.push({ from, to, steps, by, reason, at });
  for (const definition of plan.steps) {
    const step = state.steps.get(definition.stepId);
    if (step === undefined || outcomeOf(step) !== undefined || !moved.has(definition.stepId)) continue;
    step.definition = definition;
    step.skill = changed.get(skillKey(definition)) ?? step.skill;
  }
  releaseHeld(state);
}

/** Of every step that has none yet: a large plan's steps need not each hold their own nothing. */
const NOTHING_GIVEN: StepState['given'] = Object.freeze({});
const NO_TOOL_CALLS: StepState['toolCalls'] = Object.freeze([]);

function openStep(
  definition: StepState['definition'],
  skill: SkillContract,
  dependents: readonly Dependent[],
): StepState {
  const unsatisfiedCount = definition.dependsOn.length;
  return {
    definition,
    skill,
    dependents,
    phase: unsatisfiedCount === 0 ? 'ready' : 'pending',
    unsatisfiedCount,
    attempts: [],
    earlierAttemptCount: 0,
    notBeforeAt: undefined,
    result: undefined,
    artifactId: undefined,
    origin: undefined,
    toolCalls: NO_TOOL_CALLS,
    settledAt: undefined,
    skipReason: undefined,
    given: NOTHING_GIVEN,
    approvalId: undefined,
    effectId: undefined,
    reservedToolCallCount: 0,
    reservedModelTokenCount: 0,
  };
}

export function dispatchStep(state: RunState, { body, at }: EventOf<'step.dispatched'>): void {
  withStep(state, body.stepId, (step) => {
    const { attempt, dispatchId, leaseId, audience, deadlineAt } = body;
    step.attempts.push({
      attempt,
      dispatchId,
      leaseId,
      audience,
      dispatchedAt: at,
      deadlineAt,
      stoodStillMs: 0,
      startedAt: undefined,
      taskId: undefined,
      contextId: undefined,
      error: undefined,
      proposalCount: 0,
      proposedTokenCount: 0,
    });
    step.phase = 'dispatched';
    step.notBeforeAt = undefined;
    state.ready.delete(body.stepId);
    state.delayed.delete(body.stepId);
    state.inFlight.add(body.stepId);
    state.phase = 'running';
  });
}

/** What settles the step next comes from an earlier run. */
export function reuseStep(state: RunState, { body }: EventOf<'step.reused'>): void {
  withStep(state, body.stepId, (step) => {
    step.origin = body.origin;
    step.artifactId = body.origin.artifactId;
  });
}

/** The team has taken the step: it waits for the result now. */
export function startStep(state: RunState, { body, at }: EventOf<'step.started'>): void {
  withStep(state, body.stepId, (step) => {
    const attempt = step.attempts[body.attempt - 1];
    if (attempt === undefined) return;
    attempt.startedAt = at;
    attempt.taskId = body.taskId;
    attempt.contextId = body.contextId;
    step.phase = 'waiting';
  });
}

/** What a model has proposed counts also after a restart of its worker. */
export function noteProposal(state: RunState, { body }: EventOf<'worker.proposed'>): void {
  const attempt = state.steps.get(body.stepId)?.attempts[body.attempt - 1];
  if (attempt === undefined) return;
  attempt.proposalCount = body.index;
  attempt.proposedTokenCount += body.modelTokenCount;
}

/** The attempt is over without a result; with `retryAt` the step is ready again then, with a question once it is answered. */
export function endAttempt(state: RunState, { body }: EventOf<'step.attempt_failed'>): void {
  withStep(state, body.stepId, (step) => {
    const attempt = step.attempts[body.attempt - 1];
    if (attempt === undefined) return;
    attempt.error = body.error;
    state.inFlight.delete(body.stepId);
    const question = questionOf(state, step, body.error);
    if (question !== undefined) {
      step.phase = 'waiting';
      state.questions.set(body.stepId, question);
      return;
    }
    const moved = movedOf(state, step, body.error);
    if (moved !== undefined) {
      step.phase = 'waiting';
      state.held.set(body.stepId, moved);
      return;
    }
    state.errors.push(body.error);
    if (body.retryAt === undefined) return;
    step.phase = 'ready';
    step.notBeforeAt = body.retryAt;
    state.delayed.add(body.stepId);
  });
}

/** The step that asked for it may start again with what was given; a block that was lifted otherwise answers nothing. */
export function takeAnswer(state: RunState, input: Readonly<Record<string, string>>): void {
  for (const [stepId, { wants }] of state.questions) {
    const value = answerTo(wants, input);
    if (value === undefined) continue;
    state.questions.delete(stepId);
    withStep(state, stepId, (step) => {
      step.given = { ...step.given, [wants]: value };
      markReady(state, step);
    });
    return;
  }
}

export function settleStep(state: RunState, { body, at }: EventOf<'step.settled'>): void {
  const { result, toolCalls } = body;
  withStep(state, result.stepId, (step) => {
    close(state, step);
    step.phase = 'settled';
    step.result = result;
    step.toolCalls = toolCalls;
    step.settledAt = at;
    if (step.definition.required && (result.status === 'completed' || result.status === 'degraded'))
      state.completedRequiredStepCount += 1;
    if (result.status === 'degraded') state.fallbackUsed = true;
    // Accepted in the run that it comes from: here it counts from now on.
    if (step.origin !== undefined) for (const item of result.evidence) keepEvidence(state, item);
    // Whoever closed the step, somebody must still find out what became of its effect.
    if (result.errors.some(({ code }) => code === 'ERR_EFFECT_UNKNOWN')) needPeople(state);
    // The error of a failed attempt is in the list already.
    if (result.artifactRef !== undefined || body.dispatchId === undefined) state.errors.push(...result.errors);
    unlockDependents(state, step, result.status);
  });
}

export function skipStep(state: RunState, { body, at }: EventOf<'step.skipped'>): void {
  withStep(state, body.stepId, (step) => {
    close(state, step);
    step.phase = 'skipped';
    step.skipReason = body.reason;
    step.settledAt = at;
    unlockDependents(state, step, 'skipped');
  });
}

/** Evidence counts once it is accepted, and once per source, anchor and version: the first observation stands. */
export function addEvidence(state: RunState, { body }: EventOf<'artifact.accepted'>): void {
  withStep(state, body.stepId, (step) => {
    step.artifactId = body.artifactId;
    for (const item of body.evidence) keepEvidence(state, item);
  });
}

/** Whatever block is lifted later, people are needed. */
export function needPeople(state: RunState): void {
  state.needsHuman = true;
  state.needsHumanBeforeBlock = true;
}

/** Once per source, anchor and version: the first observation stands. */
export function keepEvidence(state: RunState, item: Evidence): void {
  const key = evidenceKey(item);
  if (!state.evidence.has(key)) state.evidence.set(key, item);
}

function close(state: RunState, step: StepState): void {
  const { stepId, required } = step.definition;
  state.ready.delete(stepId);
  state.delayed.delete(stepId);
  state.inFlight.delete(stepId);
  state.questions.delete(stepId);
  state.held.delete(stepId);
  state.readyEffects.delete(stepId);
  state.waitingEffects.delete(stepId);
  if (step.effectId !== undefined) state.openEffects.delete(step.effectId);
  step.notBeforeAt = undefined;
  state.openStepCount -= 1;
  if (required) state.openRequiredStepCount -= 1;
}
