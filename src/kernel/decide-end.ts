/** How a run ends otherwise: with an answer, or by cancellation. INV-03, INV-07. Source: DESIGN §3.9, §4. */
import type { Answer } from '#contracts/answer.ts';
import type { CommandOf } from '#contracts/command.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import type { EventDraft } from '#contracts/event.ts';
import type { RunResult } from '#contracts/step-result.ts';
import { canonicalText } from './canonical.ts';
import { settleCancellation } from './cancellation.ts';
import { checkAnswer } from './claim-binding.ts';
import { decided, type Decision, refused } from './decision.ts';
import { failure } from './failure.ts';
import { effectsInProgress } from './effect-state.ts';
import { joinOutcome } from './join.ts';
import { awaitsAnswer } from './next.ts';
import type { RunState } from './run-state.ts';

/**
 * Takes a candidate answer once the join is decided: the run ends with the join's result. An answer with an unbound claim, or that
 * names another result than the join, is refused with each reason, and the run ends as failed. The same answer in a model's words comes
 * first; with a fault it is refused with each reason, and the run gives the answer in the goal's own words.
 */
export function decideCompose(state: RunState, command: CommandOf<'compose'>): Decision {
  if (!awaitsAnswer(state))
    return refused('ERR_STATE', `Run ${state.ref.runId} is ${state.phase} and awaits no answer.`);
  const { result, reason } = joinOutcome(state);
  const { phrased } = command;
  const misphrased =
    phrased === undefined
      ? []
      : [...faultsOf(phrased.answer, { state, command, result }), ...otherwise(phrased.answer, command.answer)];
  const answer = phrased !== undefined && misphrased.length === 0 ? phrased.answer : command.answer;
  const errors = answer === command.answer ? faultsOf(answer, { state, command, result }) : [];
  const refusals = [...misphrased, ...errors].map((error): EventDraft => ({ kind: 'answer.refused', body: { error } }));
  if (errors.length === 0) {
    const needsHuman = answer.needsHuman || state.needsHuman;
    return decided(
      ...refusals,
      { kind: 'answer.composed', body: { answer } },
      { kind: 'run.ended', body: { result, needsHuman, reason } },
    );
  }
  return decided(...refusals, {
    kind: 'run.ended',
    body: { result: 'failed', needsHuman: state.needsHuman, reason: 'The answer was refused.' },
  });
}

function faultsOf(
  answer: Answer,
  by: { readonly state: RunState; readonly command: CommandOf<'compose'>; readonly result: RunResult },
): readonly ErrorRecord[] {
  const { state, command, result } = by;
  const { records, proofEvidence, phrased } = command;
  const foreign = new Map(Object.entries(phrased?.foreign ?? {}));
  const known = (id: string) => foreign.get(id) ?? 'unknown';
  const errors = checkAnswer(answer, { state, records, proofEvidence, known });
  if (answer.result === result) return errors;
  const said = `The answer says the result is ${answer.result}; the join says ${result}.`;
  return [...errors, failure('ERR_STATE', said)];
}

/** Words are all that a phrased answer may change: it drops no sentence, adds none, and says nothing else about the run. */
function otherwise(phrased: Answer, composed: Answer): readonly ErrorRecord[] {
  const bare = ({ claims, ...rest }: Answer): string | undefined =>
    canonicalText({ ...rest, claims: claims.map(({ claimId, key }) => [claimId, key]) });
  const said = bare(phrased);
  if (said !== undefined && said === bare(composed)) return [];
  return [failure('ERR_STATE', 'The answer in other words changes more than the words of its sentences.')];
}

/** Requests cancellation: nothing is dispatched any more. With nothing in flight it is settled at once. Asking again changes nothing. */
export function decideCancel(state: RunState, command: CommandOf<'cancel'>): Decision {
  if (state.phase === 'ended') return refused('ERR_STATE', `Run ${state.ref.runId} has ended; it cannot be cancelled.`);
  if (state.phase === 'cancelling') return decided();
  const requested: EventDraft = {
    kind: 'cancel.requested',
    body: { by: command.actor, reason: command.reason },
  };
  if (state.inFlight.size > 0 || effectsInProgress(state).length > 0) return decided(requested);
  return decided(requested, ...settleCancellation(state, command.at, { unresolved: [] }));
}

/** Settles a requested cancellation with what could not be confirmed as stopped. */
export function decideSettleCancel(state: RunState, command: CommandOf<'settleCancel'>): Decision {
  if (state.phase !== 'cancelling')
    return refused('ERR_STATE', `Run ${state.ref.runId} is ${state.phase}; no cancellation is open.`);
  const unresolved = command.unresolved.map((entry) => ({ ...entry }));
  return decided(...settleCancellation(state, command.at, { unresolved }));
}
