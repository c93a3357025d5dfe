/** Taking a proposed plan: validated, then accepted or rejected with all findings. Source: DESIGN §3.3. */
import type { CapabilitySnapshot } from '#contracts/capability-snapshot.ts';
import type { CommandOf } from '#contracts/command.ts';
import type { EventDraft } from '#contracts/event.ts';
import type { Digest } from '#contracts/ids.ts';
import type { Finding, Plan } from '#contracts/plan.ts';
import { decided, type Decision, refused } from './decision.ts';
import { digestOf } from './digest.ts';
import { validatePlan } from './plan-validator.ts';
import type { RunState } from './run-state.ts';
import { skillKey } from './skill-key.ts';

const FINDING_COUNT_MAX = 1_000;
const PLAN_ID_LENGTH_MAX = 80;

/**
 * The version that the next plan must carry: one more than the accepted plan's, or 1. A rejected proposal uses no version up, so that
 * a version names a plan that was in force.
 */
export function expectedPlanVersion(state: RunState): number {
  return (state.accepted?.plan.version ?? 0) + 1;
}

/**
 * Accepts the plan with the contracts, cards and policy digests it uses, or rejects it; the rejection after the last round ends the
 * run as refused. Refuses with ERR_STATE when the run has a plan already, is blocked, waits for its turn, or has no goal yet.
 */
export function decidePropose(state: RunState, command: CommandOf<'propose'>): Decision {
  const { goal, goalDigest } = state;
  if (goal === undefined || goalDigest === undefined || state.phase !== 'received')
    return refused('ERR_STATE', `Run ${state.ref.runId} is ${state.phase} and takes no plan.`);
  if (state.queuedAt !== undefined)
    return refused('ERR_STATE', `Run ${state.ref.runId} waits for its turn and takes no plan.`);
  const { snapshot, proposer, at } = command;
  const version = expectedPlanVersion(state);
  const round = state.planRejectedCount;
  const { plan, findings } = validatePlan(command.plan, { goal, goalDigest, snapshot, at, planVersion: version });
  const planDigest = digestOf(command.plan);
  const head = { planId: proposedPlanId(command.plan), version, planDigest, round };
  const proposed: EventDraft = { kind: 'plan.proposed', body: { ...head, proposer } };
  if (plan !== undefined) return decided(proposed, accepted(plan, planDigest, snapshot));
  const rejected: EventDraft = {
    kind: 'plan.rejected',
    body: { ...head, findings: findings.slice(0, FINDING_COUNT_MAX) },
  };
  if (round < goal.budget.replanCountMax) return decided(proposed, rejected);
  return decided(proposed, rejected, refusedRun(state, findings));
}

function refusedRun(state: RunState, findings: readonly Finding[]): EventDraft {
  const codes = [...new Set(findings.map(({ code }) => code))].slice(0, 10).join(', ');
  const reason = `No lawful plan in ${state.planRejectedCount + 1} rounds; the last was refused for ${codes}.`;
  return { kind: 'run.ended', body: { result: 'refused', needsHuman: state.needsHuman, reason } };
}

/** The acceptance of a validated plan, with the contracts, cards and policy digests that it uses. */
export function accepted(
  plan: Plan,
  planDigest: Digest,
  snapshot: CapabilitySnapshot,
): Extract<EventDraft, { readonly kind: 'plan.accepted' }> {
  const skills = new Set(plan.steps.map(skillKey));
  const teams = new Set(plan.steps.map(({ team }) => team));
  return {
    kind: 'plan.accepted',
    body: {
      planId: plan.planId,
      plan,
      planDigest,
      snapshotId: plan.snapshotId,
      skills: snapshot.skills.filter(({ team, skillId, version }) =>
        skills.has(skillKey({ team, skillId, skillVersion: version })),
      ),
      cards: snapshot.cards.filter(({ team }) => teams.has(team)),
      teamPolicyDigests: Object.fromEntries(
        Object.entries(snapshot.teamPolicyDigests).filter(([team]) => teams.has(team)),
      ),
    },
  };
}

/** What an unchecked proposal calls itself, for the trail only. */
function proposedPlanId(proposed: unknown): string {
  const named = typeof proposed === 'object' && proposed !== null && 'planId' in proposed ? proposed.planId : undefined;
  return typeof named === 'string' ? named.slice(0, PLAN_ID_LENGTH_MAX) : 'unnamed';
}
