/** What may come when a run's steps are over and its goal declares a sentence: the answer, and one whose sentence rests on nothing. */
import type { Answer } from '#contracts/answer.ts';
import { composeAnswer } from '#kernel/claim-binding.ts';
import { joinOutcome } from '#kernel/join.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { Move } from './move.ts';
import { move, recordsOf } from './read-moves.ts';

export function answerMoves(state: RunState, at: string): readonly Move[] {
  const records = recordsOf(state);
  const { result } = joinOutcome(state);
  const answer = composeAnswer({
    state,
    records,
    proofs: {},
    proofEvidence: [],
    result,
    needsHuman: state.needsHuman,
    claimId: (key, index) => `clm_${key}-${index}`,
  });
  const compose = { kind: 'compose', at, actor: 'supervisor', records, proofEvidence: [] } as const;
  const loose: Answer = {
    ...answer,
    claims: answer.claims.map((claim) => ({ ...claim, evidenceIds: [] })),
    evidence: [],
  };
  return [
    move('todo', 'answer', { ...compose, answer }),
    move('wrong', 'answer with a sentence that rests on nothing', { ...compose, answer: loose }),
  ];
}
