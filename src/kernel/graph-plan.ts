/** The part of the context graph that says what was asked and how it was decomposed. Source: DESIGN §5. */
import type { EventBody, RunEvent } from '#contracts/event.ts';
import type { StepId } from '#contracts/ids.ts';
import type { SkillContract } from '#contracts/skill.ts';
import { digestOf } from './digest.ts';
import { nodeId, type GraphDraft } from './graph-node.ts';
import { skillKey } from './skill-key.ts';

/** What later events need of the plan. */
export interface PlanFacts {
  readonly skills: Map<StepId, SkillContract>;
  /** Step → the workload that its team's card names. */
  readonly workloads: Map<StepId, string>;
  /** Step → the task of its last attempt. */
  readonly tasks: Map<StepId, string>;
  /** Step → the artifact of the earlier run that settles it. */
  readonly origins: Map<StepId, string>;
  goal: string | undefined;
}

export interface GraphFold {
  readonly draft: GraphDraft;
  readonly facts: PlanFacts;
  /** The run's node. */
  readonly run: string;
}

type Event<K extends RunEvent['kind']> = Extract<RunEvent, { readonly kind: K }>;

export function addReceived({ draft, run }: GraphFold, { origin, language }: EventBody<'run.received'>): void {
  const by = origin.level === 'team' ? origin.caller : origin.requestedBy;
  draft.node({
    kind: 'run',
    ref: run.slice('run:'.length),
    status: 'received',
    detail: { level: origin.level, by, language },
  });
  if (origin.level !== 'team') return;
  // A team's run is the other side of a delegated task of its parent run.
  const task = draft.node({
    kind: 'delegated_task',
    ref: origin.dispatchId,
    detail: { taskId: origin.taskId, contextId: origin.contextId, parentRunId: origin.parentRunId },
  });
  const lease = draft.node({ kind: 'lease', ref: origin.leaseId });
  draft.edge('DERIVED_FROM', run, task);
  draft.edge('AUTHORIZED_BY', task, lease);
}

export function addGoal({ draft, facts, run }: GraphFold, { goal, goalDigest }: EventBody<'goal.frozen'>): void {
  const { kind, purpose, revision, prohibitedActions } = goal;
  const detail = { kind, purpose, revision: String(revision), prohibited: prohibitedActions.join(' ') };
  facts.goal = draft.node({ kind: 'goal', ref: goal.goalId, status: 'frozen', digest: goalDigest, detail });
  draft.edge('DECOMPOSED_INTO', run, facts.goal);
}

export function addProposal({ draft, facts, run }: GraphFold, body: EventBody<'plan.proposed'>): void {
  const { planId, version, planDigest, proposer, round } = body;
  const detail = { version: String(version), proposer: proposer.kind, by: proposer.name, round: String(round) };
  const plan = draft.node({ kind: 'plan', ref: planId, status: 'proposed', digest: planDigest, detail });
  draft.edge('DECOMPOSED_INTO', facts.goal ?? run, plan);
}

export function addRejection({ draft }: GraphFold, { body, seq }: Event<'plan.rejected'>): void {
  const codes = [...new Set(body.findings.map(({ code }) => code))];
  const plan = draft.node({ kind: 'plan', ref: body.planId, status: 'rejected', digest: body.planDigest });
  const decision = draft.node({
    kind: 'decision',
    ref: String(seq),
    status: 'rejected',
    detail: { findings: codes.join(' '), findingCount: String(body.findings.length) },
  });
  draft.edge('VALIDATED_BY', plan, decision);
}

export function addPlan(fold: GraphFold, { body, seq }: Event<'plan.accepted'>): void {
  const { draft, facts, run } = fold;
  const { plan, planDigest } = body;
  const detail = { version: String(plan.version), snapshotId: body.snapshotId };
  const id = draft.node({ kind: 'plan', ref: body.planId, status: 'accepted', digest: planDigest, detail });
  draft.edge('DECOMPOSED_INTO', facts.goal ?? run, id);
  draft.edge('VALIDATED_BY', id, draft.node({ kind: 'decision', ref: String(seq), status: 'accepted' }));
  addAgents(fold, body);
  addSteps(fold, body);
}

