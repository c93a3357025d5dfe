/** Stopping what is out: every open task is asked to stop, and what nobody confirms is listed. "Accepted" is not "stopped". DESIGN §4. */
import type { CommandOf, Todo } from '#contracts/command.ts';
import type { DispatchId, RunId } from '#contracts/ids.ts';
import { attemptsInFlight } from '#kernel/next.ts';
import type { AttemptState, RunState, StepState } from '#kernel/run-state.ts';
import type { RunContext } from './run-context.ts';
import { grantOf } from './step-lease.ts';

type CancelTask = Extract<Todo, { kind: 'cancelTask' }>;
type Unresolved = CommandOf<'settleCancel'>['unresolved'][number];

/** By run: what came of each cancelled dispatch; undefined means it has stopped. In memory: after a restart each is asked again. */
export type Cancellations = Map<RunId, Map<DispatchId, Unresolved | undefined>>;

/** Asks one task to stop; when all of the run have answered, settles the cancellation with what is unresolved. */
export async function cancelTask(
  context: RunContext,
  state: RunState,
  by: { readonly todo: CancelTask; readonly cancellations: Cancellations; readonly signal: AbortSignal },
): Promise<void> {
  const { todo, cancellations, signal } = by;
  if (state.phase !== 'cancelling') return;
  const step = state.steps.get(todo.stepId);
  const attempt = step?.attempts[todo.attempt - 1];
  const unresolved =
    step === undefined || attempt === undefined ? undefined : await stop(context, state, { step, attempt, signal });
  if (signal.aborted) return;
  context.leases.release(todo.dispatchId);
  const ofRun = cancellations.get(state.ref.runId) ?? new Map<DispatchId, Unresolved | undefined>();
  cancellations.set(state.ref.runId, ofRun.set(todo.dispatchId, unresolved));
  const open = attemptsInFlight(state).map((entry) => entry.attempt.dispatchId);
  if (!open.every((dispatchId) => ofRun.has(dispatchId))) return;
  cancellations.delete(state.ref.runId);
  await context.driver.deliver(state.ref, {
    kind: 'settleCancel',
    at: context.clock.now(),
    actor: context.workload,
    unresolved: [...ofRun.values()].filter((entry) => entry !== undefined),
  });
}

async function stop(
  context: RunContext,
  state: RunState,
  by: { readonly step: StepState; readonly attempt: AttemptState; readonly signal: AbortSignal },
): Promise<Unresolved | undefined> {
  const { step, attempt } = by;
  const { stepId, team } = step.definition;
  const { taskId } = attempt;
  if (taskId === undefined)
    return { stepId, reason: 'It was sent and no task is known; nobody could be asked to stop.' };
  const unresolved = (reason: string): Unresolved => ({ stepId, taskId, reason });
  const transport = context.teams.get(team);
  if (transport === undefined) return unresolved(`Team ${team} is not configured in this process.`);
  try {
    const lease = await controlLease(context, state, { step, attempt, taskId });
    const answer = await transport.cancel(taskId, lease, by.signal);
    if (answer === 'cancelled') return undefined;
    return unresolved(
      answer === 'unknown'
        ? `Team ${team} did not say whether it stopped.`
        : `Team ${team} could not stop it any more.`,
    );
  } catch {
    return unresolved(`Team ${team} could not be asked to stop.`);
  }
}

async function controlLease(
  context: RunContext,
  state: RunState,
  of: { readonly step: StepState; readonly attempt: AttemptState; readonly taskId: string },
): Promise<ReturnType<RunContext['issuer']['mintControl']>['lease']> {
  const { step, attempt, taskId } = of;
  const { accepted, ref } = state;
  const policyDigest = accepted?.teamPolicyDigests[step.definition.team];
  if (accepted === undefined || policyDigest === undefined) throw new Error('A dispatched step has an accepted plan.');
  const { lease, row } = context.issuer.mintControl({
    grant: grantOf(context, state),
    tenant: ref.tenant,
    runId: ref.runId,
    stepId: step.definition.stepId,
    attempt: attempt.attempt,
    audience: attempt.audience,
    action: 'task:cancel',
    taskId,
    ...(attempt.contextId === undefined ? {} : { contextId: attempt.contextId }),
    planDigest: accepted.planDigest,
    policyDigest,
  });
  await context.store.write([{ table: 'lease', row }]);
  return lease;
}
