/**
 * The deterministic pass over a goal's text: every negation and prohibition, clause by clause, mapped to the action it forbids. It runs
 * whoever reads the text, so that "do not send" becomes a prohibited action and no intake can lose one. Source: DESIGN §3.1.
 */
import type { GoalKind, ProhibitionRule } from '#ports/goal-kind.ts';
import { plainText } from './goal-text.ts';
import { compileCues, findCues, type CompiledCue, type Cue, type FoundCue } from './negation-cue.ts';
import { ENGLISH_CUES } from './negation-cues-en.ts';
import { JAPANESE_CUES } from './negation-cues-ja.ts';

export interface Negation {
  /** The clause as it was understood, for a question to a person. */
  readonly words: string;
  /** `prohibition` forbids; `statement` says how things are. */
  readonly mood: 'prohibition' | 'statement';
  /** Actions it forbids; a prohibition with none needs a person. */
  readonly actions: readonly string[];
}

export interface TextReading {
  /** In the order of the text. */
  readonly negations: readonly Negation[];
  /** The text without what is forbidden, up to the next comma or "and": outputs that are asked for are looked for here. */
  readonly asked: string;
  /** The text without the whole reach of each prohibition: an action that is demanded outright is looked for here. */
  readonly demanded: string;
}

const ENGLISH = compileCues(ENGLISH_CUES);
const JAPANESE = compileCues(JAPANESE_CUES);
const SENTENCE_END = /[。!?;\n]|\.(?=\s|$)|\s--\s|\s?—\s?|\s–\s/u;
/** Where an English prohibition ends before its sentence does. */
const TURN =
  /,?\s(?:but|instead(?! of)|however|although|yet)\s|,\s?(?:just|only|rather|simply|then|please|and then|and please)\s/iu;
/** Where the reach of a mere mention ends. */
const MENTION_END = /,|\s(?:and|but|then)\s/iu;
const JAPANESE_LETTER = /[\p{sc=Hiragana}\p{sc=Katakana}]/u;
const CONTENT = /[\p{sc=Han}\p{sc=Katakana}A-Za-z]/u;

/** Lists every negation of a text, in English and in Japanese, whatever its main language is. */
export function readNegations(text: string, kind: Pick<GoalKind, 'prohibitions' | 'negations'>): TextReading {
  const rules = kind.prohibitions.map(compileRule);
  const declared = compileCues(declaredCues(kind.negations ?? {}));
  const negations: Negation[] = [];
  const asked: string[] = [];
  const demanded: string[] = [];
  for (const part of plainText(text).split(SENTENCE_END)) {
    const sentence = part.trim();
    const read = JAPANESE_LETTER.test(sentence)
      ? readJapanese(sentence, rules, declared)
      : readEnglish(sentence, rules, declared);
    negations.push(...read.negations);
    asked.push(read.asked);
    demanded.push(read.demanded);
  }
  return { negations, asked: asked.join('\n'), demanded: demanded.join('\n') };
}

interface CompiledRule {
  readonly action: string;
  readonly expressions: readonly RegExp[];
}

interface Scoped {
  readonly found: FoundCue;
  /** Where the actions are looked for; the first part that names one decides. */
  readonly parts: readonly string[];
  readonly words: string;
  readonly from: number;
  /** End of its first item, and of its whole reach. */
  readonly itemEnd: number;
  readonly end: number;
}

function compileRule(rule: ProhibitionRule): CompiledRule {
  const expressions = Object.values(rule.phrases)
    .flat()
    .map((phrase) => new RegExp(phrase, 'iu'));
  return { action: rule.action, expressions };
}

/** A language of a case: its words may stand anywhere in the clause that they forbid. */
function declaredCues(negations: Readonly<Record<string, readonly string[]>>): readonly Cue[] {
  return Object.values(negations)
    .flat()
    .map((pattern) => ({ mood: 'prohibition', whole: true, pattern }));
}

function readEnglish(sentence: string, rules: readonly CompiledRule[], declared: readonly CompiledCue[]): TextReading {
  const scoped = findCues(sentence, [...declared, ...ENGLISH]).map((found) => englishScope(sentence, found));
  return judge(sentence, scoped, rules);
}

