/** The named values in a goal's text. A value is never guessed: missing or too many ends in a question. Source: DESIGN §3.1. */
import type { BlockedReason } from '#contracts/event.ts';
import type { EntityRule, GoalKind } from '#ports/goal-kind.ts';
import { foldText } from './goal-text.ts';

const VALUE_COUNT_MAX = 64;
const OPTION_COUNT_MAX = 64;

export type EntitiesRead =
  | { readonly ok: true; readonly entities: Readonly<Record<string, string | string[]>> }
  | { readonly ok: false; readonly blocked: BlockedReason };

/**
 * Fills every entity of the kind from the text, or from `given` (answers by entity kind; several values separated by commas or spaces).
 * Several values are sorted, so that their order in the text makes no other goal.
 */
export function readEntities(
  text: string,
  kind: GoalKind,
  how: { readonly given: Readonly<Record<string, string>>; readonly language: string },
): EntitiesRead {
  const folded = foldText(text);
  const entities: Record<string, string | string[]> = {};
  for (const rule of kind.entities) {
    const answered = how.given[rule.kind];
    const values = valuesIn(answered === undefined ? folded : foldText(answered), rule);
    if (rule.optional === true && values.length === 0 && answered === undefined) continue;
    const wrong =
      values.length === 0 ||
      values.length > VALUE_COUNT_MAX ||
      values.some((value) => value.length > 256) ||
      (rule.cardinality === 'one' && values.length > 1);
    if (wrong) return { ok: false, blocked: questionFor(rule, values, how.language) };
    const [first = ''] = values;
    entities[rule.kind] = rule.cardinality === 'one' ? first : values;
  }
  return { ok: true, entities };
}

function valuesIn(text: string, rule: EntityRule): string[] {
  const found = [...text.matchAll(new RegExp(rule.pattern, 'gu'))]
    .map((match) => match[0])
    .filter((value) => value !== '');
  return [...new Set(found)].toSorted();
}

function questionFor(rule: EntityRule, values: readonly string[], language: string): BlockedReason {
  const question = sentenceIn(rule.question, language) ?? `Which ${rule.kind} is meant?`;
  return {
    code: 'GOAL_UNCLEAR',
    question,
    wants: rule.kind,
    options: values.filter((value) => value.length <= 256).slice(0, OPTION_COUNT_MAX),
  };
}

/** The sentence in a language, else in English, else the first declared. */
function sentenceIn(sentences: Readonly<Record<string, string>>, language: string): string | undefined {
  return sentences[language] ?? sentences['en'] ?? Object.values(sentences)[0];
}
