/**
 * The invariants of a run as assertions over a state and the event that comes next. The decider never gives an event that breaks one;
 * simulation, recovery and the lab ask here whether that is so. Source: DESIGN §4 "Invariants".
 */
import type { EventKind, RunEvent } from '#contracts/event.ts';
import { verifyChain } from './chain.ts';
import type { InvariantId } from './decision.ts';
import { approvalSpentOnce, effectAuthorised, oneEffectPerKey } from './invariants-effects.ts';
import { outcomeOf, satisfies } from './ready-set.ts';
import type { RunState, StepState } from './run-state.ts';
import { checkSchema } from './schema-check.ts';

export interface Violation {
  readonly invariant: InvariantId;
  /** What was expected, what came, which id. */
  readonly message: string;
  readonly seq: number;
}

type EventOf<K extends EventKind> = Extract<RunEvent, { readonly kind: K }>;
type Check = (state: RunState, event: RunEvent) => readonly string[];

/** What `event` would break in the run that is in `state` before it; empty means: nothing. */
export function checkInvariants(state: RunState, event: RunEvent): readonly Violation[] {
  return Object.entries(CHECKS).flatMap(([invariant, check]) =>
    check(state, event).map((message) => ({ invariant: invariant as keyof typeof CHECKS, message, seq: event.seq })),
  );
}

const CHECKS = {
  'INV-01': conformingResult,
  'INV-02': dependenciesSatisfied,
  'INV-03': claimsBound,
  'INV-04': effectAuthorised,
  'INV-05': oneResultPerStep,
  'INV-06': budgetNotNegative,
  'INV-07': noDispatchAfterCancel,
  'INV-08': nothingChangedLate,
  'INV-09': oneWriterPerField,
  'INV-11': chainHolds,
  'INV-12': oneEffectPerKey,
  'INV-13': approvalSpentOnce,
} as const satisfies Readonly<Record<InvariantId, Check>>;

/** A completed step has a result that conforms to its skill's contract, and "nothing found" is no_data. */
function conformingResult(state: RunState, event: RunEvent): readonly string[] {
  if (event.kind !== 'step.settled') return [];
  const { stepId, status, data, dataDigest, evidence } = event.body.result;
  const step = state.steps.get(stepId);
  if (step === undefined) return [`Step ${stepId} is settled and not of the plan.`];
  const isFound = data !== undefined || dataDigest !== undefined;
  if (status === 'no_data' && isFound) return [`Step ${stepId} found nothing and has data.`];
  if (status !== 'completed') return [];
  const { artifact, evidence: wanted } = step.skill;
  if (!isFound) return [`Step ${stepId} is completed without data; nothing found is no_data.`];
  if (evidence.length < wanted.countMin)
    return [`Step ${stepId} is completed with ${evidence.length} pieces of evidence, not ${wanted.countMin}.`];
  // Data that is kept by digest was held against its schema when it was accepted.
  if (data === undefined) return [];
  return checkSchema(artifact, data).map(({ pointer, message }) => `Step ${stepId} data ${pointer}: ${message}`);
}

/** Nothing starts before its dependencies are satisfied: looked up one by one, not counted. */
function dependenciesSatisfied(state: RunState, event: RunEvent): readonly string[] {
  if (event.kind !== 'step.dispatched' && event.kind !== 'step.reused') return [];
  const { stepId } = event.body;
  const step = state.steps.get(stepId);
  if (step === undefined) return [`Step ${stepId} is dispatched and not of the plan.`];
  return step.definition.dependsOn.flatMap((dependency) => {
    const upstream = state.steps.get(dependency.stepId);
    const outcome = upstream === undefined ? undefined : outcomeOf(upstream);
    if (outcome !== undefined && satisfies(step, dependency.strength, outcome)) return [];
    return [`Step ${stepId} is dispatched while ${dependency.stepId} is ${outcome ?? 'open'}.`];
  });
}

