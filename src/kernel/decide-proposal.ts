/** Noting what a model proposed inside a running attempt, before anything is done about it. INV-06. Source: DESIGN §3.5. */
import type { CommandOf } from '#contracts/command.ts';
import { decided, type Decision, refused, violated } from './decision.ts';
import { classifyArrival } from './reduce-result.ts';
import type { RunState } from './run-state.ts';

/**
 * Records the proposal with its verdict. Refused (ERR_STATE) when the attempt is over or when it is not the next proposal: then another
 * process works on the attempt, and nothing may be called. A permitted one that leaves the attempt's tokens overdrawn breaks INV-06.
 */
export function decideNoteProposal(state: RunState, command: CommandOf<'noteProposal'>): Decision {
  const { stepId, planVersion, attempt: number, proposal } = command;
  const arrival = classifyArrival(state, command, undefined);
  if (arrival.kind !== 'current')
    return refused('ERR_STATE', `Proposal ${proposal.index} of step ${stepId} comes for an attempt that is over.`);
  const { step, attempt } = arrival;
  if (proposal.index !== attempt.proposalCount + 1)
    return refused(
      'ERR_STATE',
      `Proposal ${proposal.index} of step ${stepId} is not the next one after ${attempt.proposalCount}.`,
    );
  const spent = attempt.proposedTokenCount + proposal.modelTokenCount;
  if (proposal.verdict === 'permitted' && spent > step.reservedModelTokenCount)
    return violated('INV-06', `Step ${stepId} has used ${spent} of ${step.reservedModelTokenCount} model tokens.`);
  return decided({ kind: 'worker.proposed', body: { stepId, planVersion, attempt: number, ...proposal } });
}
