/**
 * Settling a step with what an earlier run of the same session has settled, instead of asking a team again. It is lawful only for the same
 * person, tenant, session, purpose and input, under the same contracts and policies, with what the person may do now, and while the goal's
 * evidence policy calls it fresh. INV-08, INV-14. Source: DESIGN §3.1, decision 0020.
 */
import type { CommandOf } from '#contracts/command.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import { FRESH_EVIDENCE } from '#contracts/goal.ts';
import { type Decision, refused, violated } from './decision.ts';
import { digestOf } from './digest.ts';
import { conclude, openDraft, settle } from './draft.ts';
import { failure } from './failure.ts';
import { resolveInputs } from './inputs.ts';
import { plannedRun, type PlannedRun } from './planned-run.ts';
import { resultHash } from './result-hash.ts';
import type { RunState, StepState } from './run-state.ts';
import { millisOf, timestampOf } from './time.ts';

type Reuse = CommandOf<'reuse'>;

/** Of a goal that bounds no age: how old an observation may be to be taken over, in ms. Nobody asked for an answer of last month. */
const UNBOUNDED_AGE_MS_MAX = 900_000;

/** Whether the step is one that an earlier result may settle at all: it reads only, and nothing has been asked for it yet. */
export function mayReuse(state: RunState, step: StepState): boolean {
  const { origin, goal } = state;
  const follows = origin.level === 'central' && (origin.earlierRunIds ?? []).length > 0;
  const wantsFresh = goal?.constraints.includes(FRESH_EVIDENCE) === true;
  return follows && !wantsFresh && step.skill.risk === 'read_only' && step.attempts.length === 0;
}

/**
 * Settles a ready step with the earlier result. Refuses, changing nothing, what is of another tenant, person, session or purpose, of a run
 * that this one does not follow, what the person may not do now or the goal prohibits (ERR_DENIED), and what is of another contract,
 * policy or input, is too old, or is not what it says (ERR_STATE): then the step is dispatched as any other.
 */
export function decideReuse(state: RunState, command: Reuse): Decision {
  const { stepId, planVersion, earlier, at } = command;
  const run = plannedRun(state);
  const step = state.steps.get(stepId);
  const open = state.phase === 'planned' || state.phase === 'running';
  if (run === undefined || step === undefined || !open || planVersion !== run.accepted.plan.version)
    return refused('ERR_STATE', `Run ${state.ref.runId} is ${state.phase}; step ${stepId} takes no earlier result.`);
  if (step.phase === 'pending')
    return violated('INV-02', `Step ${stepId} still waits for ${step.unsatisfiedCount} and takes no earlier result.`);
  if (step.phase !== 'ready')
    return refused('ERR_STATE', `Step ${stepId} is ${step.phase}; it takes no earlier result.`);
  const against: Against = { state, run, step, command };
  const fault =
    foreign(against) ?? notPermitted(against) ?? otherTerms(against) ?? otherResult(against) ?? otherInput(against);
  if (fault !== undefined) return { ok: false, error: fault };
  const age = ageOf(against);
  if (typeof age === 'string') return refused('ERR_STATE', `The earlier result of step ${stepId} ${age}.`);
  const draft = openDraft(state, run, at);
  const { origin, result, teamPolicyDigest: policyDigest } = earlier;
  draft.events.push({
    kind: 'step.reused',
    body: {
      stepId,
      planVersion,
      origin,
      ...age,
      authorisedFor: command.grant.sub,
      ...(policyDigest === undefined ? {} : { policyDigest }),
    },
  });
  const usage = { modelTokenCount: 0, toolCallCount: 0, durationMs: 0 };
  settle(draft, step, { result: { ...result, stepId, planVersion, attempt: 1, usage }, toolCalls: [] });
  return conclude(draft);
}

interface Against {
  readonly state: RunState;
  readonly run: PlannedRun;
  readonly step: StepState;
  readonly command: Reuse;
}

function denied(message: string): ErrorRecord {
  return failure('ERR_DENIED', message);
}

function unlike(message: string): ErrorRecord {
  return failure('ERR_STATE', message);
}

