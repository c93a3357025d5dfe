/** Stand-ins for models: a planner that proposes what a script says, and a proposer for a worker that asks a model for anything else. */
import { CaseOpsError } from '#contracts/error.ts';
import { createScriptedPlanner, type PlannerTurn } from '#control/scripted-planner.ts';
import { rulesPlanner } from '#control/backward-chaining.ts';
import type { Clock } from '#ports/clock.ts';
import type { Planner } from '#ports/model.ts';
import { seededClock } from './seeded-clock.ts';

export type { PlannerTurn } from '#control/scripted-planner.ts';

/** The built-in planner, to be edited by a script. */
export const builtInPlanner: Planner = rulesPlanner;

/** For `createCaseOps({ planner })`: takes the turns in order, then repeats the last. Waits of a turn need a clock that runs. */
export function scriptedPlanner(
  turns: readonly [PlannerTurn, ...PlannerTurn[]],
  options: { readonly clock?: Clock } = {},
): Planner & { readonly callCount: number } {
  return createScriptedPlanner(turns, { clock: options.clock ?? seededClock(0) });
}

export type ProposerTurn<Request, Proposal> =
  | { readonly kind: 'propose'; readonly proposal: Proposal | ((request: Request) => Proposal) }
  /** The provider answers with this HTTP status: ERR_MODEL, to be tried again from 500 on. */
  | { readonly kind: 'http'; readonly status: number }
  /** Nothing, until the signal aborts. */
  | { readonly kind: 'silence' };

export interface ScriptedProposer<Request, Proposal> {
  /** Untrusted, like whatever a model says. */
  propose(request: Request, signal?: AbortSignal): Promise<Proposal>;
  /** What it was asked, in order. */
  readonly requests: readonly Request[];
}

/** Takes the turns in order; a call after the last throws ERR_MODEL, so that a loop without a limit shows. */
export function scriptedProposer<Request, Proposal>(
  turns: readonly ProposerTurn<Request, Proposal>[],
): ScriptedProposer<Request, Proposal> {
  const requests: Request[] = [];
  return {
    requests,
    propose: async (request, signal) => {
      const turn = turns[requests.push(request) - 1];
      if (turn === undefined)
        throw modelError(`The script has ${turns.length} turns; this is call ${requests.length}.`);
      signal?.throwIfAborted();
      return take(turn, request, signal);
    },
  };
}

function take<Request, Proposal>(
  turn: ProposerTurn<Request, Proposal>,
  request: Request,
  signal: AbortSignal | undefined,
): Proposal | Promise<Proposal> {
  switch (turn.kind) {
    case 'propose':
      return isFunction(turn.proposal) ? turn.proposal(request) : turn.proposal;
    case 'http':
      throw modelError(`The model provider answered ${turn.status}.`, turn.status >= 500);
    case 'silence':
      return new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
    default:
      return turn satisfies never;
  }
}

function isFunction<Request, Proposal>(
  value: Proposal | ((request: Request) => Proposal),
): value is (request: Request) => Proposal {
  return typeof value === 'function';
}

function modelError(message: string, retryable = false): CaseOpsError {
  return new CaseOpsError('ERR_MODEL', message, { at: 'model', retryable });
}
