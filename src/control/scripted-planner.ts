/**
 * A planner that proposes what a script says, with faults: for tests, drills and replays of what a model once did. It is untrusted like any
 * other. Source: CONTRACTS "Scripted".
 */
import { CaseOpsError } from '#contracts/error.ts';
import type { Plan } from '#contracts/plan.ts';
import type { Clock } from '#ports/clock.ts';
import type { ModelBounds, Planner, PlannerRequest, Proposal } from '#ports/model.ts';

export type PlannerTurn =
  /** Whatever it returns is proposed. */
  | { readonly kind: 'plan'; readonly plan: (request: PlannerRequest) => unknown }
  /** What another planner proposes, changed; to make one thing wrong. */
  | { readonly kind: 'edit'; readonly from: Planner; readonly edit: (plan: Plan, request: PlannerRequest) => unknown }
  /** Text that is no JSON, as a model may return. */
  | { readonly kind: 'invalid-json'; readonly text: string }
  /** Nothing for so long; the caller's limit decides. */
  | { readonly kind: 'timeout'; readonly ms: number }
  /** The provider answers with this HTTP status. */
  | { readonly kind: 'http'; readonly status: number }
  /** Claims to have used so many tokens. */
  | { readonly kind: 'tokens'; readonly from: Planner; readonly modelTokenCount: number };

/**
 * Takes the turns in order, one per call; after the last it repeats the last. Throws ERR_MODEL for `http`, and the signal's reason when it
 * is aborted during `timeout`.
 */
export function createScriptedPlanner(
  turns: readonly [PlannerTurn, ...PlannerTurn[]],
  options: { readonly clock: Clock },
): Planner & { readonly callCount: number } {
  let callCount = 0;
  return {
    propose(request, bounds) {
      const turn = turns[Math.min(callCount, turns.length - 1)] ?? turns[0];
      callCount += 1;
      return take(turn, { request, bounds, clock: options.clock });
    },
    get callCount() {
      return callCount;
    },
  };
}

const PROPOSER = { kind: 'scripted', name: 'script' } as const;

async function take(
  turn: PlannerTurn,
  call: { readonly request: PlannerRequest; readonly bounds: ModelBounds; readonly clock: Clock },
): Promise<Proposal> {
  const { request, bounds, clock } = call;
  switch (turn.kind) {
    case 'plan':
      return { plan: turn.plan(request), proposer: PROPOSER };
    case 'edit': {
      const { plan } = await turn.from.propose(request, bounds);
      return { plan: turn.edit(structuredClone(plan) as Plan, request), proposer: PROPOSER };
    }
    case 'invalid-json':
      return { plan: turn.text, proposer: PROPOSER };
    case 'timeout':
      await clock.sleep(turn.ms, bounds.signal);
      return { plan: null, proposer: PROPOSER };
    case 'http':
      throw new CaseOpsError('ERR_MODEL', `The model provider answered ${turn.status}.`, {
        at: 'planner',
        retryable: turn.status >= 500,
        detail: { status: turn.status },
      });
    case 'tokens': {
      const { plan } = await turn.from.propose(request, bounds);
      return { plan, proposer: { ...PROPOSER, modelTokenCount: turn.modelTokenCount } };
    }
    default:
      return turn satisfies never;
  }
}
