/**
 * How English forbids, and how it only states that something is not so. Each row is a pattern and its mood; an earlier row wins where two
 * begin at the same place, so that exceptions stand before their rule. Matched without case on the text of `plainText`.
 */
import type { Cue } from './negation-cue.ts';

const AUX = '(?:is|are|am|was|were|has|have|had|does|did)';
/** What may stand between the start of a clause and an imperative. */
const OPENING =
  '(?:^|(?<=[,:("]\\s?)|(?<=\\b(?:and|but|then|please|also|so|or|must|should|you|kindly|always|just)\\s))';
const NO_VERB =
  '(?!there|it|this|that|he|she|we|they|i|if|is|are|was|has|have|had|why|what|who|when|with|claim|and|or|but|in|on|at)';

export const ENGLISH_CUES: readonly Cue[] = [
  // Wishes and care: the negation belongs to what is wished for.
  {
    mood: 'prohibition',
    pattern:
      "\\b(?:(?:make|making|be) (?:sure|certain)|ensure|ensuring|see to it|take care|guarantee)\\b[^,.;]{0,80}?(?:\\b(?:not|never|no|nothing|nobody|cannot)\\b|n't\\b)",
  },
  {
    mood: 'prohibition',
    pattern:
      "\\b(?:i|we) (?:do not|don't|dont|would not|wouldn't|will not|won't) (?:want|wish|like|need|allow|authori[sz]e|approve|permit|agree|consent|intend|expect|accept)\\b",
  },
  {
    mood: 'prohibition',
    pattern:
      "\\b(?:i|we)(?: would|'d)? (?:want|need|prefer|expect|require|insist|ask|request|like)\\b[^,.;]{0,60}?\\b(?:not|never|nothing|nobody|no)\\b",
  },
  // Fixed words that forbid nothing.
  {
    mood: 'statement',
    pattern:
      '\\b(?:whether or not|why not|if not(?=\\s*[,.:])|or not(?=\\s*(?:[,.?]|$))|not only|not just|not yet|not been|not later than|no later than|no longer|no doubt|no idea|no problem|no matter|never mind|not sure|not clear|not applicable|not necessarily)\\b',
  },
  { mood: 'statement', pattern: '\\bno(?=\\s*[.#]?\\s*\\d)|\\bno(?=\\s*(?:[,.!?]|$))|\\bno\\.(?=\\s*[a-z]*\\d)' },
  {
    mood: 'statement',
    pattern:
      '(?<=\\bwhy (?:is|are|was|were|has|have|had|did|does|do)\\b(?: (?!do\\b|and\\b|but\\b|please\\b|then\\b|or\\b|must\\b|should\\b|may\\b|shall\\b|can\\b|you\\b)[\\w#-]+){1,6} )not\\b',
  },
  // The state of things: it is not, it has not been; but "is not to" and "is not allowed" forbid.
  { mood: 'prohibition', pattern: `\\b${AUX}(?: not|n't) to(?= [a-z])` },
  {
    mood: 'either',
    whole: true,
    pattern: `\\b${AUX}(?: not|n't) (?:yet )?(?:allowed|permitted|authori[sz]ed|supposed|acceptable|ok|okay|desired|wanted|welcome)\\b`,
  },
  {
    mood: 'statement',
    pattern: `\\b(?:${AUX}(?: not|n't)|isnt|arent|wasnt|werent|hasnt|havent|hadnt|doesnt|didnt)\\b`,
  },
  { mood: 'statement', pattern: '\\b(?:has|have|had|was|were|is|are|been) never\\b' },
  // With its own subject it may state or forbid.
  {
    mood: 'either',
    pattern:
      "\\b(?:i|we|they|who)(?: (?:still|really|just|currently|also))? (?:do not|don't|dont|cannot|can not|can't|cant|could not|couldn't)\\b",
  },
  {
    mood: 'either',
    pattern:
      "\\b(?:if|when|unless|where|because|in case|whether) (?:you|it|this|that|he|she) (?:do not|don't|dont|cannot|can not|can't|cant|could not|couldn't|will not|won't)\\b",
  },
  {
    mood: 'either',
    pattern:
      "(?<=\\b(?:why|whether|reason|because|how come|what)\\b(?:(?!\\band\\b|\\bbut\\b|[,.;]).)*)\\b(?:cannot|can not|can't|cant|could not|couldn't|will not|won't|would not|wouldn't|may not|might not)\\b",
  },
  // Commands.
  { mood: 'prohibition', pattern: "\\b(?:do not|don't|dont|do n't|donot)\\b" },
  { mood: 'prohibition', pattern: '\\bnever\\b' },
  { mood: 'either', pattern: "\\b(?:may not|might not|need not|needn't)\\b(?<!you (?:may|need) not)" },
  {
    mood: 'prohibition',
    pattern:
      "\\b(?:must|shall|should|ought|may|need)(?: not)\\b|\\b(?:mustn't|mustnt|shan't|shouldn't|shouldnt|oughtn't)(?![a-z])",
  },
  {
    mood: 'prohibition',
    pattern:
      "\\byou (?:cannot|can not|can't|cant|will not|won't|are not to|are never to)\\b|\\b(?:cannot|can not|can't) be\\b",
  },
  {
    mood: 'either',
    pattern: "\\b(?:cannot|can not|can't|cant|could not|couldn't|will not|won't|wont|would not|wouldn't)\\b",
  },
  { mood: 'prohibition', nested: true, pattern: '\\bwithout (?:[a-z]+ly |first |ever )?[a-z]+ing\\b' },
  { mood: 'either', nested: true, pattern: '\\bwithout\\b' },
  // "No", and its relatives.
  {
    mood: 'prohibition',
    pattern:
      '\\b(?:under no circumstances?|in no (?:case|event|way)|on no account|at no (?:time|point)|by no means|no way)\\b',
  },
  {
    mood: 'statement',
    pattern:
      '\\b(?:there (?:is|are|was|were)|has|have|had|is|are|was|were|with|if|why|found|find|finds|shows?|says?) (?:no|nothing|none|nobody|no one)\\b',
  },
  {
    mood: 'prohibition',
    whole: true,
    pattern: '\\b(?:nothing|nobody|no one|none|no [\\w-]+)(?: [\\w-]+){0,3}? (?:must|may|should|shall|is to|are to)\\b',
  },
  { mood: 'prohibition', whole: true, pattern: `${OPENING}${NO_VERB}[a-z]+ (?:nothing|nobody|no one|none|no)\\b` },
  { mood: 'prohibition', pattern: `${OPENING}no (?:more |further |direct )?[a-z]+ing\\b` },
  { mood: 'either', whole: true, pattern: '\\b(?:nothing|nobody|no one|none|neither|nor|no)\\b' },
  // Verbs that forbid.
  {
    mood: 'prohibition',
    pattern: `${OPENING}(?:avoid|refrain|abstain|desist|stop|cease|halt|forbid|prohibit|prevent|withhold|hold off|hold back|leave out|skip)\\b`,
  },
  {
    mood: 'prohibition',
    whole: true,
    pattern: '\\b(?:forbidden|prohibited|banned|disallowed|off[- ]limits)\\b',
  },
  {
    mood: 'either',
    pattern:
      '\\b(?:avoid|avoiding|refrain|refraining|stop|prevent|withhold|abstain|instead of|rather than|other than|except|apart from|as opposed to)\\b',
  },
  {
    mood: 'either',
    pattern: '\\b(?:decided|chose|chosen|agreed|seems?|seemed|appears?|appeared|refused|likely) not to\\b',
  },
  { mood: 'prohibition', pattern: '\\bnot to\\b' },
  { mood: 'either', pattern: "(?<=['’](?:s|re|m|ve|d))\\s?not\\b" },
  {
    mood: 'either',
    pattern:
      '\\bnot (?=(?:[a-z]+ly )?(?:[a-z]+ed|sent|made|done|paid|given|written|told|shown|found|known|met|due|be)\\b)',
  },
  { mood: 'prohibition', pattern: '\\bnot\\b' },
  { mood: 'either', pattern: "\\b[a-z]+n't\\b" },
  // Words of other languages that forbid: no goal kind maps them, so they end in a question instead of being lost.
  {
    mood: 'prohibition',
    pattern:
      "\\b(?:nicht|kein[a-z]*|niemals|jamais|nunca|geen|niet|n'[a-z]+ez)\\b|(?<![\\p{L}])não(?![\\p{L}])|\\bne pas\\b|\\bsin enviar\\b",
  },
  { mood: 'prohibition', pattern: '请勿|請勿|不要(?![でですだなの。、,]|$)|不得' },
];
