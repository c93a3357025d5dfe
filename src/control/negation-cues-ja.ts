/**
 * How Japanese forbids, and how it only states that something is not so. The verb stands before its negation, so that what is forbidden is
 * looked for to the left. An earlier row wins where two begin at the same place.
 */
import type { Cue } from './negation-cue.ts';

const ASK = '(?:ください|下さい|くれ|くださ|ほしい|欲しい|もら|いただ|頂|おいて|お願い|ね|よ)';
const CLOSE = '(?=\\s*(?:$|[。!、,)」]))';

export const JAPANESE_CUES: readonly Cue[] = [
  // Obligation in the form of a double negation, guesses, and adjectives that only look negative.
  {
    mood: 'statement',
    pattern: '(?:なければ|なくては|なきゃ|ないと|ねば)(?:なら|いけ|だめ|ダメ|駄目)?(?:ない|ません|なりません)?',
  },
  {
    mood: 'statement',
    pattern: '(?:かも)?しれ(?:ない|ません)|(?:間違|違)い(?:ない|ありません)|ないよう(?:だ|です|な)(?!ら)',
  },
  { mood: 'statement', pattern: '(?:少|危|申し訳|問題)(?:な|では)(?:い|く)' },
  // The state of things.
  {
    mood: 'statement',
    pattern: '(?:て|で)(?:い|お)?(?:ない|なかった|ません(?:でした)?|らず|りません)(?!で' + ASK + ')',
  },
  { mood: 'statement', pattern: 'なかった|ませんでした' },
  {
    mood: 'statement',
    pattern:
      '(?:分から|わから|足り|見つから|届か|終わら|進ま|でき|出来|が|は|も)(?:ない|ません|ず)(?!で' + ASK + '|よう)',
  },
  { mood: 'statement', pattern: '不可(?:欠|能|分)' },
  { mood: 'statement', pattern: 'ずに(?=い(?:る|ます|た)|残|止ま|放置|おり)' },
  // Commands and rules.
  { mood: 'prohibition', pattern: '(?:て|で)いないで' + ASK },
  {
    mood: 'prohibition',
    pattern:
      'ないで' + ASK + '|ないで' + CLOSE + '|ないように(?!な(?:っ|る)|見え)|ないよう' + CLOSE + '|ないようお?願い',
  },
  {
    mood: 'prohibition',
    pattern: 'ないこと' + CLOSE + '|ないことを条件|ないこと(?:とする|です)|ない(?:ほう|方)が(?:いい|良い|よい)',
  },
  {
    mood: 'prohibition',
    pattern: '(?:て|で)は(?:いけ|なら|なり|だめ|ダメ|駄目)(?:ない|ません)?|(?:ちゃ|じゃ)(?:いけない|だめ|ダメ|駄目)',
  },
  {
    mood: 'prohibition',
    pattern: 'べき(?:では|じゃ)?(?:ない|ありません)|(?:こと|の)は(?:許され|認め(?:られ)?)(?:ない|ません)',
  },
  {
    mood: 'prohibition',
    whole: true,
    pattern: '禁止|禁ず|禁じ|厳禁|(?<![A-Za-z])NG(?![A-Za-z])|御?遠慮|ご遠慮|(?<!許)不可|無用',
  },
  {
    mood: 'prohibition',
    pattern:
      '差し?控え|控え(?=て|る|$|[。、])|(?:やめ|止め|辞め)(?:て(?!い|お(?:り|ら))|ろ|よ|ること)|避け(?:て|る|ろ)|慎(?:んで|む|み)|見合わせ(?:て|る)',
  },
  {
    mood: 'prohibition',
    pattern: '(?:せ|[らかさたわばまながべげめけれねえ])ずに(?=.*(?:ください|下さい|教え|作成|ほしい|欲しい|願い|こと))',
  },
  { mood: 'prohibition', pattern: 'せ?ぬように?' },
  { mood: 'prohibition', pattern: '(?:る|く|す|つ|ぬ|む|ぶ|ぐ|(?<!よ|そ|こ|ど)う)な(?=\\s*(?:$|[。!、]|よ))' },
  // May state or forbid.
  {
    mood: 'either',
    pattern:
      '必要(?:は|が|も)?(?:ない|ありません)|不要|(?:なし|無し|抜き)(?:で|に)|の?代わりに|(?:では|じゃ)?なく(?:て)?|以外',
  },
  { mood: 'either', pattern: 'ないまま|ずに|ず' + CLOSE + '|まい' + CLOSE },
  { mood: 'either', pattern: 'ない|ません' },
];
