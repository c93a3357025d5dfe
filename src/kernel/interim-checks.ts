/** The least that an answer must hold; replaced by claim-binding.ts. Fails closed. */
import type { Answer } from '#contracts/answer.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import type { Evidence } from '#contracts/evidence.ts';
import { failure } from './failure.ts';
import type { RunState } from './run-state.ts';

/** Each claim rests on evidence that a settled step or a proof bears. */
export function checkAnswer(
  answer: Answer,
  against: { state: RunState; records: Readonly<Record<string, unknown>>; proofEvidence: readonly Evidence[] },
): readonly ErrorRecord[] {
  const settled = [...against.state.steps.values()].flatMap(({ result }) => result?.evidence ?? []);
  const known = new Set<string>([...settled, ...against.proofEvidence].map(({ evidenceId }) => evidenceId));
  return answer.claims
    .filter(({ evidenceIds }) => evidenceIds.length === 0 || evidenceIds.some((id) => !known.has(id)))
    .map(({ claimId }) => failure('ERR_CLAIM_NO_EVIDENCE', `Claim ${claimId} does not rest on evidence of this run.`));
}
