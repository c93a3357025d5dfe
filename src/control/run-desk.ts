/**
 * The one door to runs for people: submit, look, answer, cancel, and why. Each call acts for an authenticated person; another tenant's run
 * does not exist for them. Source: DESIGN §3.1; implements the port `run-desk`.
 */
import type { RunRef } from '#contracts/command.ts';
import { CaseOpsError } from '#contracts/error.ts';
import { runId as runIdSchema } from '#contracts/ids.ts';
import type { RootGrant } from '#contracts/lease.ts';
import type { RunView, WhyView } from '#contracts/run-view.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { Clock } from '#ports/clock.ts';
import type { Driver } from '#ports/driver.ts';
import type { GoalKind } from '#ports/goal-kind.ts';
import type { Ids } from '#ports/ids.ts';
import type { IntakePort, Planner } from '#ports/model.ts';
import type { RunDesk } from '#ports/run-desk.ts';
import type { RunPhase, Store } from '#ports/store.ts';
import type { AdmissionQueue } from './admission-queue.ts';
import { type ApprovalDeskOptions, createApprovalDesk } from './approval-desk.ts';
import { agentViews } from './agent-views.ts';
import type { CapabilityDirectory } from './capability-directory.ts';
import { checkedIntake } from './check-prohibitions.ts';
import { followRun } from './follow-run.ts';
import { migrateRun } from './migrate-run.ts';
import { decideBetween, replanRun } from './revise-run.ts';
import { noEffects } from './no-effects.ts';
import { previewPlan } from './plan-preview.ts';
import type { EffectParts } from './propose-effect.ts';
import { answerRun, submitRun } from './run-intake.ts';
import { createGoalRate } from './goal-rate.ts';
import { viewErased } from './erased-view.ts';
import { errorOf } from './refusal.ts';
import { summaryOf, viewRun } from './run-view.ts';

export interface RunDeskOptions {
  readonly driver: Driver<RunState>;
  readonly store: Store;
  readonly intake: IntakePort;
  /** Of the installed cases: every goal is checked against them, whoever read it. */
  readonly kinds: readonly GoalKind[];
  readonly planner: Planner;
  readonly directory: CapabilityDirectory;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Workload identity of the supervisor: the actor of what it proposes. */
  readonly workload: string;
  /** The root grant of a person; undefined when they may do nothing any more. */
  readonly grants: (subject: string, tenant: string) => RootGrant | undefined;
  readonly training?: ApprovalDeskOptions['training'];
  /** Undefined: this deployment applies no effects. */
  readonly effects?: EffectParts | undefined;
  /** The same one that the run handlers have. */
  readonly admission: AdmissionQueue;
  /** Per tenant. */
  readonly goalsPerMinuteMax: (tenant: string) => number;
  /** The chain behind a claim (by id or key), or behind each; from the evidence room. Throws ERR_NOT_FOUND. */
  readonly why: (ref: RunRef, claim: string | undefined) => Promise<readonly WhyView[]>;
}

/** Runs looked through for one filtered page of a list. */
const LOOKED_COUNT_MAX = 2_000;
const PAGE_COUNT = 200;

export function createRunDesk(options: RunDeskOptions): RunDesk {
  const { driver, store } = options;
  const rate = createGoalRate(options.goalsPerMinuteMax, options.clock);
  const desk = { ...options, rate, opening: new Map(), intake: checkedIntake(options.intake, options.kinds) };
  const seen = async (grant: RootGrant, runId: string): Promise<RunState> => {
    const state = await driver.state(refOf(grant, runId));
    if (state === undefined || state.level !== 'central') throw notFound(runId);
    return state;
  };
  const approvals = createApprovalDesk({ ...options, ...(options.effects ?? noEffects) });
  const view = async (grant: RootGrant, runId: string): Promise<RunView> =>
    (await viewErased(store, refOf(grant, runId))) ?? viewRun(store, await seen(grant, runId));
  return {
    view,
    submit: async (grant, request) => {
      const { runId, replayed } = await submitRun(desk, grant, request);
      return { view: await view(grant, runId), replayed };
    },
    quota: ({ tenant }) => rate.quota(tenant),
    list: (grant, query) => listRuns(store, grant, query),
    async settled(grant, runId, signal) {
      const erased = await viewErased(store, refOf(grant, runId));
      if (erased !== undefined) return erased;
      await seen(grant, runId);
      return viewRun(store, await driver.settled(refOf(grant, runId), signal));
    },
    async *follow(grant, { runId, afterSeq }, signal) {
      await view(grant, runId);
      yield* followRun(options, { ref: refOf(grant, runId), afterSeq }, signal);
    },
    async answer(grant, runId, input) {
      await answerRun(desk, grant, { state: await seen(grant, runId), input });
      return view(grant, runId);
    },
    ...concernedCalls(options, { seen, view }),
    async why(grant, runId, claim) {
      await view(grant, runId);
      return options.why(refOf(grant, runId), claim);
    },
    ...approvals,
    agents: (_grant, signal) => agentViews(options.directory, signal),
    preview: (grant, request, signal) => previewPlan(desk, { grant, request }, signal),
    validate: (grant, request, signal) => previewPlan(desk, { grant, request, plan: request.plan }, signal),
  };
}

