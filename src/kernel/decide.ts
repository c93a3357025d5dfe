/**
 * The decider: a command and a state give events, or a refusal that changes nothing. Pure and synchronous: the time, the ids and the
 * actor come with the command. Nothing is decided anywhere else. Source: DESIGN §4.
 */
import type { Command, CommandOf, RunRef } from '#contracts/command.ts';
import {
  decideApproval,
  decideAwaitPeople,
  decideRequestApproval,
  decideStaleApproval,
  decideWithdrawApproval,
} from './decide-approval.ts';
import { decideAdopt, decideClose, decidePermit, decideRefuse, decideSettle } from './decide-call.ts';
import { decideDispatch, decideStart } from './decide-dispatch.ts';
import {
  decideCompensateEffect,
  decideConfirmEffect,
  decideFailEffect,
  decideIntendEffect,
  decideLoseEffect,
  decideNoteSent,
  decideReconcileEffect,
  decideRetryEffect,
} from './decide-effect.ts';
import { decideCancel, decideCompose, decideSettleCancel } from './decide-end.ts';
import { decideAdmit, decideClarify, decideReceive } from './decide-goal.ts';
import { decideGiveUp } from './decide-give-up.ts';
import { decideErase } from './decide-erase.ts';
import { decideMigrate } from './decide-migrate.ts';
import { decidePropose } from './decide-plan.ts';
import { decideNoteProposal } from './decide-proposal.ts';
import { decideReplayEffect } from './decide-replay.ts';
import { decideReuse } from './decide-reuse.ts';
import { decideDeliver, decideFail } from './decide-result.ts';
import { decideConflict, decideReplan } from './decide-revise.ts';
import { decideRecover, decideTick } from './decide-time.ts';
import { type Decision, refused } from './decision.ts';
import type { RunState } from './run-state.ts';
import { decideAnswerStep } from './step-question.ts';

export type { Decision } from './decision.ts';

type Kind = Exclude<Command['kind'], 'receive'>;
type Decider<K extends Kind> = (state: RunState, command: CommandOf<K>) => Decision;

/**
 * Decides `command` for the run `ref`. `receive` opens a run and is refused for one that exists (ERR_STATE); every other command needs
 * a run (ERR_NOT_FOUND). A command that would break an invariant is refused with ERR_INVARIANT and `detail.invariant`.
 */
export function decide(state: RunState | undefined, command: Command, ref: RunRef): Decision {
  if (command.kind === 'receive') {
    if (state !== undefined) return refused('ERR_STATE', `Run ${ref.runId} exists already; a run is received once.`);
    return decideReceive(command, ref);
  }
  if (state === undefined) return refused('ERR_NOT_FOUND', `There is no run ${ref.runId} to ${command.kind}.`);
  return decideBy(state, command.kind, command);
}

function decideBy<K extends Kind>(
  state: RunState,
  kind: K,
  command: { readonly [P in Kind]: CommandOf<P> }[K],
): Decision {
  const decider: Decider<K> = DECIDERS[kind];
  return decider(state, command);
}

const DECIDERS: { readonly [K in Kind]: Decider<K> } = {
  clarify: decideClarify,
  admit: decideAdmit,
  answerStep: decideAnswerStep,
  propose: decidePropose,
  migrate: decideMigrate,
  dispatch: decideDispatch,
  reuse: decideReuse,
  start: decideStart,
  noteProposal: decideNoteProposal,
  deliver: decideDeliver,
  fail: decideFail,
  compose: decideCompose,
  tick: decideTick,
  decideConflict,
  replan: decideReplan,
  cancel: decideCancel,
  settleCancel: decideSettleCancel,
  recover: decideRecover,
  adoptTool: decideAdopt,
  permitCall: decidePermit,
  refuseCall: decideRefuse,
  settleCall: decideSettle,
  closeCalls: decideClose,
  erase: decideErase,
  giveUp: decideGiveUp,
  requestApproval: decideRequestApproval,
  decideApproval,
  withdrawApproval: decideWithdrawApproval,
  staleApproval: decideStaleApproval,
  awaitPeople: decideAwaitPeople,
  intendEffect: decideIntendEffect,
  noteSent: decideNoteSent,
  confirmEffect: decideConfirmEffect,
  failEffect: decideFailEffect,
  loseEffect: decideLoseEffect,
  reconcileEffect: decideReconcileEffect,
  retryEffect: decideRetryEffect,
  compensateEffect: decideCompensateEffect,
  replayEffect: decideReplayEffect,
};
