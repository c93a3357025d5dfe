/**
 * Moving a run to the contracts that are offered now, by a person's explicit command: what is settled stands, every open step is planned
 * again under the contract of today, and the whole plan is validated like any other. An approval whose bound fields change goes stale.
 * Without this command a run finishes under the contracts of its plan. DESIGN §4, decision 0021.
 */
import type { CapabilityCard, CapabilitySnapshot } from '#contracts/capability-snapshot.ts';
import type { CommandOf } from '#contracts/command.ts';
import type { EventBody, EventDraft } from '#contracts/event.ts';
import type { Plan, PlanStep } from '#contracts/plan.ts';
import type { SkillContract } from '#contracts/skill.ts';
import { decided, type Decision, refused } from './decision.ts';
import { digestOf } from './digest.ts';
import { openApproval } from './effect-state.ts';
import { newestSkills } from './newest-skill.ts';
import { liftPeopleBlock, waitsForPeople } from './people-block.ts';
import { validatePlan } from './plan-validator.ts';
import { plannedRun, type PlannedRun } from './planned-run.ts';
import { outcomeOf, stepsOf } from './ready-set.ts';
import type { RunState, StepState } from './run-state.ts';
import { skillKey } from './skill-key.ts';

type Migrate = CommandOf<'migrate'>;

/** A step that is not over, with the contract that its team offers for it now. */
interface Open {
  readonly step: StepState;
  readonly skill: SkillContract;
  readonly changed: boolean;
}

const FINDING_COUNT_MAX = 20;

/**
 * Migrates, or lets held steps be tried again when what they were planned with is offered again. Refuses (ERR_STATE) a run that has no plan,
 * has ended, or has an attempt or effect under way, and one that is under these contracts already; ERR_CONTRACT_MOVED when an open step's
 * skill is offered by nobody; ERR_PLAN_REFUSED with the findings when the plan would not be lawful under them.
 */
export function decideMigrate(state: RunState, command: Migrate): Decision {
  const { ref, phase, blocked } = state;
  const run = plannedRun(state);
  const goesOn = phase === 'planned' || phase === 'running' || (blocked !== undefined && waitsForPeople(blocked));
  if (run === undefined || !goesOn)
    return refused('ERR_STATE', `Run ${ref.runId} is ${phase}; there is nothing to migrate.`);
  if (command.reason.trim() === '')
    return refused('ERR_USAGE', `A migration of run ${ref.runId} needs a written reason.`);
  const underWayCount = state.inFlight.size + state.openEffects.size;
  if (underWayCount > 0)
    return refused(
      'ERR_STATE',
      `Run ${ref.runId} has ${underWayCount} attempts or effects under way; migrate it after.`,
    );
  const offered = offeredSteps(state, command.snapshot);
  if ('missing' in offered)
    return refused(
      'ERR_CONTRACT_MOVED',
      `Nobody offers ${offered.missing.join(', ')} any more; run ${ref.runId} stays.`,
    );
  const { open } = offered;
  const cards = cardsOf(run, command.snapshot, open);
  const moved = open.filter(({ changed }) => changed);
  if (moved.length === 0 && !cards.changed) return releaseOrRefuse(state, command);
  const plan = planOf(run, command, open);
  const merged = mergedSnapshot(state, run, command.snapshot);
  const { goal, goalDigest } = run;
  const against = { goal, goalDigest, snapshot: merged, at: command.at, planVersion: plan.version };
  const { findings } = validatePlan(plan, against);
  if (findings.length > 0) {
    const codes = [...new Set(findings.map(({ code }) => code))].join(', ');
    const message = `The plan of run ${ref.runId} would not be lawful under the contracts offered now: ${codes}.`;
    return refused('ERR_PLAN_REFUSED', message, { findings: findings.slice(0, FINDING_COUNT_MAX) });
  }
  const migrated: EventDraft = { kind: 'run.migrated', body: bodyOf({ run, command, plan, open, cards: cards.cards }) };
  return decided(migrated, ...staleApprovals(state, command, open), ...liftPeopleBlock(state, command.actor));
}

/** What is offered is what it was planned with: then a held step is tried again, and there is nothing else to do. */
function releaseOrRefuse(state: RunState, { actor }: Migrate): Decision {
  if (state.held.size === 0 || state.blocked?.code !== 'CONTRACT')
    return refused('ERR_STATE', `Run ${state.ref.runId} is under the contracts that are offered now.`);
  return decided({ kind: 'run.unblocked', body: { code: 'CONTRACT', by: actor, input: { contract: 'planned' } } });
}

function offeredSteps(
  state: RunState,
  snapshot: CapabilitySnapshot,
): { readonly open: readonly Open[] } | { readonly missing: readonly string[] } {
  const offers = new Map(newestSkills(snapshot.skills).map((skill) => [`${skill.team} ${skill.skillId}`, skill]));
  const teams = new Set(snapshot.cards.map(({ team }) => team));
  const open: Open[] = [];
  const missing: string[] = [];
  for (const step of state.steps.values()) {
    if (outcomeOf(step) !== undefined) continue;
    const { team, skillId } = step.definition;
    const skill = offers.get(`${team} ${skillId}`);
    if (skill === undefined || !teams.has(team) || skill.risk !== step.skill.risk) missing.push(`${team}/${skillId}`);
    else open.push({ step, skill, changed: digestOf(skill) !== digestOf(step.skill) });
  }
  return missing.length > 0 ? { missing } : { open };
}

