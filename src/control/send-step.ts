/** Sends a dispatched step to its team and brings back what the team answers. Repeated after a crash under the same dispatch id. DESIGN §3.4. */
import type { CommandOf, Todo } from '#contracts/command.ts';
import { DISPATCH_VERSION, type Dispatch } from '#contracts/dispatch.ts';
import { CaseOpsError, toErrorRecord, type ErrorRecord } from '#contracts/error.ts';
import type { LeaseId } from '#contracts/ids.ts';
import { attemptDeadlineMs } from '#kernel/deadline.ts';
import { digestOfBytes } from '#kernel/digest.ts';
import { resolveInputs } from '#kernel/inputs.ts';
import { plannedRun, type PlannedRun } from '#kernel/planned-run.ts';
import type { AttemptState, RunState, StepState } from '#kernel/run-state.ts';
import { traceparentOfRun } from '#kernel/span-identity.ts';
import { timestampOf } from '#kernel/time.ts';
import type { HeldLease } from '#ports/issuer.ts';
import type { TeamTransport, TeamUpdate } from '#ports/team-transport.ts';
import { assertStillPlanned, teamGone } from './dispatch-check.ts';
import { controlError, type RunContext } from './run-context.ts';
import type { StepInput } from './step-input.ts';
import { mintStepLease } from './step-lease.ts';
import { usageOfArtifact, usageOfLost } from './step-usage.ts';

type Send = Extract<Todo, { kind: 'send' }>;

interface Sending {
  readonly context: RunContext;
  readonly state: RunState;
  readonly run: PlannedRun;
  readonly step: StepState;
  readonly attempt: AttemptState;
  readonly signal: AbortSignal;
}

/**
 * Reports every outcome by a command: `start`, then `deliver` with the artifact's bytes in the same commit, or `fail`. Returns without one
 * when the attempt is over already, or when this process is told to stop: then the job stays.
 */
export async function sendStep(
  context: RunContext,
  state: RunState,
  by: { readonly todo: Send; readonly signal: AbortSignal },
): Promise<void> {
  const run = plannedRun(state);
  const step = state.steps.get(by.todo.stepId);
  const attempt = step?.attempts[by.todo.attempt - 1];
  if (run === undefined || step === undefined || attempt === undefined) return;
  if (isOver(state, step, attempt) || attempt.dispatchId !== by.todo.dispatchId) return;
  const timeout = new AbortController();
  const { stepId } = step.definition;
  const disarm = context.clock.at(attemptDeadlineMs(attempt), () => timeout.abort(overdue(stepId, attempt)));
  const signal = AbortSignal.any([by.signal, timeout.signal]);
  const sending: Sending = { context, state, run, step, attempt, signal };
  try {
    await exchange(sending);
    context.leases.release(attempt.dispatchId);
  } catch (error) {
    // Told to stop: nothing is known about the attempt, so nothing is said; the job is performed again.
    if (by.signal.aborted && !timeout.signal.aborted) return;
    const cause: unknown = timeout.signal.aborted ? timeout.signal.reason : error;
    await fail(sending, toErrorRecord(cause, { code: 'ERR_TEAM_UNREACHABLE', at: 'control' }));
  } finally {
    disarm();
  }
}

function isOver(state: RunState, step: StepState, attempt: AttemptState): boolean {
  return (
    state.phase === 'ended' ||
    state.cancelRequested !== undefined ||
    step.result !== undefined ||
    attempt.error !== undefined
  );
}

async function exchange(sending: Sending): Promise<void> {
  const { context, step, signal } = sending;
  const transport = context.teams.get(step.definition.team);
  const input = resolveInputs(sending.state, step.definition.stepId);
  if (transport === undefined || !input.ok) return fail(sending, input.ok ? teamGone(step) : input.error);
  const changed = await assertStillPlanned(sending);
  if (changed !== undefined) return fail(sending, changed);
  const dispatch = dispatchOf(sending, input);
  const held = context.leases.held(sending.attempt.dispatchId, Math.floor(context.clock.nowMs() / 1_000));
  const { leaseId } = sending.attempt;
  const ended = await follow(sending, transport, {
    dispatch,
    lease: held ?? (await mintAgain(sending, input, leaseId)),
  });
  signal.throwIfAborted();
  if (ended === undefined) return;
  // Sent before the restart: the team has the task. A lease of another id brings back the same task.
  const again = held === undefined && ended.code === 'ERR_LEASE_CONSUMED';
  const lease = again ? await mintAgain(sending, input, context.ids.next('lse')) : undefined;
  const error = lease === undefined ? ended : await follow(sending, transport, { dispatch, lease });
  if (error !== undefined) await fail(sending, error);
}

/**
 * After a restart: the same attempt is authorised again, first under the id that its dispatch names, so that what the team delivers is bound
 * to it. Throws what the issuer refuses with.
 */
