/** The name under which an accepted plan keeps a skill contract: two teams may offer a skill of one name. */
export function skillKey(skill: {
  readonly team: string;
  readonly skillId: string;
  readonly skillVersion: string;
}): string {
  return `${skill.team}/${skill.skillId}@${skill.skillVersion}`;
}