/** Each claim is bound to evidence or marked as inference with its uncertainty; an absence holds its proof. */
function claimsBound(_state: RunState, event: RunEvent): readonly string[] {
  if (event.kind !== 'answer.composed') return [];
  const { claims, evidence } = event.body.answer;
  const known = new Set<string>(evidence.map(({ evidenceId }) => evidenceId));
  return claims.flatMap(({ claimId, kind, evidenceIds, uncertainty, proof }) => {
    const unknown = evidenceIds.filter((id) => !known.has(id)).map((id) => `Claim ${claimId} names unknown ${id}.`);
    if (kind === 'fact' && evidenceIds.length === 0) return [`Claim ${claimId} is a fact without evidence.`];
    if (kind === 'inference' && uncertainty === undefined) return [`Claim ${claimId} infers without its uncertainty.`];
    if (kind === 'absence' && proof?.holds !== true) return [`Claim ${claimId} says an absence that is not proved.`];
    return unknown;
  });
}

/** At most one accepted result per step and plan version. */
function oneResultPerStep(state: RunState, event: RunEvent): readonly string[] {
  if (event.kind === 'conflict.decided') return wronglyHeld(state, event);
  if (event.kind !== 'step.settled' && event.kind !== 'step.skipped') return [];
  const stepId = event.kind === 'step.settled' ? event.body.result.stepId : event.body.stepId;
  const phase = state.steps.get(stepId)?.phase;
  return phase === 'settled' || phase === 'skipped' ? [`Step ${stepId} is ${phase} already.`] : [];
}

/** Only a result that contradicts the settled one can take its place. */
function wronglyHeld({ steps, conflicts }: RunState, { body }: EventOf<'conflict.decided'>): readonly string[] {
  const { stepId, held, adopted } = body;
  if (adopted === undefined)
    return steps.get(stepId)?.result?.resultHash === held ? [] : [`Step ${stepId} is not settled with ${held}.`];
  const known = conflicts.get(stepId)?.some(({ result }) => result.resultHash === held) === true;
  return known && adopted.result.resultHash === held ? [] : [`Step ${stepId} has no contradicting result ${held}.`];
}

function budgetNotNegative(state: RunState, event: RunEvent): readonly string[] {
  if (event.kind === 'budget.reserved') return overReserved(state, event);
  if (event.kind === 'call.permitted') return overCalled(state, event);
  return event.kind === 'budget.settled' ? wronglyReleased(state, event) : [];
}

/** What is left after used and reserved covers the new reservation. */
function overReserved({ budget }: RunState, { body }: EventOf<'budget.reserved'>): readonly string[] {
  if (budget === undefined) return [`Step ${body.stepId} reserves before there is a budget.`];
  const toolCallsLeft = budget.toolCallCountMax - budget.toolCallCountUsed - budget.toolCallCountReserved;
  const tokensLeft = budget.modelTokenCountMax - budget.modelTokenCountUsed - budget.modelTokenCountReserved;
  if (body.toolCallCount <= toolCallsLeft && body.modelTokenCount <= tokensLeft) return [];
  return [`Step ${body.stepId} reserves more than the ${toolCallsLeft} tool calls and ${tokensLeft} tokens left.`];
}

/** A program's call is covered before it is made. */
function overCalled({ budget }: RunState, { body }: EventOf<'call.permitted'>): readonly string[] {
  if (budget !== undefined && budget.toolCallCountUsed < budget.toolCallCountMax) return [];
  return [`Call ${body.callId} is permitted without a tool call left for it.`];
}

/** Exactly what was reserved is released, so that nothing is free twice. */
function wronglyReleased(state: RunState, { body }: EventOf<'budget.settled'>): readonly string[] {
  const step = state.steps.get(body.stepId);
  const { toolCallCount, modelTokenCount } = body.reserved;
  if (step?.reservedToolCallCount === toolCallCount && step.reservedModelTokenCount === modelTokenCount) return [];
  return [
    `Step ${body.stepId} releases ${toolCallCount} tool calls and ${modelTokenCount} tokens, not what it reserved.`,
  ];
}

function noDispatchAfterCancel(state: RunState, event: RunEvent): readonly string[] {
  if (event.kind !== 'step.dispatched' || state.cancelRequested === undefined) return [];
  return [`Step ${event.body.stepId} is dispatched after ${state.cancelRequested.by} requested cancellation.`];
}