/** The next version of the plan, derived from the one before by a person's decision. */
export function addMigration(fold: GraphFold, { body, seq }: Event<'run.migrated'>): void {
  const { draft, facts } = fold;
  const { plan, from, to, by, skills } = body;
  const detail = { version: String(plan.version), snapshotId: plan.snapshotId };
  const id = draft.node({ kind: 'plan', ref: to.planId, status: 'accepted', digest: to.planDigest, detail });
  const verdict = { by, steps: body.steps.map(({ stepId }) => stepId).join(' ') };
  const decision = draft.node({ kind: 'decision', ref: String(seq), status: 'migrated', detail: verdict });
  draft.edge('DERIVED_FROM', id, nodeId('plan', from.planId));
  draft.edge('VALIDATED_BY', id, decision);
  const contracts = new Map(skills.map((one) => [skillKey({ ...one, skillVersion: one.version }), one]));
  for (const step of plan.steps) {
    draft.edge('DECOMPOSED_INTO', id, nodeId('step', step.stepId));
    const skill = contracts.get(skillKey(step));
    if (skill !== undefined && body.steps.some(({ stepId }) => stepId === step.stepId))
      facts.skills.set(step.stepId, skill);
  }
  for (const { team, workload } of body.cards)
    for (const step of plan.steps) if (step.team === team) facts.workloads.set(step.stepId, workload);
}

/** The next version of the plan, in the place of the one before. */
export function addRevision(fold: GraphFold, { body, seq }: Event<'plan.revised'>): void {
  const { draft } = fold;
  const { plan, from, to, by, kept } = body;
  const detail = { version: String(plan.version), snapshotId: body.snapshotId };
  const id = draft.node({ kind: 'plan', ref: to.planId, status: 'accepted', digest: to.planDigest, detail });
  const verdict = { by, kept: kept.join(' ') };
  draft.edge('DERIVED_FROM', id, nodeId('plan', from.planId));
  draft.edge(
    'VALIDATED_BY',
    id,
    draft.node({ kind: 'decision', ref: String(seq), status: 'revised', detail: verdict }),
  );
  addAgents(fold, body);
  addSteps(fold, { ...body, planId: to.planId }, new Set(kept));
}

function addAgents({ draft }: GraphFold, { cards }: Pick<EventBody<'plan.accepted'>, 'cards'>): void {
  for (const { team, cardVersion, cardDigest, workload, protocolVersion, verifiedBy = '' } of cards)
    draft.node({
      kind: 'agent',
      ref: team,
      digest: cardDigest,
      detail: { cardVersion, workload, protocolVersion, verifiedBy },
    });
}

function addSteps(
  { draft, facts }: GraphFold,
  body: Pick<EventBody<'plan.accepted'>, 'plan' | 'planId' | 'skills' | 'cards'>,
  kept: ReadonlySet<StepId> = new Set(),
): void {
  const { plan, cards } = body;
  const skills = new Map(body.skills.map((one) => [skillKey({ ...one, skillVersion: one.version }), one]));
  const workloads = new Map(cards.map(({ team, workload }) => [team, workload]));
  for (const step of plan.steps) {
    const { stepId, team, skillId, skillVersion, required } = step;
    const skill = skills.get(skillKey(step));
    const workload = workloads.get(team);
    if (skill !== undefined) facts.skills.set(stepId, skill);
    if (workload !== undefined) facts.workloads.set(stepId, workload);
    const id = draft.node({
      kind: 'step',
      ref: stepId,
      ...(kept.has(stepId) ? {} : { status: 'pending' }),
      digest: digestOf(step),
      detail: {
        team,
        skillId,
        skillVersion,
        required: String(required),
        approval: step.approval,
        risk: skill?.risk ?? 'unknown',
      },
    });
    draft.edge('DECOMPOSED_INTO', nodeId('plan', body.planId), id);
    draft.edge('ROUTED_TO', id, draft.node({ kind: 'agent', ref: team }));
    for (const dependency of step.dependsOn) draft.edge('DEPENDS_ON', id, nodeId('step', dependency.stepId));
  }
}