async function mintAgain(sending: Sending, input: StepInput, leaseId: LeaseId): Promise<HeldLease> {
  const { context, state, step, attempt } = sending;
  const { lease, row } = mintStepLease(context, {
    state,
    step,
    attempt: attempt.attempt,
    leaseId,
    input,
    at: context.clock.now(),
    deadlineAt: timestampOf(attemptDeadlineMs(attempt)),
  });
  const known = await context.store.lease(state.ref.tenant, leaseId);
  const written = known === undefined ? await context.store.write([{ table: 'lease', row }]) : { ok: true };
  if (!written.ok)
    throw new CaseOpsError('ERR_STORE', `The lease of dispatch ${attempt.dispatchId} could not be recorded.`, {
      at: 'control',
    });
  context.leases.hold(attempt.dispatchId, lease);
  return lease;
}

/** Undefined: delivered. Else why the attempt ended without an artifact. */
async function follow(
  sending: Sending,
  transport: TeamTransport,
  what: { readonly dispatch: Dispatch; readonly lease: HeldLease },
): Promise<ErrorRecord | undefined> {
  try {
    for await (const update of transport.send(what.dispatch, presented(sending, what.lease), sending.signal)) {
      if (update.kind === 'failed') return update.error;
      if (update.kind === 'artifact') {
        await deliver(sending, update);
        return undefined;
      }
      await started(sending, update);
    }
  } catch (error) {
    sending.signal.throwIfAborted();
    if (error instanceof CaseOpsError && error.code === 'ERR_LEASE_CONSUMED')
      return toErrorRecord(error, { code: 'ERR_LEASE_CONSUMED', at: 'control' });
    throw error;
  }
  sending.signal.throwIfAborted();
  const { team, stepId } = sending.step.definition;
  const message = `Team ${team} ended its task for step ${stepId} without an artifact.`;
  return controlError('ERR_ARTIFACT_MISSING', 'contract', { message });
}

/** In the span of this attempt, whose id its dispatch tells: the same after a restart. */
function presented({ state, attempt }: Sending, lease: HeldLease): HeldLease {
  return { ...lease, traceparent: traceparentOfRun(state.ref.runId, state.origin, attempt.dispatchId) };
}

async function started(sending: Sending, update: Extract<TeamUpdate, { kind: 'started' }>): Promise<void> {
  const { taskId, contextId } = update;
  await sending.context.driver.deliver(sending.state.ref, {
    kind: 'start',
    ...address(sending),
    taskId,
    contextId,
  });
}

async function deliver(sending: Sending, update: Extract<TeamUpdate, { kind: 'artifact' }>): Promise<void> {
  const { context, state, attempt } = sending;
  const { artifact, bytes } = update;
  const artifactRef = digestOfBytes(bytes);
  const command: CommandOf<'deliver'> = {
    kind: 'deliver',
    ...address(sending),
    artifact,
    artifactRef,
    sizeBytes: bytes.byteLength,
    usage: usageOfArtifact(artifact, { step: sending.step, attempt, nowMs: context.clock.nowMs() }),
  };
  await context.driver.deliver(state.ref, command, [
    { table: 'artifact', tenant: state.ref.tenant, digest: artifactRef, bytes },
  ]);
}

async function fail(sending: Sending, cause: ErrorRecord): Promise<void> {
  const { context, state, attempt, step } = sending;
  // The deadline that it was sent with passed while nobody here was awake: another attempt gets one of its own.
  const error = cause.code === 'ERR_DEADLINE' && attempt.stoodStillMs > 0 ? { ...cause, retryable: true } : cause;
  context.leases.release(attempt.dispatchId);
  // The next attempt looks at the team as it is then.
  context.directory.forget(step.definition.team);
  const usage = await usageOfLost(context, state, { step, attempt });
  await context.driver.deliver(state.ref, { kind: 'fail', ...address(sending), error, usage });
}

function address({
  context,
  run,
  step,
  attempt,
}: Sending): Pick<CommandOf<'fail'>, 'at' | 'actor' | 'stepId' | 'planVersion' | 'attempt' | 'dispatchId'> {
  return {
    at: context.clock.now(),
    actor: context.workload,
    stepId: step.definition.stepId,
    planVersion: run.accepted.plan.version,
    attempt: attempt.attempt,
    dispatchId: attempt.dispatchId,
  };
}

function dispatchOf({ state, run, step, attempt }: Sending, input: StepInput): Dispatch {
  const { goal, accepted } = run;
  const { stepId, team, skillId, skillVersion, actions, budget } = step.definition;
  return {
    contractVersion: DISPATCH_VERSION,
    dispatchId: attempt.dispatchId,
    tenant: state.ref.tenant,
    subject: goal.requestedBy,
    runId: state.ref.runId,
    goalId: goal.goalId,
    planId: accepted.plan.planId,
    planVersion: accepted.plan.version,
    planDigest: accepted.planDigest,
    stepId,
    attempt: attempt.attempt,
    team,
    skillId,
    skillVersion,
    purpose: goal.purpose,
    actions,
    forbiddenActions: goal.prohibitedActions,
    resources: [...input.resources],
    budget,
    deadlineAt: attempt.deadlineAt,
    language: goal.statement.language,
    input: input.input,
    inputDigest: input.inputDigest,
  };
}

function overdue(stepId: string, attempt: AttemptState): CaseOpsError {
  return new CaseOpsError(
    'ERR_DEADLINE',
    `Attempt ${attempt.attempt} of step ${stepId} was not over by its deadline ${attempt.deadlineAt}.`,
    { at: 'control' },
  );
}
