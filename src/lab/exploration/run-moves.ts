/** Everything that may happen next to an explored run: the world forgets nothing, keeps no order, and repeats itself. */
import type { GivenUpTodo, Todo } from '#contracts/command.ts';
import { isEffectStep } from '#kernel/effect-state.ts';
import type { RunState } from '#kernel/run-state.ts';
import { answerMoves } from './answer-moves.ts';
import { effectMoves } from './effect-moves.ts';
import { REQUESTER, type Scope, timeAt, UNIT_MS } from './explored-plan.ts';
import type { Move } from './move.ts';
import { type Deliveries, move, readMoves } from './read-moves.ts';

export interface World {
  readonly scope: Scope;
  readonly nowMs: number;
  readonly deliveries: Deliveries;
  /** What the run asks for now. */
  readonly todos: readonly Todo[];
}

export function movesOf(state: RunState, world: World): readonly Move[] {
  const at = timeAt(world.nowMs);
  const moves: Move[] = [];
  for (const step of state.steps.values()) {
    if (isEffectStep(step)) moves.push(...effectMoves(state, step, { at, scope: world.scope }));
    else moves.push(...readMoves(state, step, { at, scope: world.scope, deliveries: world.deliveries }));
  }
  const close = world.scope === 'close';
  if (world.todos.some(({ kind }) => kind === 'compose')) moves.push(...answerMoves(state, at));
  for (const todo of world.todos) if (close || todo.kind === 'await') moves.push(...todoMoves(todo, at));
  return [...moves, ...runMoves(state, { at, close }), ...timeMoves(world.nowMs, close)];
}

function todoMoves(todo: Todo, at: string): readonly Move[] {
  if (todo.kind === 'await') return [move('todo', 'await people', { kind: 'awaitPeople', at, actor: 'supervisor' })];
  if (!isGivenUp(todo)) return [];
  const error = {
    code: 'ERR_TEAM_FAILED',
    kind: 'unavailable',
    message: 'It failed.',
    at: 'driver',
    retryable: false,
  } as const;
  const label = 'stepId' in todo ? `give up ${todo.kind} ${todo.stepId}` : `give up ${todo.kind}`;
  return [move('wrong', label, { kind: 'giveUp', at, actor: 'supervisor', todo, error })];
}

function isGivenUp(todo: Todo): todo is GivenUpTodo {
  const { kind } = todo;
  return (
    kind === 'plan' || kind === 'compose' || kind === 'dispatch' || kind === 'proposeEffect' || kind === 'applyEffect'
  );
}

function runMoves(state: RunState, by: { readonly at: string; readonly close: boolean }): readonly Move[] {
  const { at, close } = by;
  const [stepId = 's1'] = state.steps.keys();
  const settle = { kind: 'settleCancel', at, actor: 'supervisor' } as const;
  const moves = [
    move('cancel', 'cancel', { kind: 'cancel', at, actor: REQUESTER, reason: 'Not needed.' }),
    move('arrival', 'all tasks have stopped', { ...settle, unresolved: [] }),
  ];
  if (!close) return moves;
  return [
    ...moves,
    move('person', 'answer the question', { kind: 'answerStep', at, actor: REQUESTER, input: { claim_id: 'C-103' } }),
    move('arrival', 'a task does not answer', { ...settle, unresolved: [{ stepId, reason: 'No answer.' }] }),
  ];
}

function timeMoves(nowMs: number, close: boolean): readonly Move[] {
  const at = timeAt(nowMs);
  const laterAt = timeAt(nowMs + UNIT_MS);
  const recovered = { kind: 'recover', actor: 'supervisor', checked: [], fence: 2 } as const;
  const later = { ...recovered, at: laterAt, pausedMs: UNIT_MS };
  return [
    move('time', 'tick', { kind: 'tick', at, actor: 'supervisor' }),
    { by: 'time', label: 'time passes', waits: 1, command: undefined },
    { by: 'crash', label: 'crash and recover a unit later', waits: 1, command: later },
    ...(close ? [move('crash', 'crash and recover at once', { ...recovered, at, pausedMs: 0 })] : []),
  ];
}
