/** Which declared language a goal's text is in. Source: DESIGN §3.1. */
import type { GoalKind } from '#ports/goal-kind.ts';
import { foldText } from './goal-text.ts';

const KANA = /[\p{sc=Hiragana}\p{sc=Katakana}]/u;
const OTHER_SCRIPT = /[^\P{L}\p{sc=Latin}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー]/u;

/** The languages that the goal kinds declare, in alphabetical order. */
export function declaredLanguages(kinds: readonly GoalKind[]): readonly string[] {
  return [...new Set(kinds.flatMap((kind) => Object.keys(kind.recognise)))].toSorted();
}

/**
 * By script, then by the phrases that a goal kind declares: kana is Japanese; Latin letters are the declared language whose phrases occur,
 * English when none does; Han without kana is Japanese only when a Japanese phrase occurs. Undefined: cannot be told, ask.
 */
export function detectLanguage(text: string, kinds: readonly GoalKind[]): string | undefined {
  const declared = declaredLanguages(kinds);
  const folded = foldText(text);
  if (KANA.test(folded)) return declared.includes('ja') ? 'ja' : undefined;
  const byPhrases = declared.filter((language) => kinds.some((kind) => recognises(kind, folded, language)));
  if (/\p{sc=Han}/u.test(folded)) return byPhrases.find((language) => language !== 'en');
  if (OTHER_SCRIPT.test(folded)) return byPhrases.find((language) => language !== 'en' && language !== 'ja');
  if (byPhrases.length > 0) return byPhrases.includes('en') ? 'en' : byPhrases[0];
  return declared.includes('en') ? 'en' : undefined;
}

/** True when all phrases of one declared group occur in the folded text. */
function recognises(kind: GoalKind, folded: string, language: string): boolean {
  return recognisedBy(kind, folded, language) > 0;
}

/** How many phrases the largest group has that occurs wholly; 0: not recognised. */
export function recognisedBy(kind: GoalKind, folded: string, language: string): number {
  const groups = kind.recognise[language] ?? [];
  const whole = groups.filter((group) => group.length > 0 && group.every((p) => new RegExp(p, 'iu').test(folded)));
  return Math.max(0, ...whole.map((group) => group.length));
}
