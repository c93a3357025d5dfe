/** Whether a text asks for a fresh look: then nothing of an earlier run settles its steps. Source: DESIGN §3.1, decision 0020. */

const WISHES: readonly RegExp[] = [
  /\b(?:check|look|read|verify|ask|fetch|query)(?: (?:it|that|this|them|everything))?(?: up)? (?:again|afresh|anew|once more)\b/iu,
  /\b(?:re-?check|re-?read|re-?verify)/iu,
  /\bfresh(?:ly)?\b|\bup[- ]to[- ]date\b|\b(?:right|as of) now\b|\bthe latest\b/iu,
  /もう(?:一度|いちど)|再度|改めて|あらためて|再確認|確認し直|調べ直|最新|今すぐ/u,
];

/** `asked` is the text without its negated clauses: who asks not to look again is not taken at half their word. */
export function wantsFreshLook(asked: string): boolean {
  return WISHES.some((wish) => wish.test(asked));
}
