/** Of several versions of one skill the newest counts: for a new plan, and for a run that is migrated. Source: DESIGN §3.2. */
import type { SkillContract } from '#contracts/skill.ts';

/** Each team's skills, of every skill only its newest version. */
export function newestSkills(skills: readonly SkillContract[]): readonly SkillContract[] {
  const newest = new Map<string, SkillContract>();
  for (const skill of skills) {
    const key = `${skill.team} ${skill.skillId}`;
    const known = newest.get(key);
    if (known === undefined || isNewer(skill.version, known.version)) newest.set(key, skill);
  }
  return [...newest.values()];
}

/** Both are `major.minor.patch`. */
function isNewer(version: string, than: string): boolean {
  const numbers = (of: string): readonly number[] => of.split('.').map(Number);
  const before = numbers(than);
  const different = numbers(version)
    .map((number, index) => number - Number(before[index]))
    .find((difference) => difference !== 0);
  return different !== undefined && different > 0;
}