/** What only who asked for a run, or an approver, may have done to it. */
function concernedCalls(
  options: RunDeskOptions,
  look: {
    readonly seen: (grant: RootGrant, runId: string) => Promise<RunState>;
    readonly view: (grant: RootGrant, runId: string) => Promise<RunView>;
  },
): Pick<RunDesk, 'cancel' | 'migrate' | 'resolve' | 'replan'> {
  const { driver, clock } = options;
  const concerned = async (grant: RootGrant, of: { readonly runId: string; readonly what: string }) => {
    const state = await look.seen(grant, of.runId);
    const owner = state.origin.level === 'team' ? '' : state.origin.requestedBy;
    if (owner === grant.sub || grant.roles.includes('approver')) return state;
    const message = `Run ${of.runId} can be ${of.what} by who asked for it or by an approver.`;
    throw new CaseOpsError('ERR_DENIED', message, { at: 'control' });
  };
  return {
    async cancel(grant, runId, reason) {
      const { ref } = await concerned(grant, { runId, what: 'cancelled' });
      const command = { kind: 'cancel', at: clock.now(), actor: grant.sub, reason: reason.slice(0, 1_000) } as const;
      const done = await driver.deliver(ref, command);
      if (!done.ok) throw errorOf(done.error);
      return look.view(grant, runId);
    },
    async resolve(grant, { runId, stepId, held, reason }) {
      const state = await concerned(grant, { runId, what: 'decided about' });
      await decideBetween(options, { state, by: grant, stepId, held, reason: reason.slice(0, 1_000) });
      return look.view(grant, runId);
    },
    async replan(grant, { runId, plan, reason }, signal) {
      const state = await concerned(grant, { runId, what: 'planned again' });
      await replanRun(options, { state, by: grant, plan, reason: reason.slice(0, 1_000) }, signal);
      return look.view(grant, runId);
    },
    async migrate(grant, { runId, reason }, signal) {
      const state = await concerned(grant, { runId, what: 'migrated' });
      const context = { ...options, ...(options.effects ?? noEffects) };
      await migrateRun(context, { state, by: grant, reason: reason.slice(0, 1_000) }, signal);
      return look.view(grant, runId);
    },
  };
}

async function listRuns(
  store: Store,
  grant: RootGrant,
  query: Parameters<RunDesk['list']>[1],
): ReturnType<RunDesk['list']> {
  const found: ReturnType<typeof summaryOf>[] = [];
  let before = query.before === undefined ? undefined : refOf(grant, query.before).runId;
  for (let looked = 0; looked < LOOKED_COUNT_MAX && found.length < query.limit; looked += PAGE_COUNT) {
    const heads = await store.runs({
      tenant: grant.tenant,
      level: 'central',
      limit: PAGE_COUNT,
      ...(before === undefined ? {} : { before }),
      ...(query.state === undefined ? {} : { phase: phaseOf(query.state) }),
    });
    found.push(...heads.filter(({ result }) => query.result === undefined || result === query.result).map(summaryOf));
    before = heads.at(-1)?.ref.runId;
    if (heads.length < PAGE_COUNT) break;
  }
  return found.slice(0, query.limit);
}

const PHASES: readonly string[] = [
  'received',
  'planned',
  'running',
  'blocked',
  'cancelling',
  'ended',
] satisfies readonly RunPhase[];

function phaseOf(state: string): RunPhase {
  if (PHASES.includes(state)) return state as RunPhase;
  throw new CaseOpsError('ERR_USAGE', `A run's state is one of ${PHASES.join(', ')}, not ${state.slice(0, 64)}.`, {
    at: 'control',
  });
}

/** A run of the person's own tenant; an id that is none looks like one that does not exist. */
function refOf(grant: RootGrant, runId: string): RunRef {
  const parsed = runIdSchema.safeParse(runId);
  if (!parsed.success) throw notFound(runId);
  return { tenant: grant.tenant, runId: parsed.data };
}

function notFound(runId: string): CaseOpsError {
  return new CaseOpsError('ERR_NOT_FOUND', `There is no run ${runId.slice(0, 80)}.`, { at: 'control' });
}
