/** Sentences with slots: which one is used, and how it becomes text. Source: DESIGN §3.9. */
import type { ClaimTemplate } from '#contracts/claim.ts';

const SLOT = /\{([a-z][a-zA-Z0-9]{0,31})\}/g;
const TEXT_LENGTH_MAX = 16_000;

/** The sentence in the language, else in English, else in the first language it has. */
export function sentenceIn(sentences: ClaimTemplate['sentence'], language: string): string {
  return sentences[language] ?? sentences['en'] ?? Object.values(sentences)[0] ?? '';
}

/** The text; undefined when a slot has no value or the text is longer than 16,000 characters. */
export function renderSentence(template: string, values: Readonly<Record<string, string>>): string | undefined {
  const names = slotNames(template);
  if (names.some((name) => !Object.hasOwn(values, name))) return undefined;
  const text = template.replaceAll(SLOT, (_, name: string) => String(values[name]));
  return text.length === 0 || text.length > TEXT_LENGTH_MAX ? undefined : text;
}

/** The names of its slots, as often as they occur. */
function slotNames(template: string): readonly string[] {
  return Array.from(template.matchAll(SLOT), (match) => String(match[1]));
}

/** What the sentence itself says, each slot replaced by a space. */
export function literalText(template: string): string {
  return template.replaceAll(SLOT, ' ');
}
