/** What becomes of a run whose need nobody could serve: it ends, or its step fails; it never hangs. Source: DESIGN §4 "Retries". */
import type { CommandOf, GivenUpTodo, Todo } from '#contracts/command.ts';
import { decided, type Decision, refused } from './decision.ts';
import { conclude, failStep, openDraft } from './draft.ts';
import { next } from './next.ts';
import { plannedRun } from './planned-run.ts';
import type { RunState } from './run-state.ts';

/**
 * Without a plan or an answer the run ends as failed; a step that could not be dispatched is settled as failed and the join decides.
 * Refuses with ERR_STATE what the run does not need now.
 */
export function decideGiveUp(state: RunState, command: CommandOf<'giveUp'>): Decision {
  const { todo, error, at } = command;
  if (!next(state, at).some((needed) => isSame(needed, todo)))
    return refused('ERR_STATE', `Run ${state.ref.runId} is ${state.phase} and does not need what is given up.`);
  const run = plannedRun(state);
  const step = todo.kind === 'dispatch' ? state.steps.get(todo.stepId) : undefined;
  if (run !== undefined && step !== undefined) {
    const draft = openDraft(state, run, at);
    failStep(draft, step, error);
    return conclude(draft);
  }
  const reason = `${todo.kind === 'plan' ? 'No plan' : 'No answer'} could be made: ${error.message}`.slice(0, 1_000);
  const ended = { kind: 'run.ended', body: { result: 'failed', needsHuman: state.needsHuman, reason } } as const;
  return todo.kind === 'compose' ? decided({ kind: 'answer.refused', body: { error } }, ended) : decided(ended);
}

function isSame(needed: Todo, todo: GivenUpTodo): boolean {
  switch (todo.kind) {
    case 'compose':
      return needed.kind === 'compose';
    case 'plan':
      return needed.kind === 'plan' && needed.round === todo.round;
    case 'dispatch':
      return needed.kind === 'dispatch' && needed.stepId === todo.stepId && needed.attempt === todo.attempt;
  }
}
