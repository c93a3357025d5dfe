/** A prohibition that names no known action is asked about, word for word; the answer becomes part of the goal. Source: DESIGN §3.1. */
import type { BlockedReason } from '#contracts/event.ts';
import type { GoalKind } from '#ports/goal-kind.ts';
import type { Negation, TextReading } from './prohibitions.ts';

/** The answer to a text that both asks for an action and forbids it. */
export const KEEP_PROHIBITED = 'keep_prohibited';
/** The answer that a negation forbids no action of this kind of goal. */
const FORBIDS_NOTHING = 'none';

interface Clarification {
  readonly reading: Pick<TextReading, 'negations'>;
  readonly kind: GoalKind;
  readonly given: Readonly<Record<string, string>>;
}

/** The question for the first prohibition that is neither mapped nor answered. */
export function unclearQuestion(input: Clarification & { readonly language: string }): BlockedReason | undefined {
  const options = [...knownActions(input.kind), FORBIDS_NOTHING];
  const open = unmapped(input.reading).find((_, index) => !options.includes(input.given[answerName(index)] ?? ''));
  if (open === undefined) return undefined;
  const words = open.words.slice(0, 500);
  return {
    code: 'GOAL_UNCLEAR',
    question:
      input.language === 'ja'
        ? `「${words}」は何を禁じていますか。次のいずれかで答えてください。どれでもなければ ${FORBIDS_NOTHING}。`
        : `What is forbidden by "${words}"? Answer with one of these actions, or ${FORBIDS_NOTHING} if it forbids none of them.`,
    wants: answerName(unmapped(input.reading).indexOf(open)),
    options: options.slice(0, 64),
  };
}

/** The actions that a person named in answer to these questions. */
export function clarifiedActions(input: Clarification): readonly string[] {
  const known = knownActions(input.kind);
  return unmapped(input.reading)
    .map((_, index) => input.given[answerName(index)])
    .filter((answer) => answer !== undefined && known.includes(answer)) as string[];
}

/** Prohibitions for which no action was found, in the order of the text. */
function unmapped(reading: Pick<TextReading, 'negations'>): readonly Negation[] {
  return reading.negations.filter(({ mood, actions }) => mood === 'prohibition' && actions.length === 0);
}

/** The name under which the nth of them is answered. */
function answerName(index: number): string {
  return `prohibition_${index + 1}`;
}

function knownActions(kind: GoalKind): readonly string[] {
  return [...new Set([...kind.prohibitions.map(({ action }) => action), ...kind.alwaysProhibitedActions])].toSorted();
}
