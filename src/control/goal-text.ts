/** The text of a goal at the door: its limits, and the plain form in which rules look at it. Source: DESIGN §3.1. */
import { CaseOpsError } from '#contracts/error.ts';

const GOAL_TEXT_LENGTH_MAX = 20_000;

/** Joins what a line break or a space has cut between two Japanese characters. */
const CUT_BETWEEN_CJK =
  /(?<=[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー])[ \t]*\n?[ \t]*(?=[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー])/gu;

/**
 * Refuses a text that no goal can be frozen from: blank or with NUL or a lone surrogate (ERR_GOAL_TEXT), longer than 20,000 UTF-16
 * units (ERR_GOAL_TOO_LARGE). The text itself is kept as it is.
 */
export function assertGoalText(text: string): void {
  if (text.length > GOAL_TEXT_LENGTH_MAX)
    throw new CaseOpsError(
      'ERR_GOAL_TOO_LARGE',
      `A goal has at most ${GOAL_TEXT_LENGTH_MAX} characters; this one has ${text.length}.`,
      { at: 'intake' },
    );
  if (text.trim() === '') throw refused('A goal needs words; the text is blank.');
  if (text.includes('\u0000')) throw refused(`A goal has no NUL; there is one at ${text.indexOf('\u0000')}.`);
  if (!text.isWellFormed()) throw refused('A goal is well-formed Unicode; the text has a lone surrogate.');
}

/** Compatibility forms folded (full-width letters and digits), invisible format characters removed; line ends as `\n`. */
export function foldText(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\S\n]+/g, ' ');
}

/**
 * The form in which negations are looked for: as `foldText`, and without what could hide one: emphasis marks, typographic apostrophes,
 * wrapped lines. A blank line or a list bullet stays a boundary (`\n`).
 */
export function plainText(text: string): string {
  return foldText(text)
    .replaceAll(/[’‘ʼ´`＇]/g, "'")
    .replaceAll(/[*~]+/g, '')
    .replaceAll('_', ' ')
    .replaceAll(CUT_BETWEEN_CJK, '')
    .replaceAll(/\n[ \t]*(?:\n|[-•・>]|\d+[.)])[ \t]*/g, '\u2028')
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll('\u2028', '\n')
    .replaceAll(/[^\S\n]+/g, ' ');
}

function refused(message: string): CaseOpsError {
  return new CaseOpsError('ERR_GOAL_TEXT', message, { at: 'intake' });
}
