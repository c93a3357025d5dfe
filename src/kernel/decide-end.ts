/** How a run ends otherwise: with an answer, or by cancellation. INV-03, INV-07. Source: DESIGN §3.9, §4. */
import type { CommandOf } from '#contracts/command.ts';
import type { EventDraft } from '#contracts/event.ts';
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
 * names another result than the join, is refused with each reason, and the run ends as failed.
 */
export function decideCompose(state: RunState, command: CommandOf<'compose'>): Decision {
  if (!awaitsAnswer(state))
    return refused('ERR_STATE', `Run ${state.ref.runId} is ${state.phase} and awaits no answer.`);
  const { answer, records, proofEvidence } = command;
  const { result, reason } = joinOutcome(state);
  const errors = [...checkAnswer(answer, { state, records, proofEvidence })];
  if (answer.result !== result)
    errors.push(failure('ERR_STATE', `The answer says the result is ${answer.result}; the join says ${result}.`));
  if (errors.length === 0) {
    const needsHuman = answer.needsHuman || state.needsHuman;
    return decided(
      { kind: 'answer.composed', body: { answer } },
      { kind: 'run.ended', body: { result, needsHuman, reason } },
    );
  }
  const refusals = errors.map((error): EventDraft => ({ kind: 'answer.refused', body: { error } }));
  return decided(...refusals, {
    kind: 'run.ended',
    body: { result: 'failed', needsHuman: state.needsHuman, reason: 'The answer was refused.' },
  });
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
