/** Actions that a text demands outright, to find a text that both asks for something and forbids it. Source: DESIGN §3.1. */
import type { GoalKind } from '#ports/goal-kind.ts';

/** What may stand before an imperative. */
const OPENING =
  "(?:^|[,:(.]\\s*|\\b(?:and|then|but|or)\\s+)(?:(?:please|then|and|also|so|now|just|kindly|afterwards|finally|go ahead and|feel free to|(?:you|they) (?:can|may|should|must|have to)|i want you to|i need you to|i would like you to|(?:can|could|would|will) you(?: please)?|let's|make sure to|be sure to)\\s+)*";
/** "Send me", "notify us": addressed to the person who asks, no act towards others. */
const TO_ME = '(?![\\w-]*\\s+(?:me|us)\\b)';
/** After the word: a few characters of the same verb, and a request. */
const REQUEST =
  '\\p{sc=Han}{0,2}(?:を?(?:し|行っ|おこなっ)|っ|り|い|え)?て?(?:ください|下さい|くれ|ほしい|欲しい|もら|いただ|頂|おいて)';

/** The actions of the kind's prohibition rules that the text orders somebody to do. `demanded` comes from `readNegations`. */
export function demandedActions(demanded: string, kind: Pick<GoalKind, 'prohibitions'>): readonly string[] {
  const clauses = demanded.split(/[\n;]/u).map((clause) => clause.trim());
  const found = kind.prohibitions.filter(({ phrases }) =>
    Object.entries(phrases).some(([language, words]) =>
      words.some((phrase) => {
        // In Japanese the verb ends the clause: a word that only begins one demands nothing.
        const order = language === 'ja' ? `(?:${phrase})${REQUEST}` : `${OPENING}(?:${phrase})${TO_ME}`;
        const pattern = new RegExp(order, 'iu');
        return clauses.some((clause) => pattern.test(clause));
      }),
    ),
  );
  return [...new Set(found.map(({ action }) => action))];
}
