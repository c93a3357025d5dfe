/** What people do in a simulated world, as data: who asks what and when, who cancels, and how an approver decides. Drawn from the seed. */
import type { Dice } from './dice.ts';

export type DecisionHabit =
  | 'approve'
  /** Two decisions at the same time. */
  | 'approve_twice'
  /** First a digest of something else. */
  | 'wrong_digest'
  /** The requester tries it first. */
  | 'requester_first'
  | 'reject'
  /** Long after the approval has expired. */
  | 'too_late'
  | 'withdraw'
  | 'never';

export interface Person {
  readonly kind: 'ask';
  /** Index into the case's asks. */
  readonly ask: number;
  readonly atMs: number;
  /** The same request is sent again at the same time under its key. */
  readonly twice: boolean;
  readonly decides: DecisionHabit;
  readonly decideAfterMs: number;
  /** Counted from the asking. */
  readonly cancelAfterMs: number | undefined;
  /** Wants it planned anew, counted from the asking. */
  readonly replanAfterMs: number | undefined;
}

const HABITS: readonly [DecisionHabit, ...DecisionHabit[]] = [
  'approve',
  'approve',
  'approve',
  'approve_twice',
  'wrong_digest',
  'requester_first',
  'reject',
  'too_late',
  'withdraw',
  'never',
];

/** One to three people; most ask one thing at the beginning. */
export function drawPeople(dice: Dice, askCount: number): readonly Person[] {
  const count = dice.one([1, 1, 1, 2, 2, 3]);
  return Array.from({ length: count }, () => ({
    kind: 'ask',
    ask: dice.below(askCount),
    atMs: dice.one([0, dice.below(3_000)]),
    twice: dice.chance(0.15),
    decides: dice.one(HABITS),
    decideAfterMs: dice.one([1, 50, 1_000, 3_000]),
    cancelAfterMs: dice.chance(0.2) ? dice.one([dice.below(120), dice.below(1_500), dice.below(5_000)]) : undefined,
    replanAfterMs: dice.chance(0.1) ? dice.one([dice.below(120), dice.below(1_500)]) : undefined,
  }));
}
