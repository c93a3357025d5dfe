/** What a plan may take from the goal: entities and the subject's ids, nothing else. */
import type { GoalContract } from '#contracts/goal.ts';
import { resolvePointer } from '../pointer.ts';

const ENTITY = /^\/entities\/([^/]+)(?:\/\d+)?$/;
const SUBJECT = /^\/subject\/ids\/\d+$/;

/** The value a pointer gives, or the list of them, with its kind. */
export function goalValue(
  goal: GoalContract,
  pointer: string,
): { readonly kind: string; readonly value: unknown } | undefined {
  const kind = SUBJECT.test(pointer) ? goal.subject.type : ENTITY.exec(pointer)?.[1];
  const resolved = resolvePointer(goal, pointer);
  return kind === undefined || !resolved.found ? undefined : { kind, value: resolved.value };
}

/** The values of an entity, as a list; empty when the goal has no such entity. */
export function entityValues(goal: GoalContract, kind: string): readonly string[] {
  const found = goalValue(goal, `/entities/${kind}`);
  return found === undefined ? [] : [found.value].flat().map(String);
}
