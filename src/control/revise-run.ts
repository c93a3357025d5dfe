/**
 * Another version of a run's plan in a person's name: because another result holds than the one that was settled, or because somebody wants it
 * planned otherwise. The kernel decides; cards are read afresh under the requester's grant of now. Source: DESIGN §3.7, §4.
 */
import type { Proposer } from '#contracts/event.ts';
import { CaseOpsError } from '#contracts/error.ts';
import { digest } from '#contracts/ids.ts';
import type { RootGrant } from '#contracts/lease.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { Clock } from '#ports/clock.ts';
import type { Driver } from '#ports/driver.ts';
import type { Ids } from '#ports/ids.ts';
import type { Planner } from '#ports/model.ts';
import type { CapabilityDirectory } from './capability-directory.ts';
import { errorOf } from './refusal.ts';

export interface ReviseContext {
  readonly driver: Driver<RunState>;
  readonly directory: CapabilityDirectory;
  readonly planner: Planner;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly grants: (subject: string, tenant: string) => RootGrant | undefined;
}

export interface ConflictDecision {
  readonly state: RunState;
  readonly by: RootGrant;
  readonly stepId: string;
  /** Hash of the result that holds. */
  readonly held: string;
  readonly reason: string;
}

/** Throws what the kernel refuses with; ERR_USAGE for what is no hash. */
export async function decideBetween(
  { driver, clock, ids }: ReviseContext,
  { state, by, stepId, held, reason }: ConflictDecision,
): Promise<void> {
  const hash = digest.safeParse(held);
  if (!hash.success)
    throw new CaseOpsError(
      'ERR_USAGE',
      `Expected the hash of one of the results of step ${stepId} (sha256:…), as the blocked run names them.`,
      { at: 'control' },
    );
  const done = await driver.deliver(state.ref, {
    kind: 'decideConflict',
    at: clock.now(),
    actor: by.sub,
    stepId,
    held: hash.data,
    planId: ids.next('plan'),
    reason,
  });
  if (!done.ok) throw errorOf(done.error);
}

export interface ReplanRequest {
  readonly state: RunState;
  readonly by: RootGrant;
  /** Left out: the planner of this deployment proposes one. */
  readonly plan?: unknown;
  readonly reason: string;
}

/** Throws what the kernel refuses with, ERR_STATE for a run without a goal, ERR_DENIED when the requester has no grant any more. */
export async function replanRun(
  context: ReviseContext,
  { state, by, plan, reason }: ReplanRequest,
  signal: AbortSignal,
): Promise<void> {
  const { driver, directory, clock, ids } = context;
  const { goal, goalDigest, ref } = state;
  if (goal === undefined || goalDigest === undefined)
    throw new CaseOpsError('ERR_STATE', `Run ${ref.runId} has no goal to plan for.`, { at: 'control' });
  const grant = context.grants(goal.requestedBy, ref.tenant);
  if (grant === undefined)
    throw new CaseOpsError('ERR_DENIED', `${goal.requestedBy} has no grant for tenant ${ref.tenant} any more.`, {
      at: 'control',
    });
  for (const team of directory.teams) directory.forget(team);
  const snapshot = await directory.snapshot(grant, signal);
  const planVersion = (state.accepted?.plan.version ?? 0) + 1;
  const request = { goal, goalDigest, snapshot, planVersion, planId: ids.next('plan'), findings: [] };
  const used = state.budget?.modelTokenCountUsed ?? 0;
  const modelTokenCountMax = Math.max(0, (state.budget?.modelTokenCountMax ?? 0) - used);
  const proposal =
    plan === undefined
      ? await context.planner.propose(request, { signal, modelTokenCountMax })
      : { plan, proposer: { kind: 'scripted', name: by.sub.slice(0, 128) } satisfies Proposer };
  const done = await driver.deliver(ref, {
    kind: 'replan',
    at: clock.now(),
    actor: by.sub,
    ...proposal,
    snapshot,
    reason,
  });
  if (!done.ok) throw errorOf(done.error);
}
