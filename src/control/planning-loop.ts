/** Propose, validate, propose again: one round of it. The planner proposes; the kernel decides and hands the findings back. DESIGN §3.3. */
import type { Todo } from '#contracts/command.ts';
import { CaseOpsError, toErrorRecord } from '#contracts/error.ts';
import type { GoalContract } from '#contracts/goal.ts';
import type { RootGrant } from '#contracts/lease.ts';
import type { RunState } from '#kernel/run-state.ts';
import { runDeadlineMs } from '#kernel/deadline.ts';
import type { PlannerRequest, Proposal } from '#ports/model.ts';
import { orAborted } from './capability-directory.ts';
import type { RunContext } from './run-context.ts';

/**
 * Takes a snapshot for this person, asks the planner within its time, and delivers what it proposes. A planner that fails has proposed
 * nothing lawful: that is a round with a finding, so that the rounds stay bounded. Returns silently when this process is told to stop.
 */
export async function planRun(
  context: RunContext,
  state: RunState,
  by: { readonly todo: Extract<Todo, { kind: 'plan' }>; readonly signal: AbortSignal },
): Promise<void> {
  const { goal, goalDigest } = state;
  if (goal === undefined || goalDigest === undefined || state.phase !== 'received') return;
  if (state.planRejectedCount !== by.todo.round) return;
  const snapshot = await context.directory.snapshot(grantFor(context, state, goal), by.signal);
  const request: PlannerRequest = {
    goal,
    goalDigest,
    snapshot,
    planVersion: (state.accepted?.plan.version ?? 0) + 1,
    planId: context.ids.next('plan'),
    findings: state.lastFindings,
  };
  const { plan, proposer } = await propose(context, state, { request, signal: by.signal });
  if (by.signal.aborted) return;
  await context.driver.deliver(state.ref, {
    kind: 'propose',
    at: context.clock.now(),
    actor: context.workload,
    plan,
    proposer,
    snapshot,
  });
}

/** Whoever has no grant any more may do nothing: the plan is then refused for that, with findings. */
function grantFor(context: RunContext, state: RunState, goal: GoalContract): RootGrant {
  const { tenant } = state.ref;
  const none = {
    sub: goal.requestedBy,
    tenant,
    purposes: [],
    actions: [],
    may_act: { sub: context.workload },
    roles: [],
  };
  return context.grants(goal.requestedBy, tenant) ?? none;
}

async function propose(
  context: RunContext,
  state: RunState,
  by: { readonly request: PlannerRequest; readonly signal: AbortSignal },
): Promise<Proposal> {
  const { clock, planner, plannerTimeoutMs } = context;
  const timeout = new AbortController();
  const untilMs = Math.min(clock.nowMs() + plannerTimeoutMs, runDeadlineMs(state));
  const disarm = clock.at(untilMs, () =>
    timeout.abort(new CaseOpsError('ERR_MODEL', 'The planner gave no plan in time.', { at: 'planner' })),
  );
  const signal = AbortSignal.any([by.signal, timeout.signal]);
  const modelTokenCountMax = state.budget?.modelTokenCountMax ?? 0;
  const left = modelTokenCountMax - (state.budget?.modelTokenCountUsed ?? 0);
  try {
    return await orAborted(planner.propose(by.request, { signal, modelTokenCountMax: Math.max(0, left) }), signal);
  } catch (error) {
    const { code, message } = toErrorRecord(error, { code: 'ERR_MODEL', at: 'planner' });
    return { plan: { error: code, message }, proposer: { kind: 'model', name: `none: ${code}` } };
  } finally {
    disarm();
  }
}
