/**
 * A required step whose contract nobody offers any more: it is not failed by an upgrade, it is held, and the run says what moved and waits
 * for a person to migrate it, to bring the contract back, or to cancel. DESIGN §4 "an old run finishes under the contracts it started with".
 */
import type { ErrorRecord } from '#contracts/error.ts';
import { type BlockedReason, type MovedField, movedFields } from '#contracts/event.ts';
import { markReady } from './ready-set.ts';
import type { RunState, StepState } from './run-state.ts';

const MOVED_COUNT_MAX = 64;

/**
 * What the end of an attempt says has moved: ERR_CONTRACT_MOVED with `detail.moved`, for a required step of a central run. Undefined for any
 * other end: the step is then over.
 */
export function movedOf(state: RunState, step: StepState, error: ErrorRecord): readonly MovedField[] | undefined {
  if (error.code !== 'ERR_CONTRACT_MOVED' || state.level !== 'central' || !step.definition.required) return undefined;
  return movedFields.safeParse(error.detail?.['moved']).data;
}

/** What the run waits for while a step is held. */
export function holdBlock(state: RunState): BlockedReason | undefined {
  if (state.held.size === 0) return undefined;
  const moved = [...state.held.values()].flat().slice(0, MOVED_COUNT_MAX);
  const what = moved.map(({ what: name, expected, got }) => `${name} was ${expected} and is ${got}`).join('; ');
  const question = `The contracts that ${[...state.held.keys()].join(', ')} was planned with are not offered: ${what}. Migrate the run to what is offered now, bring the contract back, or cancel: caseops runs migrate ${state.ref.runId} --reason …`;
  return { code: 'CONTRACT', question: question.slice(0, 2_000), wants: 'migration', options: [], moved };
}

/** Every held step may be tried again. Only the fold calls it. */
export function releaseHeld(state: RunState): void {
  const stepIds = [...state.held.keys()];
  state.held.clear();
  for (const stepId of stepIds) {
    const step = state.steps.get(stepId);
    if (step !== undefined) markReady(state, step);
  }
}
