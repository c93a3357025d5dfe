/** Hands a ready step out: the lease is minted and the dispatch decided in one unit of work. Source: DESIGN §3.4, decision 0001. */
import type { CommandOf, Todo } from '#contracts/command.ts';
import { CaseOpsError } from '#contracts/error.ts';
import { attemptDeadlineAt } from '#kernel/deadline.ts';
import { resolveInputs } from '#kernel/inputs.ts';
import type { RunState, StepState } from '#kernel/run-state.ts';
import type { Prepared } from '#ports/driver.ts';
import type { RecordWrite } from '#ports/store.ts';
import type { RunContext } from './run-context.ts';
import { mintStepLease } from './step-lease.ts';

/**
 * The `dispatch` command with the row of its lease. Synchronous. When the issuer refuses, the step is dispatched without a lease and fails at
 * its send with the issuer's reason, so that the refusal is recorded at the step. Undefined when the plan has no such step.
 */
export function prepareDispatch(
  context: RunContext,
  state: RunState,
  by: { readonly todo: Extract<Todo, { kind: 'dispatch' }>; readonly at: string },
): Prepared | undefined {
  const { stepId, attempt } = by.todo;
  const step = state.steps.get(stepId);
  const { accepted } = state;
  if (step === undefined || accepted === undefined) return undefined;
  const card = accepted.cards.find(({ team }) => team === step.definition.team);
  const command: CommandOf<'dispatch'> = {
    kind: 'dispatch',
    at: by.at,
    actor: context.workload,
    stepId,
    planVersion: accepted.plan.version,
    attempt,
    dispatchId: context.ids.next('dsp'),
    leaseId: context.ids.next('lse'),
    audience: card?.audience ?? '',
    deadlineAt: attemptDeadlineAt(state, step, by.at),
  };
  return { command, records: leaseRecords(context, state, { step, command }) };
}

function leaseRecords(
  context: RunContext,
  state: RunState,
  of: { readonly step: StepState; readonly command: CommandOf<'dispatch'> },
): readonly RecordWrite[] {
  const { step, command } = of;
  const input = resolveInputs(state, command.stepId);
  // The kernel settles a step whose input cannot be had; no lease is minted for it.
  if (!input.ok) return [];
  const { at, attempt, leaseId, deadlineAt, dispatchId } = command;
  try {
    const { lease, row } = mintStepLease(context, { state, step, attempt, leaseId, input, at, deadlineAt });
    context.leases.hold(dispatchId, lease);
    return [{ table: 'lease', row }];
  } catch (error) {
    if (error instanceof CaseOpsError) return [];
    throw error;
  }
}
