/** Whether a run is about somebody or something: what an erasure on request takes. It rather takes one too many. Decision 0022. */
import type { RunEvent } from '#contracts/event.ts';

/** `member:m42`. */
export interface Subject {
  readonly type: string;
  readonly id: string;
}

/** Undefined for what is no `type:id`. */
export function subjectOf(text: string): Subject | undefined {
  const [, type, id] = /^([a-z][a-z0-9-]{0,63}):([A-Za-z0-9][A-Za-z0-9._:-]{0,127})$/.exec(text) ?? [];
  return type === undefined || id === undefined ? undefined : { type, id };
}

/**
 * Any body has its id as a word of its own: in an anchor or resource (`member:m42@v3`), as a value, as a member's name, or in a text. An id
 * that is a common word takes more than is meant; the count is shown before anything is taken.
 */
export function mentions(events: readonly RunEvent[], { id }: Subject): boolean {
  const escaped = id.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const word = new RegExp(String.raw`(?<![A-Za-z0-9_-])${escaped}(?![A-Za-z0-9_-])`, 'u');
  return events.some(({ body }) => holds(body, word));
}

function holds(value: unknown, word: RegExp): boolean {
  if (typeof value === 'string') return word.test(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, one]) => word.test(name) || holds(one, word));
}
