/** A run as its people see it, computed from its state and the effect ledger; nothing of it is stored. Source: SURFACES. */
import type { EffectRow } from '#contracts/effect-row.ts';
import type { Proposer, RunEvent } from '#contracts/event.ts';
import { anchorAtVersion, type Evidence } from '#contracts/evidence.ts';
import type { GoalContract } from '#contracts/goal.ts';
import type { Digest, RunId, StepId } from '#contracts/ids.ts';
import { RUN_VIEW_VERSION, type RunSummary, type RunView, type StepView } from '#contracts/run-view.ts';
import type { AttemptState, Migration, Revision, RunState, StepState } from '#kernel/run-state.ts';
import { spanIdOf, traceIdOfRun } from '#kernel/span-identity.ts';
import { millisOf } from '#kernel/time.ts';
import type { RunHead, Store } from '#ports/store.ts';

/** Events at the head and at the tail of a log that a view looks into: the proposer of the plan, and the time of the end. */
const LOOK_COUNT = 64;

/** Reads what the state does not keep, then writes the view of the state as it is in that moment. */
export async function viewRun(store: Store, state: RunState): Promise<RunView> {
  const { ref } = state;
  const [effects, first, last] = await Promise.all([
    store.effects(ref.tenant, ref.runId),
    store.events(ref, 0, LOOK_COUNT),
    state.phase === 'ended' ? store.events(ref, Math.max(0, state.seq - LOOK_COUNT), LOOK_COUNT) : [],
  ]);
  const ended = last.find(({ kind }) => kind === 'run.ended');
  const endedAt = state.phase === 'ended' ? (ended?.at ?? state.updatedAt) : null;
  return runViewOf(state, { effects, proposer: proposerOf(first), endedAt });
}

function runViewOf(
  state: RunState,
  beside: {
    readonly effects: readonly EffectRow[];
    readonly proposer: Proposer | null;
    readonly endedAt: string | null;
  },
): RunView {
  const { origin, accepted, answer } = state;
  const { endedAt } = beside;
  return {
    contractVersion: RUN_VIEW_VERSION,
    runId: state.ref.runId,
    tenant: state.ref.tenant,
    sessionId: origin.level === 'central' ? origin.sessionId : null,
    requestedBy: origin.level === 'team' ? origin.subject : origin.requestedBy,
    trace: { traceId: traceIdOfRun(state.ref.runId, state.origin), spanId: spanIdOf(state.ref.runId) },
    state: state.phase,
    result: state.result ?? null,
    needsHuman: state.needsHuman,
    reason: state.endedReason ?? state.blocked?.question ?? null,
    statement: { text: state.statement, language: state.language },
    goal: state.goal === undefined || state.goalDigest === undefined ? null : goalView(state.goal, state.goalDigest),
    plan:
      accepted === undefined
        ? null
        : {
            planId: accepted.plan.planId,
            version: accepted.plan.version,
            digest: accepted.planDigest,
            proposer: beside.proposer,
          },
    findings: accepted === undefined ? [...state.lastFindings] : [],
    steps: [...state.steps.values()].map((step) => stepView(step, state)),
    blocked: state.blocked ?? null,
    erased: erasureOf(state),
    migrations: state.migrations.map(migrationView),
    revisions: state.revisions.map(revisionView),
    arrivals: state.arrivals.map((arrival) => ({ ...arrival })),
    arrivalCount: state.arrivalCount,
    claims: claimViews(state),
    unsaid: answer?.unsaid ?? [],
    missingSteps: answer?.missingSteps ?? [],
    effects: [...beside.effects],
    used: {
      toolCallCount: state.budget?.toolCallCountUsed ?? 0,
      modelTokenCount: state.budget?.modelTokenCountUsed ?? 0,
    },
    receivedAt: state.receivedAt,
    endedAt,
    durationMs: endedAt === null ? null : Math.max(0, millisOf(endedAt) - millisOf(state.receivedAt)),
    lastSeq: state.seq,
    chainHead: state.hash as Digest,
  };
}

/** One line of a list. */
export function summaryOf(head: RunHead): RunSummary {
  const { ref, phase, result, needsHuman, kind, subject, requestedBy, startedAt, updatedAt } = head;
  return {
    runId: ref.runId,
    tenant: ref.tenant,
    state: phase,
    result: result ?? null,
    needsHuman,
    kind,
    subject,
    requestedBy,
    startedAt,
    updatedAt,
  };
}

