/** What would be planned for a text, and what the validator says of it, without a run. Source: SURFACES "ask --plan-only", "plan validate". */
import type { CapabilitySnapshot } from '#contracts/capability-snapshot.ts';
import type { GoalContract } from '#contracts/goal.ts';
import { goalId, snapshotId } from '#contracts/ids.ts';
import type { RootGrant } from '#contracts/lease.ts';
import { goalDigest } from '#kernel/goal-digest.ts';
import { validatePlan } from '#kernel/plan-validator.ts';
import type { PlanPreview, SubmitRequest } from '#ports/run-desk.ts';
import type { RunDeskOptions } from './run-desk.ts';
import { goalView } from './run-view.ts';

type Desk = Pick<RunDeskOptions, 'intake' | 'planner' | 'directory' | 'clock' | 'ids'>;

/**
 * Plans (or takes the given plan) and validates; nothing is stored, sent or called but the teams' cards. A given plan is compared with this
 * text's goal by digest: its own goal and snapshot ids are taken over, since those are made anew for every reading.
 */
export async function previewPlan(
  desk: Desk,
  asked: { readonly grant: RootGrant; readonly request: SubmitRequest; readonly plan?: unknown },
  signal: AbortSignal,
): Promise<PlanPreview> {
  const { grant, request } = asked;
  const identity = { tenant: grant.tenant, subject: grant.sub, sessionId: desk.ids.next('ses') };
  const bounds = { signal, modelTokenCountMax: 0 };
  const intake = await desk.intake.read(
    { text: request.text, language: request.language, given: {}, identity, at: desk.clock.now() },
    bounds,
  );
  if (intake.kind === 'question') return { goal: null, blocked: intake.blocked, plan: null, findings: [] };
  const found = await desk.directory.snapshot(grant, signal);
  const { goal, snapshot } =
    'plan' in asked ? renamed(asked.plan, intake.goal, found) : { goal: intake.goal, snapshot: found };
  const digest = goalDigest(goal);
  const planVersion = 1;
  const ask = { goal, goalDigest: digest, snapshot, planVersion, planId: desk.ids.next('plan'), findings: [] };
  const plan = 'plan' in asked ? asked.plan : (await desk.planner.propose(ask, bounds)).plan;
  const { findings } = validatePlan(plan, { goal, goalDigest: digest, snapshot, at: desk.clock.now(), planVersion });
  return { goal: goalView(goal, digest), blocked: null, plan, findings };
}

function renamed(
  plan: unknown,
  goal: GoalContract,
  snapshot: CapabilitySnapshot,
): { readonly goal: GoalContract; readonly snapshot: CapabilitySnapshot } {
  const named = typeof plan === 'object' && plan !== null ? (plan as Readonly<Record<string, unknown>>) : {};
  const ofGoal = goalId.safeParse(named['goalId']);
  const ofSnapshot = snapshotId.safeParse(named['snapshotId']);
  return {
    goal: ofGoal.success ? { ...goal, goalId: ofGoal.data } : goal,
    snapshot: ofSnapshot.success ? { ...snapshot, snapshotId: ofSnapshot.data } : snapshot,
  };
}
