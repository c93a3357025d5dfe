/** A ready step of a run that follows others: settled with what they have settled, or dispatched like any other. Decision 0020. */
import type { Todo } from '#contracts/command.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { EarlierResult } from '#contracts/earlier-result.ts';
import { plannedRun } from '#kernel/planned-run.ts';
import type { RunState, StepState } from '#kernel/run-state.ts';
import { earlierResults } from './earlier-result.ts';
import { prepareDispatch } from './dispatch-step.ts';
import type { RunContext } from './run-context.ts';

type DispatchTodo = Extract<Todo, { kind: 'dispatch' }>;

/**
 * Offers the kernel each earlier result of the step's skill, latest run first, until one is taken; else dispatches the step. A log that
 * cannot be read settles nothing. The person's grant is asked for again at this moment.
 */
export async function reuseOrDispatch(
  context: RunContext,
  state: RunState,
  by: { readonly todo: DispatchTodo; readonly signal: AbortSignal },
): Promise<void> {
  const { todo, signal } = by;
  const step = state.steps.get(todo.stepId);
  if (step !== undefined && (await reused(context, state, { step, signal }))) return;
  if (signal.aborted) return;
  const prepared = prepareDispatch(context, state, { todo, at: context.clock.now() });
  if (prepared !== undefined) await context.driver.deliver(state.ref, prepared.command, prepared.records);
}

async function reused(
  context: RunContext,
  state: RunState,
  { step, signal }: { readonly step: StepState; readonly signal: AbortSignal },
): Promise<boolean> {
  const { origin, ref } = state;
  const run = plannedRun(state);
  const grant = context.grants(run?.goal.requestedBy ?? '', ref.tenant);
  if (run === undefined || grant === undefined || origin.level !== 'central') return false;
  for (const runId of origin.earlierRunIds ?? []) {
    for (const earlier of await readable(context, state, { step, runId })) {
      if (signal.aborted) return false;
      const done = await context.driver.deliver(ref, {
        kind: 'reuse',
        at: context.clock.now(),
        actor: context.workload,
        stepId: step.definition.stepId,
        planVersion: run.accepted.plan.version,
        earlier,
        grant: { sub: grant.sub, tenant: grant.tenant, purposes: grant.purposes, actions: grant.actions },
      });
      if (done.ok) return true;
    }
  }
  return false;
}

async function readable(
  { store }: RunContext,
  { ref }: RunState,
  of: { readonly step: StepState; readonly runId: EarlierResult['origin']['runId'] },
): Promise<readonly EarlierResult[]> {
  try {
    return await earlierResults(store, { tenant: ref.tenant, runId: of.runId }, of.step.definition);
  } catch (error) {
    if (error instanceof CaseOpsError) return [];
    throw error;
  }
}
