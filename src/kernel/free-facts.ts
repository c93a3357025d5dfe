/**
 * Facts in free text: what a model's phrasing may not hold outside slots, in English and Japanese. It rather finds too much: a refused
 * phrasing falls back to the goal's own sentence. Proper names cannot be told from words and are not found. Source: DESIGN §3.9, INV-03.
 */

/** Numbers, identifiers, dates and amounts are such words with a digit of any script in them. */
const WORD = /[\p{L}\p{N}_#/.,:%+-]+/gu;
const DIGIT = /\p{N}/u;

const PATTERNS: readonly RegExp[] = [
  /\p{Sc}|\b(?:USD|EUR|GBP|JPY|CNY|CHF|percent|yen|dollars?|euros?)\b/giu,
  // Quoted strings, addresses.
  /“[^”]*”|"[^"]*"|«[^»]*»|「[^」]*」|『[^』]*』|(?<=^|\s)'[^']+'(?=$|[\s.,;:])/gu,
  /\S+@\S+|\w+:\/\/\S+/gu,
  // Numbers and dates in words.
  /\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|dozen|half|twice|once|first|second|third|both)\b/giu,
  /\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b/gu,
  /\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|yesterday|tomorrow)\b/giu,
  /[〇一二三四五六七八九十百千万億]+(?=[件人日月年回円個名通枚])|(?:今日|昨日|明日|本日)/gu,
  // Negations.
  /\b(?:not|no|never|none|nothing|nobody|neither|nor|without|cannot|unable|unpaid|unsent|fail(?:s|ed)?|den(?:y|ies|ied)|refus(?:e|es|ed)|lack(?:s|ed|ing)?|missing|absent)\b|n['’]t\b/giu,
  /ない|なかっ|なく|なし|ません|ませんでした|ずに|未[\p{L}]|不[\p{L}]|無[\p{L}]|非[\p{L}]|欠/gu,
];

/** The facts found; none means: the text only phrases. For texts of a sentence's length: an open quote is looked for to the end. */
export function freeFacts(text: string): readonly string[] {
  // Folding turns a Roman numeral into letters, so digits are looked for before it.
  const words = all(text, WORD).filter((word) => DIGIT.test(word));
  const folded = text.normalize('NFKC');
  return [...words, ...PATTERNS.flatMap((pattern) => all(folded, pattern))];
}

function all(text: string, pattern: RegExp): readonly string[] {
  return Array.from(text.matchAll(pattern), ([match]) => match);
}