function readJapanese(sentence: string, rules: readonly CompiledRule[], declared: readonly CompiledCue[]): TextReading {
  const scoped = [
    ...findCues(sentence, JAPANESE).map((found) => japaneseScope(sentence, found)),
    ...findCues(sentence, [...declared, ...ENGLISH]).map((found) => englishScope(sentence, found)),
  ];
  return judge(sentence, scoped, rules);
}

function englishScope(sentence: string, found: FoundCue): Scoped {
  const mention = found.cue.mood !== 'prohibition';
  const after = upTo(sentence.slice(found.end), mention ? MENTION_END : TURN);
  const before = mention
    ? lastPart(sentence.slice(0, found.start), MENTION_END)
    : lastPart(sentence.slice(0, found.start), TURN);
  const cueWords = sentence.slice(found.start, found.end);
  const item = after.search(/,|\sand\s/iu);
  return {
    found,
    parts: found.cue.whole ? [`${cueWords}${after}`, `${before}${cueWords}${after}`] : [`${cueWords}${after}`],
    words: `${found.cue.whole ? before : ''}${cueWords}${after}`.trim(),
    from: found.cue.whole ? found.start - before.length : found.start,
    itemEnd: found.end + (item < 0 ? after.length : item),
    end: found.end + after.length,
  };
}

/** The clause before the negation, with the bare nouns listed before it; all before it when the clause only says "do not do it". */
function japaneseScope(sentence: string, found: FoundCue): Scoped {
  const before = sentence.slice(0, found.start);
  const segments = before.split(/[、,]/u);
  let own = segments.pop() ?? '';
  let segment = segments.pop();
  while (segment !== undefined && segment.length <= 12 && !/(?:て|で|し|る|い|た|は|ば|り)$/u.test(segment)) {
    own = `${segment}、${own}`;
    segment = segments.pop();
  }
  const cueWords = sentence.slice(found.start, found.end);
  const clause = `${own}${cueWords}`;
  const parts = found.cue.whole ? [clause, sentence] : CONTENT.test(own) ? [clause] : [clause, before];
  return { found, parts, words: clause.trim(), from: found.start - own.length, itemEnd: found.end, end: found.end };
}

function judge(sentence: string, scoped: readonly Scoped[], rules: readonly CompiledRule[]): TextReading {
  const negations: Negation[] = [];
  let asked = sentence;
  let demanded = sentence;
  let coveredTo = -1;
  for (const scope of scoped.toSorted((a, b) => a.found.start - b.found.start)) {
    const { cue } = scope.found;
    const actions = cue.mood === 'statement' ? [] : actionsIn(scope.parts, rules);
    const inside = cue.nested === true && scope.found.start < coveredTo;
    const forbids = actions.length > 0 || (cue.mood === 'prohibition' && !inside);
    negations.push({ words: scope.words, mood: forbids ? 'prohibition' : 'statement', actions });
    if (!forbids) continue;
    if (actions.length > 0) coveredTo = Math.max(coveredTo, scope.end);
    asked = blank(asked, scope.from, scope.itemEnd);
    demanded = blank(demanded, scope.from, scope.end);
  }
  return { negations, asked, demanded };
}

function actionsIn(parts: readonly string[], rules: readonly CompiledRule[]): readonly string[] {
  for (const part of parts) {
    const actions = rules.filter(({ expressions }) => expressions.some((e) => e.test(part))).map((rule) => rule.action);
    if (actions.length > 0) return [...new Set(actions)];
  }
  return [];
}

function blank(text: string, from: number, to: number): string {
  return `${text.slice(0, from)}${' '.repeat(Math.max(0, to - from))}${text.slice(to)}`;
}

function upTo(text: string, end: RegExp): string {
  const at = text.search(end);
  return at < 0 ? text : text.slice(0, at);
}

function lastPart(text: string, separator: RegExp): string {
  let rest = text;
  for (let at = rest.search(separator); at >= 0; at = rest.search(separator)) {
    const width = separator.exec(rest)?.[0].length ?? 1;
    rest = rest.slice(at + width);
  }
  return rest;
}
