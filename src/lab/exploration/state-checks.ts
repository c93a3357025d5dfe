/** The kernel's state against the ledger: what the fold made of the log is what the log says. INV-06, INV-08, INV-09. */
import type { RunState, StepState } from '#kernel/run-state.ts';
import type { Finding } from './event-checks.ts';
import type { ExploredPlan } from './explored-plan.ts';
import type { Ledger, LedgerStep } from './ledger.ts';

/** What in the state is not what the log says; empty when all is. */
export function checkState(plan: ExploredPlan, state: RunState, ledger: Ledger): readonly Finding[] {
  const found: Finding[] = [];
  const same = (invariant: string, what: string, pair: readonly [got: unknown, expected: unknown]): void => {
    const [got, expected] = pair;
    if (got !== expected)
      found.push({ invariant, message: `${what} is ${String(got)} and by the log ${String(expected)}.` });
  };
  same('INV-11', 'The head', [`${state.seq} ${state.hash}`, `${ledger.seq} ${ledger.hash}`]);
  same('INV-07', 'Cancelled', [state.cancelRequested !== undefined, ledger.cancelled]);
  same('INV-08', 'The result', [state.result, ledger.result]);
  same('INV-08', 'Ended', [state.phase === 'ended', ledger.result !== undefined]);
  same('INV-09', 'Blocked', [state.phase === 'blocked', ledger.blocked]);
  let openCount = 0;
  let held = 0;
  for (const [stepId, entry] of ledger.steps) {
    const step = state.steps.get(stepId);
    if (entry.outcome === undefined) openCount += 1;
    held += entry.held;
    same('INV-05', `The outcome of ${stepId}`, [step && outcomeOf(step), entry.outcome]);
    same('INV-09', `What is out of ${stepId}`, [state.inFlight.has(stepId), entry.out > 0]);
    if (step !== undefined)
      for (const message of misplaced(plan, step, { ledger, entry, state }))
        found.push({ invariant: 'INV-02', message });
  }
  same('INV-09', 'The count of open steps', [state.openStepCount, openCount]);
  same('INV-06', 'What is used', [state.budget?.toolCallCountUsed, ledger.used]);
  same('INV-06', 'What is reserved', [state.budget?.toolCallCountReserved, held]);
  if (ledger.used + held > plan.plan.budget.toolCallCountMax)
    found.push({ invariant: 'INV-06', message: `${ledger.used} used and ${held} reserved are more than there is.` });
  for (const [approvalId, { state: expected }] of ledger.approvals)
    same('INV-13', approvalId, [state.approvals.get(approvalId as never)?.state, expected]);
  for (const [effectId, { attempt }] of ledger.effects)
    same('INV-12', `The attempt of ${effectId}`, [state.effects.get(effectId as never)?.attempt, attempt]);
  return [...found, ...wrongResult(plan, ledger)];
}

function outcomeOf(step: StepState): string | undefined {
  return step.phase === 'skipped' ? 'skipped' : step.result?.status;
}

/** A step that may start is in one of the sets that make it start, and no other is. */
function* misplaced(
  plan: ExploredPlan,
  step: StepState,
  of: { readonly ledger: Ledger; readonly entry: LedgerStep; readonly state: RunState },
): Generator<string> {
  const { stepId } = step.definition;
  const { state, ledger, entry } = of;
  const sets = [state.ready, state.delayed, state.readyEffects, state.waitingEffects, state.inFlight];
  const placeCount = sets.filter((set) => set.has(stepId)).length + (state.questions.has(stepId) ? 1 : 0);
  const definition = plan.plan.steps.find((other) => other.stepId === stepId);
  const free = (definition?.dependsOn ?? []).every(({ stepId: on, strength }) => {
    const outcome = ledger.steps.get(on)?.outcome;
    return strength === 'weak' ? outcome !== undefined : outcome === 'completed';
  });
  const expected = entry.outcome === undefined && free ? 1 : 0;
  if (placeCount !== expected)
    yield `${stepId} (${step.phase}) is in ${placeCount} sets of what goes on, not in ${expected}.`;
}

/** What a run's result claims, as far as it does not depend on why it ended. */
function wrongResult({ plan }: ExploredPlan, ledger: Ledger): readonly Finding[] {
  const { result } = ledger;
  const say = (message: string): readonly Finding[] => [{ invariant: 'JOIN', message }];
  if (result === undefined) return [];
  const open = [...ledger.steps].find(([, { outcome }]) => outcome === undefined);
  if (open !== undefined && result !== 'failed') return say(`The run is ${result} while ${open[0]} is open.`);
  const outcomesOf = (required: boolean): readonly string[] =>
    plan.steps
      .filter((step) => step.required === required)
      .map(({ stepId }) => ledger.steps.get(stepId)?.outcome ?? 'open');
  const required = outcomesOf(true);
  const wanting = (outcomes: readonly string[]): boolean => outcomes.some((outcome) => outcome !== 'completed');
  if (result === 'completed' && wanting(required)) return say(`The run is completed with ${required.join(', ')}.`);
  if (result === 'completed' && outcomesOf(false).some((outcome) => outcome === 'failed' || outcome === 'skipped'))
    return say('The run is completed without an optional step.');
  // Required steps after one that found nothing found nothing either.
  if (result === 'no_data' && ![...required, ...outcomesOf(false)].includes('no_data'))
    return say('The run found nothing and no step did so.');
  if (result === 'cancelled' && !ledger.cancelled && !required.includes('cancelled'))
    return say('The run is cancelled and nobody asked for it.');
  return [];
}