/** After the end only records; and no result of another plan version ever changes a step. */
function nothingChangedLate(state: RunState, event: RunEvent): readonly string[] {
  if (RECORDS.has(event.kind)) return [];
  if (state.phase === 'ended') return [`${event.kind} would change run ${state.ref.runId}, which has ended.`];
  const version = planVersionOf(event);
  const accepted = state.accepted?.plan.version;
  if (version === undefined || version === accepted) return [];
  return [`${event.kind} is of plan version ${version}; the run has ${accepted ?? 'no plan'}.`];
}

const RECORDS: ReadonlySet<EventKind> = new Set([
  'result.stale',
  'result.duplicate',
  'result.late',
  // What became of an effect is recorded whenever it is found out.
  'effect.sent',
  'effect.confirmed',
  'effect.failed',
  'effect.unknown',
  'effect.reconciled',
  'effect.compensated',
  'run.erased',
]);

function planVersionOf({ kind, body }: RunEvent): number | undefined {
  if (kind === 'step.settled') return body.result.planVersion;
  return 'planVersion' in body ? body.planVersion : undefined;
}

/** Each field has one writer, and what is written once is written once. */
function oneWriterPerField(state: RunState, event: RunEvent): readonly string[] {
  if (event.kind === 'run.received') return ['A run is received once.'];
  if (event.kind === 'goal.frozen' && state.goal !== undefined) return ['The goal is frozen already.'];
  if (event.kind === 'plan.accepted' && state.accepted !== undefined) return ['The run has a plan already.'];
  if (event.kind === 'run.migrated') return wronglyMigrated(state, event);
  if (event.kind === 'plan.revised') return wronglyRevised(state, event);
  if (event.kind === 'answer.composed' && state.answer !== undefined) return ['The run has an answer already.'];
  if (event.kind !== 'step.settled' || event.body.result.artifactRef === undefined) return [];
  const { stepId, attempt, artifactRef } = event.body.result;
  const step = state.steps.get(stepId);
  // Taken over from an earlier run: that run's step wrote it.
  if (step?.origin !== undefined && step.origin.artifactRef === artifactRef) return [];
  return wrongWriter(step, { attempt, dispatchId: event.body.dispatchId });
}

/** A migration is the next version of a plan that there is, and plans nothing again that is over. */
function wronglyMigrated({ accepted, steps }: RunState, { body }: EventOf<'run.migrated'>): readonly string[] {
  if (accepted === undefined) return ['A run without a plan is migrated.'];
  const { version } = accepted.plan;
  const over = body.steps.filter(({ stepId }) => {
    const step = steps.get(stepId);
    return step === undefined || outcomeOf(step) !== undefined;
  });
  return [
    ...(body.plan.version === version + 1 ? [] : [`Plan version ${body.plan.version} follows ${version}.`]),
    ...over.map(({ stepId }) => `Step ${stepId} is over and is migrated.`),
  ];
}

/** The next version of a plan that there is keeps only what is over. */
function wronglyRevised({ accepted, steps }: RunState, { body }: EventOf<'plan.revised'>): readonly string[] {
  if (accepted === undefined) return ['A run without a plan gets another version of it.'];
  const { version } = accepted.plan;
  const open = body.kept.filter((stepId) => {
    const step = steps.get(stepId);
    return step === undefined || outcomeOf(step) === undefined;
  });
  return [
    ...(body.plan.version === version + 1 ? [] : [`Plan version ${body.plan.version} follows ${version}.`]),
    ...open.map((stepId) => `Step ${stepId} is kept and is not over.`),
  ];
}

/** Only the executor of the step's current attempt writes its result. */
function wrongWriter(
  step: StepState | undefined,
  by: { readonly attempt: number; readonly dispatchId: string | undefined },
): readonly string[] {
  // An effect's step has no attempts by a team: the writer writes it.
  if (step?.skill.risk === 'effect') return [];
  const current = step?.attempts.at(-1);
  if (current !== undefined && current.attempt === by.attempt && current.dispatchId === by.dispatchId) return [];
  return [`Attempt ${by.attempt} of dispatch ${by.dispatchId} writes the result; ${current?.dispatchId} works on it.`];
}

function chainHolds(state: RunState, event: RunEvent): readonly string[] {
  const verdict = verifyChain({ ref: state.ref, seq: state.seq, hash: state.hash }, [event]);
  return verdict.ok ? [] : [`Event ${verdict.seq}: expected ${verdict.expected}, got ${verdict.got}.`];
}
