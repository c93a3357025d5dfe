/** Handing a ready step out, and noting that it was taken. INV-02, INV-06, INV-07. Source: DESIGN §3.4. */
import type { CommandOf } from '#contracts/command.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import type { Digest } from '#contracts/ids.ts';
import { isNothing, reservable, shareOf } from './budget.ts';
import { attemptDeadlineAt, enoughTime } from './deadline.ts';
import { decided, type Decision, refused, violated } from './decision.ts';
import { conclude, failStep, openDraft } from './draft.ts';
import { isEffectStep } from './effect-state.ts';
import { failure } from './failure.ts';
import { resolveInputs } from './inputs.ts';
import { plannedRun, type PlannedRun } from './planned-run.ts';
import { notBeforeMs } from './ready-set.ts';
import type { RunState, StepState } from './run-state.ts';
import { millisOf } from './time.ts';

/**
 * Reserves the step's share and dispatches it. A step whose input, time or budget cannot be had is settled as failed, so that the run
 * does not wait for it. Refuses what is not ready, is another attempt, or finds no free slot or share at the moment.
 */
export function decideDispatch(state: RunState, command: CommandOf<'dispatch'>): Decision {
  const run = plannedRun(state);
  const step = state.steps.get(command.stepId);
  if (state.cancelRequested !== undefined && state.phase !== 'ended')
    return violated('INV-07', `Step ${command.stepId} was to be dispatched after cancellation was requested.`);
  if (run === undefined || step === undefined || (state.phase !== 'planned' && state.phase !== 'running'))
    return refused('ERR_STATE', `Run ${state.ref.runId} is ${state.phase}; step ${command.stepId} is not dispatched.`);
  const wrong = notDispatchable(step, command, run) ?? noRoom(state, step, run);
  if (wrong !== undefined) return wrong;
  const terms = termsOf(state, step, { run, at: command.at });
  if (!terms.ok) {
    const draft = openDraft(state, run, command.at);
    failStep(draft, step, terms.error);
    return conclude(draft);
  }
  const { stepId, attempt, planVersion, dispatchId, leaseId, audience } = command;
  const { inputDigest, allowedAt } = terms;
  const deadlineAt = millisOf(command.deadlineAt) < millisOf(allowedAt) ? command.deadlineAt : allowedAt;
  const share = shareOf(step.definition.budget);
  const dispatched = {
    kind: 'step.dispatched',
    body: { stepId, attempt, planVersion, dispatchId, leaseId, audience, inputDigest, deadlineAt },
  } as const;
  if (isNothing(share)) return decided(dispatched);
  return decided({ kind: 'budget.reserved', body: { stepId, attempt, ...share } }, dispatched);
}

/**
 * Notes the task that works on a dispatch. The same task again is known already and gives no event; another task for one dispatch,
 * or one for a dispatch that the run does not have or that is over, is refused (ERR_STATE).
 */
export function decideStart(state: RunState, command: CommandOf<'start'>): Decision {
  const { stepId, attempt, planVersion, dispatchId, taskId, contextId } = command;
  const known = state.steps.get(stepId)?.attempts[attempt - 1];
  if (known === undefined || known.dispatchId !== dispatchId || state.accepted?.plan.version !== planVersion)
    return refused('ERR_STATE', `Run ${state.ref.runId} has no dispatch ${dispatchId} of step ${stepId} to start.`);
  if (known.taskId === taskId) return decided();
  if (known.taskId !== undefined)
    return refused('ERR_STATE', `Dispatch ${dispatchId} is worked on by task ${known.taskId}, not by ${taskId}.`);
  if (!state.inFlight.has(stepId) || known.error !== undefined)
    return refused('ERR_STATE', `Dispatch ${dispatchId} of step ${stepId} is over; task ${taskId} starts nothing.`);
  return decided({
    kind: 'step.started',
    body: { stepId, attempt, planVersion, dispatchId, taskId, contextId },
  });
}

function notDispatchable(step: StepState, command: CommandOf<'dispatch'>, run: PlannedRun): Decision | undefined {
  const { stepId, planVersion, attempt, at } = command;
  if (planVersion !== run.accepted.plan.version)
    return refused('ERR_STATE', `Plan version ${planVersion} is not the accepted version of step ${stepId}.`);
  if (isEffectStep(step))
    return refused('ERR_STATE', `Step ${stepId} has an effect: the writer applies it, no team is sent it.`);
  if (step.phase === 'pending') return violated('INV-02', `Step ${stepId} still waits for ${step.unsatisfiedCount}.`);
  if (step.phase !== 'ready') return refused('ERR_STATE', `Step ${stepId} is ${step.phase}, not ready.`);
  if (attempt !== step.attempts.length + 1)
    return refused('ERR_STATE', `The next attempt of step ${stepId} is ${step.attempts.length + 1}, not ${attempt}.`);
  if (notBeforeMs(step) > millisOf(at))
    return refused('ERR_STATE', `Step ${stepId} is not tried again before its time; it was asked for at ${at}.`);
  return undefined;
}

function noRoom(state: RunState, step: StepState, run: PlannedRun): Decision | undefined {
  const { concurrencyMax } = run.accepted.plan.budget;
  const { stepId } = step.definition;
  if (state.inFlight.size >= concurrencyMax)
    return refused('ERR_BUDGET', `Step ${stepId} finds no free slot: ${concurrencyMax} are in flight.`);
  if (reservable(run.account, shareOf(step.definition.budget)) === 'later')
    return refused('ERR_BUDGET', `Step ${stepId} waits for the budget that other attempts hold.`);
  return undefined;
}

type Terms =
  | { readonly ok: true; readonly inputDigest: Digest; readonly allowedAt: string }
  | { readonly ok: false; readonly error: ErrorRecord };

function termsOf(state: RunState, step: StepState, by: { readonly run: PlannedRun; readonly at: string }): Terms {
  const { stepId, budget } = step.definition;
  const inputs = resolveInputs(state, stepId);
  if (!inputs.ok) return inputs;
  if (!enoughTime(state, step, millisOf(by.at))) {
    const message = `Step ${stepId} needs ${step.skill.minimumRuntimeMs} ms; the run's deadline leaves less.`;
    return { ok: false, error: failure('ERR_DEADLINE', message, { stepId }) };
  }
  if (reservable(by.run.account, shareOf(budget)) === 'never') {
    const message = `Step ${stepId} needs ${budget.toolCallCountMax} tool calls and ${budget.modelTokenCountMax} tokens; less is left.`;
    return { ok: false, error: failure('ERR_BUDGET', message, { stepId }) };
  }
  return { ok: true, inputDigest: inputs.inputDigest, allowedAt: attemptDeadlineAt(state, step, by.at) };
}
