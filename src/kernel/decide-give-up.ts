/** What becomes of a run whose need nobody could serve: it ends, or its step fails; it never hangs. Source: DESIGN §4 "Retries". */
import type { CommandOf, GivenUpTodo, Todo } from '#contracts/command.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import { decided, type Decision, refused } from './decision.ts';
import { conclude, type Draft, failStep, openDraft } from './draft.ts';
import { openApproval, openEffect } from './effect-state.ts';
import { next } from './next.ts';
import { plannedRun } from './planned-run.ts';
import type { RunState, StepState } from './run-state.ts';

/**
 * Without a plan or an answer the run ends as failed; a step that could not be dispatched is settled as failed and the join decides.
 * Refuses with ERR_STATE what the run does not need now.
 */
export function decideGiveUp(state: RunState, command: CommandOf<'giveUp'>): Decision {
  const { todo, error, at } = command;
  if (!next(state, at).some((needed) => isSame(needed, todo)))
    return refused('ERR_STATE', `Run ${state.ref.runId} is ${state.phase} and does not need what is given up.`);
  const run = plannedRun(state);
  const step = 'stepId' in todo ? state.steps.get(todo.stepId) : undefined;
  if (run !== undefined && step !== undefined) return giveUpStep(openDraft(state, run, at), step, error);
  const reason = `${todo.kind === 'plan' ? 'No plan' : 'No answer'} could be made: ${error.message}`.slice(0, 1_000);
  const ended = { kind: 'run.ended', body: { result: 'failed', needsHuman: state.needsHuman, reason } } as const;
  return todo.kind === 'compose' ? decided({ kind: 'answer.refused', body: { error } }, ended) : decided(ended);
}

/** An effect that was begun is in doubt then, and waits for people; what was only proposed or approved fails. */
function giveUpStep(draft: Draft, step: StepState, error: ErrorRecord): Decision {
  const effect = openEffect(draft.state, step);
  const approval = openApproval(draft.state, step);
  if (effect?.state === 'in_progress') {
    const { effectId, attempt } = effect;
    return decided({ kind: 'effect.unknown', body: { effectId, attempt, note: error.message.slice(0, 500) } });
  }
  if (effect !== undefined) {
    const { effectId, attempt } = effect;
    draft.events.push({ kind: 'effect.failed', body: { effectId, attempt, error } });
    draft.endedEffects.add(effectId);
  } else if (approval !== undefined) {
    const { approvalId } = approval;
    draft.events.push({
      kind: 'approval.withdrawn',
      body: { approvalId, by: 'kernel', reason: error.message.slice(0, 1_000) },
    });
  }
  failStep(draft, step, error);
  return conclude(draft);
}

function isSame(needed: Todo, todo: GivenUpTodo): boolean {
  switch (todo.kind) {
    case 'compose':
      return needed.kind === 'compose';
    case 'plan':
      return needed.kind === 'plan' && needed.round === todo.round;
    case 'proposeEffect':
      return needed.kind === 'proposeEffect' && needed.stepId === todo.stepId;
    case 'applyEffect':
      return needed.kind === 'applyEffect' && needed.stepId === todo.stepId && needed.attempt === todo.attempt;
    case 'dispatch':
      return needed.kind === 'dispatch' && needed.stepId === todo.stepId && needed.attempt === todo.attempt;
  }
}