/** Of the teams of open steps the cards and policies of now, of the others those of the plan. */
function cardsOf(
  { accepted }: PlannedRun,
  { cards, teamPolicyDigests }: CapabilitySnapshot,
  open: readonly Open[],
): { readonly cards: Pick<EventBody<'run.migrated'>, 'cards' | 'teamPolicyDigests'>; readonly changed: boolean } {
  const teams = new Set(open.map(({ step }) => step.definition.team));
  const now = new Map(cards.map((card) => [card.team, card]));
  const next = accepted.cards.map((card) => (teams.has(card.team) ? now.get(card.team) : undefined) ?? card);
  const policies = { ...accepted.teamPolicyDigests };
  for (const team of teams) {
    const policy = teamPolicyDigests[team];
    if (policy !== undefined) policies[team] = policy;
  }
  const changed =
    digestOf(next.map(whatMatters)) !== digestOf(accepted.cards.map(whatMatters)) ||
    digestOf(policies) !== digestOf(accepted.teamPolicyDigests);
  return { cards: { cards: next, teamPolicyDigests: policies }, changed };
}

/** What dispatch revalidation compares. */
function whatMatters({ team, verifiedBy = '', audience, workload, protocolVersion }: CapabilityCard) {
  return { team, verifiedBy, audience, workload, protocolVersion };
}

/** A step of the same skill contract stays as it was planned, to the letter. */
function planOf({ accepted }: PlannedRun, { planId, snapshot }: Migrate, open: readonly Open[]): Plan {
  const moved = new Map(open.filter(({ changed }) => changed).map((one) => [one.step.definition.stepId, one.skill]));
  const { plan } = accepted;
  const steps = plan.steps.map((step) => {
    const skill = moved.get(step.stepId);
    return skill === undefined ? step : stepUnder(step, skill);
  });
  return { ...plan, planId, version: plan.version + 1, snapshotId: snapshot.snapshotId, steps };
}

function stepUnder(step: PlanStep, skill: SkillContract): PlanStep {
  return {
    ...step,
    skillVersion: skill.version,
    actions: [...new Set([...skill.actions, ...(skill.risk === 'effect' ? skill.effectActions : [])])],
    budget: skill.stepBudget,
    approval: skill.approval,
  };
}

/** The snapshot of now, and beside it what is settled was planned with: it is over, and needs nobody any more. */
function mergedSnapshot(state: RunState, { accepted }: PlannedRun, snapshot: CapabilitySnapshot): CapabilitySnapshot {
  const keyOf = ({ team, skillId, version }: SkillContract): string =>
    skillKey({ team, skillId, skillVersion: version });
  const known = new Set(snapshot.skills.map(keyOf));
  const closed = [...state.steps.values()].filter((step) => outcomeOf(step) !== undefined).map(({ skill }) => skill);
  const teams = new Set(snapshot.cards.map(({ team }) => team));
  return {
    ...snapshot,
    skills: [...snapshot.skills, ...closed.filter((skill) => !known.has(keyOf(skill)))],
    cards: [...snapshot.cards, ...accepted.cards.filter(({ team }) => !teams.has(team))],
    teamPolicyDigests: { ...accepted.teamPolicyDigests, ...snapshot.teamPolicyDigests },
  };
}

function bodyOf(of: {
  readonly run: PlannedRun;
  readonly command: Migrate;
  readonly plan: Plan;
  readonly open: readonly Open[];
  readonly cards: Pick<EventBody<'run.migrated'>, 'cards' | 'teamPolicyDigests'>;
}): EventBody<'run.migrated'> {
  const { run, command, plan, open, cards } = of;
  const { accepted } = run;
  const moved = open.filter(({ changed }) => changed);
  return {
    from: { planId: accepted.plan.planId, planVersion: accepted.plan.version, planDigest: accepted.planDigest },
    to: { planId: plan.planId, planVersion: plan.version, planDigest: digestOf(plan) },
    plan,
    steps: moved.map(({ step, skill }) => ({
      stepId: step.definition.stepId,
      from: { version: step.skill.version, digest: digestOf(step.skill) },
      to: { version: skill.version, digest: digestOf(skill) },
    })),
    skills: [...new Set(moved.map(({ skill }) => skill))],
    ...cards,
    by: command.actor,
    reason: command.reason.slice(0, 1_000),
  };
}

/** Approvals bind the action, its version and the policy: under another contract of the step nobody has approved anything. */
function staleApprovals(
  state: RunState,
  { approvalPolicyDigest: policy }: Migrate,
  open: readonly Open[],
): EventDraft[] {
  const byStep = new Map(open.map((one) => [one.step, one]));
  return [...stepsOf(state, state.waitingEffects)].flatMap((step): EventDraft[] => {
    const approval = openApproval(state, step);
    const one = byStep.get(step);
    if (approval === undefined || one === undefined || approval.state === 'stale') return [];
    const { approvalId, proposal } = approval;
    if (one.changed)
      return [
        {
          kind: 'approval.staled',
          body: { approvalId, field: 'contract', expected: digestOf(step.skill), got: digestOf(one.skill) },
        },
      ];
    const { policyDigest } = proposal.rule;
    if (policy === undefined || policy === policyDigest) return [];
    return [
      { kind: 'approval.staled', body: { approvalId, field: 'policy_version', expected: policyDigest, got: policy } },
    ];
  });
}
