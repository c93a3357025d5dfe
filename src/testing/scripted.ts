/** Stand-ins for models: a planner and a tool proposer that say what a script says. Untrusted, like any model. */
import { rulesPlanner } from '#control/backward-chaining.ts';
import { createScriptedPlanner, type PlannerTurn } from '#control/scripted-planner.ts';
import { createScriptedProposer, type ProposerTurn, type ScriptedProposer } from '#execution/scripted-proposer.ts';
import type { Clock } from '#ports/clock.ts';
import type { Planner } from '#ports/model.ts';
import { seededClock } from './seeded-clock.ts';

/** The built-in planner, to be edited by a script. */
export const builtInPlanner: Planner = rulesPlanner;

/** For `createCaseOps({ planner })`: takes the turns in order, then repeats the last. Only a clock that runs ends a turn of waiting. */
export function scriptedPlanner(
  turns: readonly [PlannerTurn, ...PlannerTurn[]],
  options: { readonly clock?: Clock } = {},
): Planner & { readonly callCount: number } {
  return createScriptedPlanner(turns, { clock: options.clock ?? seededClock(0) });
}

/** For `defineAgenticWorker({ model })`: takes the turns in order, then repeats the last, without end. */
export function scriptedProposer(
  turns: readonly [ProposerTurn, ...ProposerTurn[]],
  options: { readonly clock?: Clock } = {},
): ScriptedProposer {
  return createScriptedProposer(turns, { clock: options.clock ?? seededClock(0) });
}