/** Another tenant's, person's or session's result, or one of a run that this one does not follow. INV-14. */
function foreign({ state, run, command }: Against): ErrorRecord | undefined {
  const { tenant, requestedBy, sessionId, purpose, origin } = command.earlier;
  const { goal } = run;
  const of = `The result of ${origin.runId}`;
  if (tenant !== state.ref.tenant) return denied(`${of} is not of tenant ${state.ref.tenant}.`);
  if (requestedBy !== goal.requestedBy) return denied(`${of} was asked for by somebody else than ${goal.requestedBy}.`);
  if (sessionId !== goal.sessionId) return denied(`${of} is of another session than ${goal.sessionId}.`);
  const listed = state.origin.level === 'central' ? (state.origin.earlierRunIds ?? []) : [];
  if (!listed.includes(origin.runId)) return denied(`Run ${state.ref.runId} does not follow ${origin.runId}.`);
  if (purpose !== goal.purpose) return denied(`${of} was read for ${purpose}, not for ${goal.purpose}.`);
  return undefined;
}

/** What the person may do now, not what they could do then. */
function notPermitted({ state, run, step, command }: Against): ErrorRecord | undefined {
  const { grant, earlier } = command;
  const { goal } = run;
  const actions = new Set([...step.definition.actions, ...earlier.actions]);
  if (grant.sub !== goal.requestedBy || grant.tenant !== state.ref.tenant)
    return denied(`The grant of ${grant.sub} is not that of ${goal.requestedBy}.`);
  if (!grant.purposes.includes(goal.purpose)) return denied(`${grant.sub} has no purpose ${goal.purpose} any more.`);
  for (const action of actions) {
    if (!grant.actions.includes(action)) return denied(`${grant.sub} may not ${action} any more.`);
    if (goal.prohibitedActions.includes(action)) return denied(`The goal prohibits ${action}.`);
  }
  return undefined;
}

/** The same contract, team and team policy: whatever the team would check, it has checked under the same rules. */
function otherTerms({ state, run, step, command }: Against): ErrorRecord | undefined {
  const { earlier } = command;
  const { team, stepId } = step.definition;
  const { cards, teamPolicyDigests } = run.accepted;
  if (!mayReuse(state, step)) return unlike(`Step ${stepId} is to be looked up: it takes no earlier result.`);
  const card = cards.find((candidate) => candidate.team === team);
  if (earlier.team !== team || card?.workload !== earlier.workload)
    return unlike(`The earlier result is of ${earlier.workload}, and step ${stepId} is planned for ${card?.workload}.`);
  if (digestOf(step.skill) !== earlier.origin.contractDigest)
    return unlike(`Skill ${step.skill.skillId} has another contract than when the earlier result was made.`);
  if (teamPolicyDigests[team] !== earlier.teamPolicyDigest)
    return unlike(`Team ${team} has another policy than when the earlier result was made.`);
  return undefined;
}

/** A completed, accepted result that hashes to what was settled. One whose data goes by digest cannot be hashed again. INV-01. */
function otherResult({ step, command }: Against): ErrorRecord | undefined {
  const { result, origin } = command.earlier;
  const { status, data, evidence, missing, contractVersion, artifactRef } = result;
  const whole = status === 'completed' && data !== undefined && artifactRef === origin.artifactRef;
  const hash = resultHash({ status, data, evidence, missing, contractVersion });
  if (!whole || hash !== origin.resultHash || result.resultHash !== hash)
    return unlike(`The earlier result of step ${step.definition.stepId} is not whole, or is not what was settled.`);
  return undefined;
}

/** The same subject and entities, and whatever else the step is asked with. */
function otherInput({ state, step, command }: Against): ErrorRecord | undefined {
  const { stepId } = step.definition;
  const inputs = resolveInputs(state, stepId);
  if (!inputs.ok) return inputs.error;
  if (inputs.inputDigest !== command.earlier.origin.inputDigest)
    return unlike(`The earlier result was asked for with another input than step ${stepId} has.`);
  return undefined;
}

/** How old the oldest observation is at the goal's as-of, or now; or why it may not be used. */
function ageOf({ run, command }: Against): { readonly asOf: string; readonly ageMs: number } | string {
  const { goal } = run;
  const { evidence } = command.earlier.result;
  const asOf = timestampOf(millisOf(goal.asOf ?? command.at));
  const asOfMs = millisOf(asOf);
  const ageMsMax = goal.evidencePolicy.observationAgeMsMax || UNBOUNDED_AGE_MS_MAX;
  if (evidence.length === 0) return 'rests on no observation';
  let ageMs = 0;
  for (const { observedAt, validTo } of evidence) {
    const own = asOfMs - millisOf(observedAt);
    if (own < 0) return `was observed at ${observedAt}, after ${asOf}`;
    if (own > ageMsMax) return `was observed at ${observedAt}, more than ${ageMsMax} ms before ${asOf}`;
    if (validTo !== undefined && millisOf(validTo) < asOfMs) return `is valid until ${validTo} only`;
    ageMs = Math.max(ageMs, own);
  }
  return { asOf, ageMs };
}
