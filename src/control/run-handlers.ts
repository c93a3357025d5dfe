/**
 * The central run loop: what a run needs from outside, done by control. Decisions stay in the kernel; each outcome comes back as a command.
 * Source: DESIGN §3.3, §3.4, §3.9, §4.
 */
import type { JobTodo } from '#contracts/command.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { Prepared, RunHandlers } from '#ports/driver.ts';
import { cancelTask, type Cancellations } from './cancel-task.ts';
import { composeAnswerOf } from './consolidator.ts';
import { mayReuse } from '#kernel/decide-reuse.ts';
import { prepareDispatch } from './dispatch-step.ts';
import { createLeaseBook } from './lease-book.ts';
import { noEffects } from './no-effects.ts';
import { planRun } from './planning-loop.ts';
import { prepareAwait, proposeEffect } from './propose-effect.ts';
import type { RunContext } from './run-context.ts';
import { reuseOrDispatch } from './reuse-step.ts';
import { sendStep } from './send-step.ts';

const PLANNER_TIMEOUT_MS = 5_000;

export type RunHandlersOptions = Omit<RunContext, 'leases' | 'plannerTimeoutMs'> & {
  /** How long a planner may think per round. */
  readonly plannerTimeoutMs?: number;
};

/**
 * Handlers for central runs, to be registered with the driver. Each job may be performed again after a crash: sends keep their dispatch
 * id, which the team deduplicates; the rest is decided by the kernel once.
 */
export function createRunHandlers(options: RunHandlersOptions): RunHandlers<RunState> {
  const context: RunContext = {
    ...options,
    leases: createLeaseBook(),
    plannerTimeoutMs: options.plannerTimeoutMs ?? PLANNER_TIMEOUT_MS,
  };
  const cancellations: Cancellations = new Map();
  return {
    prepare: (state, todo, at) => prepare(context, state, { todo, at }),
    perform: ({ todo }, state, signal) => perform(todo, state, { context, cancellations, signal }),
  };
}

function prepare(
  context: RunContext,
  state: RunState,
  by: { readonly todo: JobTodo; readonly at: string },
): Prepared | undefined {
  const { todo, at } = by;
  if (todo.kind === 'dispatch') {
    const step = state.steps.get(todo.stepId);
    // Earlier runs are read outside of the unit of work: the todo is kept as a job.
    return step !== undefined && mayReuse(state, step) ? undefined : prepareDispatch(context, state, { todo, at });
  }
  const command = prepareAwait(context.workload, todo, at);
  return command === undefined ? undefined : { command, records: [] };
}

async function admitRun(context: RunContext, { ref }: RunState, signal: AbortSignal): Promise<void> {
  await context.admission.turn(ref, signal);
  await context.driver.deliver(ref, { kind: 'admit', at: context.clock.now(), actor: context.workload });
}

async function performEffect(
  todo: Extract<JobTodo, { kind: 'proposeEffect' | 'applyEffect' }>,
  state: RunState,
  by: { readonly context: RunContext; readonly signal: AbortSignal },
): Promise<void> {
  const effects = by.context.effects ?? noEffects;
  if (todo.kind === 'applyEffect') await effects.writer.apply(state.ref, todo, by.signal);
  else await proposeEffect({ ...by.context, ...effects }, state, { stepId: todo.stepId, signal: by.signal });
}

function perform(
  todo: JobTodo,
  state: RunState,
  by: { readonly context: RunContext; readonly cancellations: Cancellations; readonly signal: AbortSignal },
): Promise<void> {
  const { context, cancellations, signal } = by;
  switch (todo.kind) {
    case 'admit':
      return admitRun(context, state, signal);
    case 'plan':
      // Taken up after a restart, it works already.
      if (state.phase === 'received') context.admission.occupy(state.ref);
      return planRun(context, state, { todo, signal });
    case 'send':
      return sendStep(context, state, { todo, signal });
    case 'cancelTask':
      return cancelTask(context, state, { todo, cancellations, signal });
    case 'compose':
      return composeAnswerOf(context, state, signal);
    case 'proposeEffect':
    case 'applyEffect':
      return performEffect(todo, state, { context, signal });
    case 'dispatch':
      return reuseOrDispatch(context, state, { todo, signal });
    case 'await':
      // Decided in the unit of work that listed it; there is nothing to do after it.
      return Promise.resolve();
    default:
      return todo satisfies never;
  }
}
