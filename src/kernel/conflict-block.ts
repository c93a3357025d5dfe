/**
 * Two results of one step that contradict each other: the run stands still until a person says which holds; the last writer never wins.
 * Source: DESIGN §3.7.
 */
import type { BlockedReason } from '#contracts/event.ts';
import type { Digest, StepId } from '#contracts/ids.ts';
import type { RunState } from './run-state.ts';

/** What the run waits for while a conflict is open; undefined when none is. */
export function conflictBlock(state: RunState): BlockedReason | undefined {
  const [first] = state.conflicts;
  if (first === undefined) return undefined;
  const [stepId, rivals] = first;
  const settled = state.steps.get(stepId)?.result?.resultHash;
  const hashes = [settled, ...rivals.map(({ result }) => result.resultHash)];
  return conflictOf(
    state,
    stepId,
    hashes.filter((hash) => hash !== undefined),
  );
}

/** The block for a step whose results are these, the settled one first. */
export function conflictOf(state: RunState, stepId: StepId, hashes: readonly Digest[]): BlockedReason {
  const decider = state.accepted?.plan.join.conflictDecider ?? 'person';
  const question = `Step ${stepId} gave two results, ${hashes.join(' and ')}; the ${decider} must decide which holds: caseops runs resolve ${state.ref.runId} ${stepId} --held HASH --reason …, or cancel the run.`;
  return { code: 'RESULT_CONFLICT', question: question.slice(0, 2_000), wants: 'result_hash', options: [...hashes] };
}

/** Whether people are needed for more than the open conflicts: for an effect in doubt, or one that is not as it was approved. */
export function needsPeopleBesides(state: RunState): boolean {
  if ([...state.effects.values()].some((effect) => effect.state === 'partially_completed')) return true;
  return [...state.steps.values()].some(
    ({ result }) => result?.errors.some(({ code }) => code === 'ERR_EFFECT_UNKNOWN') === true,
  );
}
