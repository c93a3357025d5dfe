/** Which skills of a snapshot a goal may use at all: what a planner chooses from. The validator decides again. Source: DESIGN §3.3. */
import type { CapabilitySnapshot } from '#contracts/capability-snapshot.ts';
import type { GoalContract } from '#contracts/goal.ts';
import type { SkillContract } from '#contracts/skill.ts';
import { newestSkills } from '#kernel/newest-skill.ts';

/**
 * Available, of a verified team, for the goal's purpose, permitted to user and workload, and touching no prohibited action; an effect
 * only when the goal asks for its outcome itself. Skills without an effect first, then cheapest first: tool calls, model tokens, latency,
 * then by name, so that the choice is the same every time.
 */
export function usableSkills(goal: GoalContract, snapshot: CapabilitySnapshot): readonly SkillContract[] {
  const verified = new Set(snapshot.cards.filter((card) => card.verifiedBy !== undefined).map(({ team }) => team));
  const asked = new Set(goal.requestedOutputs.map(({ kind }) => kind));
  const permitted = (action: string): boolean =>
    snapshot.policy.userActions.includes(action) && snapshot.policy.workloadActions.includes(action);
  return newestSkills(snapshot.skills)
    .filter(
      (skill) =>
        skill.available &&
        verified.has(skill.team) &&
        skill.purposes.includes(goal.purpose) &&
        [...skill.actions, ...skill.effectActions].every(permitted) &&
        (skill.risk !== 'effect' || skill.produces.some(({ kind }) => asked.has(kind))) &&
        [...skill.actions, ...skill.effectActions].every((action) => !goal.prohibitedActions.includes(action)),
    )
    .toSorted(cheaper);
}

function cheaper(a: SkillContract, b: SkillContract): number {
  return (
    Number(a.risk === 'effect') - Number(b.risk === 'effect') ||
    a.stepBudget.toolCallCountMax - b.stepBudget.toolCallCountMax ||
    a.stepBudget.modelTokenCountMax - b.stepBudget.modelTokenCountMax ||
    a.latencySloMs - b.latencySloMs ||
    order(`${a.skillId} ${a.team} ${a.version}`, `${b.skillId} ${b.team} ${b.version}`)
  );
}

function order(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