export function goalView(goal: GoalContract, digest: Digest): NonNullable<RunView['goal']> {
  const { goalId, kind, purpose, entities, requestedOutputs, prohibitedActions, constraints, budget } = goal;
  return { goalId, digest, kind, purpose, entities, requestedOutputs, prohibitedActions, constraints, budget };
}

function claimViews(state: RunState): RunView['claims'] {
  const { claims = [], evidence = [] } = state.answer ?? {};
  const known = new Map(evidence.map((item): [string, Evidence] => [item.evidenceId, item]));
  const earlier = observedEarlier(state);
  return claims.map((claim) => ({
    ...claim,
    evidence: claim.evidenceIds.flatMap((id) => {
      const item = known.get(id);
      if (item === undefined) return [];
      return [{ ...item, ref: anchorAtVersion(item), observedIn: earlier.get(id) ?? null }];
    }),
  }));
}

function erasureOf({ erasures }: RunState): RunView['erased'] {
  const last = erasures.at(-1);
  if (last === undefined) return null;
  const { tombstoneId, scope, cause, by, at } = last;
  return { tombstoneId, scope, cause, by, at };
}

function migrationView({ from, to, ...rest }: Migration): RunView['migrations'][number] {
  const { planVersion: fromVersion, planDigest: fromDigest } = from;
  return { ...rest, fromVersion, fromDigest, toVersion: to.planVersion, toDigest: to.planDigest };
}

function revisionView({ from, to, kept, by, reason, at }: Revision): RunView['revisions'][number] {
  return { at, by, reason, fromVersion: from.planVersion, toVersion: to.planVersion, kept: [...kept] };
}

/** Evidence that an earlier run observed: by its id, which run and step. */
function observedEarlier(state: RunState): ReadonlyMap<string, { readonly runId: RunId; readonly stepId: StepId }> {
  const found = [...state.steps.values()].flatMap(({ origin, result }) =>
    origin === undefined
      ? []
      : (result?.evidence ?? []).map(
          ({ evidenceId }) => [evidenceId, { runId: origin.runId, stepId: origin.stepId }] as const,
        ),
  );
  return new Map(found);
}

function originView({ origin, settledAt }: StepState, { goal }: RunState): StepView['origin'] {
  if (origin === undefined) return null;
  const { runId, stepId, observedAt } = origin;
  const asOf = goal?.asOf ?? settledAt;
  return {
    runId,
    stepId,
    observedAt,
    ageMs: asOf === undefined ? null : Math.max(0, millisOf(asOf) - millisOf(observedAt)),
  };
}

function stepView(step: StepState, state: RunState): StepView {
  const { stepId, team, skillId, skillVersion, required, dependsOn } = step.definition;
  const startedAt = step.attempts[0]?.dispatchedAt ?? null;
  const settledAt = step.settledAt ?? null;
  // Of a step that is over, what its result says; until then, what has become of its attempts.
  const errors = step.result?.errors ?? step.attempts.flatMap(({ error }) => (error === undefined ? [] : [error]));
  return {
    stepId,
    team,
    skillId,
    skillVersion,
    required,
    dependsOn,
    state: step.phase,
    status: step.result?.status ?? null,
    startedAt,
    settledAt,
    durationMs:
      startedAt === null || settledAt === null ? null : Math.max(0, millisOf(settledAt) - millisOf(startedAt)),
    attempts: step.attempts.map(attemptView),
    toolCallCount: step.toolCalls.length,
    evidence: (step.result?.evidence ?? []).map(anchorAtVersion),
    missing: step.result?.missing ?? [],
    errors,
    skipReason: step.skipReason ?? null,
    origin: originView(step, state),
  };
}

function attemptView(attempt: AttemptState): StepView['attempts'][number] {
  const { dispatchId, leaseId, dispatchedAt, deadlineAt } = attempt;
  return {
    attempt: attempt.attempt,
    dispatchId,
    leaseId,
    taskId: attempt.taskId ?? null,
    contextId: attempt.contextId ?? null,
    dispatchedAt,
    startedAt: attempt.startedAt ?? null,
    deadlineAt,
    spanId: spanIdOf(dispatchId),
    error: attempt.error ?? null,
  };
}

/** Who proposed the plan that was accepted: the last proposal before its acceptance. */
function proposerOf(events: readonly RunEvent[]): Proposer | null {
  const accepted = events.findIndex(({ kind }) => kind === 'plan.accepted');
  const proposed = events
    .slice(0, accepted < 0 ? 0 : accepted)
    .findLast((event): event is Extract<RunEvent, { kind: 'plan.proposed' }> => event.kind === 'plan.proposed');
  return proposed?.body.proposer ?? null;
}
