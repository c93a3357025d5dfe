/** Which output kinds any lawful plan could produce from this goal and snapshot: forward chaining over usable skills. */
import type { SkillContract } from '#contracts/skill.ts';
import type { PlanContext } from './context.ts';
import { speaksProtocol } from './team.ts';

/** Kinds reachable from the goal's entities. Bounded by the snapshot's number of skills, squared. */
export function producibleKinds(context: PlanContext): ReadonlySet<string> {
  const kinds = new Set([...Object.keys(context.goal.entities), context.goal.subject.type]);
  let left = context.snapshot.skills.filter((skill) => usable(context, skill));
  for (;;) {
    const ready = left.filter((skill) => skill.requires.every(({ kind }) => kinds.has(kind)));
    if (ready.length === 0) return kinds;
    for (const skill of ready) for (const { kind } of skill.produces) kinds.add(kind);
    left = left.filter((skill) => !ready.includes(skill));
  }
}

function usable({ goal, snapshot }: PlanContext, skill: SkillContract): boolean {
  const card = snapshot.cards.find(({ team }) => team === skill.team);
  const actions = [...skill.actions, ...skill.effectActions];
  return (
    skill.available &&
    card?.verifiedBy !== undefined &&
    speaksProtocol(card) &&
    skill.purposes.includes(goal.purpose) &&
    actions.every((action) => !goal.prohibitedActions.includes(action)) &&
    skill.actions.every((action) => snapshot.policy.userActions.includes(action)) &&
    skill.actions.every((action) => snapshot.policy.workloadActions.includes(action))
  );
}
