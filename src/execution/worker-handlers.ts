/**
 * What a team run needs from outside, done: its plan, the dispatch of its worker under the lease that the team holds, and the worker
 * run itself. Planning and dispatch are decided in the transaction that receives the run. Source: DESIGN §2, §3.5, §4.
 */
import { ARTIFACT_BYTES_MAX, type Artifact } from '#contracts/artifact.ts';
import type { CapabilityCard } from '#contracts/capability-snapshot.ts';
import type { Job, JobTodo } from '#contracts/command.ts';
import { CaseOpsError, type ErrorRecord } from '#contracts/error.ts';
import type { Digest, LeaseId } from '#contracts/ids.ts';
import { canonicalText } from '#kernel/canonical.ts';
import { digestOfBytes } from '#kernel/digest.ts';
import { traceparentOfRun } from '#kernel/span-identity.ts';
import type { AttemptState, RunState, StepState } from '#kernel/run-state.ts';
import type { Clock } from '#ports/clock.ts';
import type { Driver, Prepared, RunHandlers } from '#ports/driver.ts';
import type { Ids } from '#ports/ids.ts';
import type { LeaseExchange } from '#ports/issuer.ts';
import type { TeamDefinition } from '#ports/team-definition.ts';
import type { ToolHost } from '#ports/tool-host.ts';
import type { Authorised, HeldLeases } from './held-leases.ts';
import type { TeamOrigin } from './task-view.ts';
import { teamPlan, teamSnapshot } from './team-plan.ts';
import { runWorker } from './worker-run.ts';

export interface WorkerHandlersOptions {
  readonly team: TeamDefinition;
  readonly driver: Driver<RunState>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly exchange: LeaseExchange;
  readonly toolHost: ToolHost;
  /** The team as its own plans name it; its `workload` is the producer of artifacts. */
  readonly card: CapabilityCard;
  readonly leases: HeldLeases;
}

/** The handlers of team runs, to be registered under level `team`. */
export function createWorkerHandlers(options: WorkerHandlersOptions): RunHandlers<RunState> {
  return {
    prepare: (state, todo, at) => {
      const authorised = options.leases.get(state.ref.runId);
      return authorised === undefined ? undefined : prepare(options, { state, todo, at, authorised });
    },
    perform: async (job, state, signal) => {
      switch (job.todo.kind) {
        case 'plan':
        case 'dispatch':
          return performLate(options, { job, state, signal });
        case 'send':
          return performSend(options, { job, state, signal });
        case 'cancelTask':
          // The driver has aborted the worker's job with the request; a cut off worker reaches no tool and no artifact any more.
          await report(options, state, {
            command: { kind: 'settleCancel', unresolved: [], ...by(options) },
            records: [],
          });
          return;
        case 'compose':
          throw new CaseOpsError('ERR_INVARIANT', 'A team run declares no sentences, so it composes no answer.', {
            at: 'team',
          });
        case 'proposeEffect':
        case 'applyEffect':
        case 'await':
        case 'admit':
          throw new CaseOpsError(
            'ERR_DENIED',
            'Teams draft and take what their caller admits; effects and admission are the central run’s.',
            {
              at: 'team',
            },
          );
      }
    },
  };
}

interface Wanted {
  readonly state: RunState;
  readonly todo: JobTodo;
  readonly at: string;
  readonly authorised: Authorised;
}

/** Plan and dispatch follow from the dispatch and the held lease alone: nothing is awaited, and no lease is minted. */
function prepare(options: WorkerHandlersOptions, wanted: Wanted): Prepared | undefined {
  switch (wanted.todo.kind) {
    case 'plan':
      return proposal(options, wanted);
    case 'dispatch':
      return handOut(options, wanted, wanted.todo);
    case 'send':
    case 'cancelTask':
    case 'compose':
    case 'proposeEffect':
    case 'applyEffect':
    case 'await':
    case 'admit':
      return undefined;
  }
}

function proposal(options: WorkerHandlersOptions, { state, at, authorised }: Wanted): Prepared | undefined {
  const { goal, goalDigest } = state;
  const { dispatch } = authorised;
  const { team, ids, card } = options;
  const skill = skillOf(team, dispatch);
  if (goal === undefined || goalDigest === undefined || skill === undefined) return undefined;
  const snapshot = teamSnapshot(dispatch, { card, skill, policyDigest: team.policyDigest }, { ids, at });
  const plan = teamPlan({ goal, goalDigest, snapshot }, dispatch, ids);
  const proposer = { kind: 'team', name: team.name } as const;
  return { command: { kind: 'propose', plan, proposer, snapshot, at, actor: card.workload }, records: [] };
}

function handOut(
  options: WorkerHandlersOptions,
  { state, at, authorised }: Wanted,
  todo: Extract<JobTodo, { readonly kind: 'dispatch' }>,
): Prepared {
  const { ids, card } = options;
  return {
    command: {
      kind: 'dispatch',
      stepId: todo.stepId,
      attempt: todo.attempt,
      planVersion: state.accepted?.plan.version ?? 1,
      dispatchId: ids.next('dsp'),
      leaseId: authorised.lease.claims.jti as LeaseId,
      audience: card.audience,
      deadlineAt: authorised.dispatch.deadlineAt,
      at,
      actor: card.workload,
    },
    records: [],
  };
}

interface Performing {
  readonly job: Job;
  readonly state: RunState;
  readonly signal: AbortSignal;
}

/** After a restart: waits for a fresh lease, then does what could not be prepared. The run's deadline bounds the wait. */
async function performLate(options: WorkerHandlersOptions, { job, state, signal }: Performing): Promise<void> {
  const authorised = await options.leases.wait(job.ref.runId, signal);
  const prepared = prepare(options, { state, todo: job.todo, at: options.clock.now(), authorised });
  if (prepared === undefined) return;
  await report(options, state, prepared);
}

async function performSend(options: WorkerHandlersOptions, { job, state, signal }: Performing): Promise<void> {
  const { todo } = job;
  const step = 'stepId' in todo ? state.steps.get(todo.stepId) : undefined;
  const attempt = step?.attempts.at(-1);
  if (step === undefined || attempt === undefined) return;
  const authorised = await options.leases.wait(job.ref.runId, signal);
  const outcome = await runWorker(workerJob(options, { state, step, attempt, authorised, signal }));
  // Cancelled, timed out or taken over meanwhile: nothing lands after that.
  if (signal.aborted) return;
  const address = {
    stepId: step.definition.stepId,
    planVersion: state.accepted?.plan.version ?? 1,
    attempt: attempt.attempt,
    dispatchId: attempt.dispatchId,
    usage: outcome.usage,
    ...by(options),
  };
  if (outcome.ok) {
    const { artifactRef, bytes } = stored(outcome.artifact);
    const { artifact } = outcome;
    const sizeBytes = bytes.byteLength;
    if (sizeBytes > ARTIFACT_BYTES_MAX)
      return report(options, state, {
        command: { kind: 'fail', error: tooLarge(artifact, sizeBytes), ...address },
        records: [],
      });
    await report(options, state, {
      command: { kind: 'deliver', artifact, artifactRef, sizeBytes, ...address },
      records: [{ table: 'artifact', tenant: state.ref.tenant, digest: artifactRef, bytes }],
    });
  } else await report(options, state, { command: { kind: 'fail', error: outcome.error, ...address }, records: [] });
}

function workerJob(
  options: WorkerHandlersOptions,
  at: {
    readonly state: RunState;
    readonly step: StepState;
    readonly attempt: AttemptState;
    readonly authorised: Authorised;
    readonly signal: AbortSignal;
  },
): Parameters<typeof runWorker>[0] {
  const { team, card, clock, ids, exchange, toolHost } = options;
  const { state, step, attempt, authorised } = at;
  const { dispatch, lease } = authorised;
  const { taskId, contextId } = state.origin as TeamOrigin;
  const traceparent = traceparentOfRun(state.ref.runId, state.origin, attempt.dispatchId);
  const { skill, endpoint } = workerOf(team, dispatch, step);
  const { stepId, budget } = step.definition;
  return {
    dispatch: { ...dispatch, budget, deadlineAt: attempt.deadlineAt },
    taskId,
    contextId,
    // What the worker asks of others belongs to the span of its attempt.
    lease: { ...lease, held: { ...lease.held, traceparent } },
    worker: endpoint.name,
    toolHost,
    exchange,
    clock,
    ids,
    signal: at.signal,
    skill,
    endpoint,
    binding: {
      dispatchId: attempt.dispatchId,
      stepId,
      planVersion: state.accepted?.plan.version ?? 1,
      attempt: attempt.attempt,
      taskId,
      contextId,
      leaseId: attempt.leaseId,
    },
    producer: { team: team.name, workload: card.workload, worker: endpoint.name },
    proposed: { proposalCount: attempt.proposalCount, modelTokenCount: attempt.proposedTokenCount },
    note: (proposed) =>
      report(options, state, {
        command: {
          kind: 'noteProposal',
          stepId,
          planVersion: state.accepted?.plan.version ?? 1,
          attempt: attempt.attempt,
          dispatchId: attempt.dispatchId,
          proposal: proposed,
          ...by(options),
        },
        records: [],
      }),
  };
}

/** The worker of exactly the contract that the task was accepted under; throws when the team has none any more. */
function workerOf(team: TeamDefinition, dispatch: Authorised['dispatch'], step: StepState) {
  const skill = skillOf(team, dispatch);
  const endpoint = team.workers.find(
    ({ skillId, skillVersion }) => skillId === dispatch.skillId && skillVersion === dispatch.skillVersion,
  );
  const named = `skill ${dispatch.skillId} ${dispatch.skillVersion}`;
  if (endpoint === undefined || skill === undefined)
    throw new CaseOpsError('ERR_POLICY', `Team ${team.name} has no worker for ${named} any more.`, { at: 'team' });
  if (skill.artifact.digest !== step.skill.artifact.digest)
    throw new CaseOpsError('ERR_CONTRACT_MOVED', `Team ${team.name} has another artifact for ${named} than planned.`, {
      at: 'team',
    });
  return { skill, endpoint };
}

/** A team may offer several versions of a skill: a run in flight finishes under its own. */
function skillOf(team: TeamDefinition, dispatch: Authorised['dispatch']): TeamDefinition['skills'][number] | undefined {
  return team.skills.find(({ skillId, version }) => skillId === dispatch.skillId && version === dispatch.skillVersion);
}

function stored(artifact: Artifact): { readonly artifactRef: Digest; readonly bytes: Uint8Array } {
  const text = canonicalText(artifact);
  if (text === undefined)
    throw new CaseOpsError('ERR_ARTIFACT_SCHEMA', `Artifact ${artifact.artifactId} is not canonical JSON.`, {
      at: 'team',
    });
  const bytes = new TextEncoder().encode(text);
  return { artifactRef: digestOfBytes(bytes), bytes };
}

function tooLarge({ artifactId }: Artifact, sizeBytes: number): ErrorRecord {
  const message = `Artifact ${artifactId} has ${sizeBytes} bytes; the wall is ${ARTIFACT_BYTES_MAX}.`;
  return { code: 'ERR_ARTIFACT_SIZE', kind: 'limit', message, at: 'team', retryable: false };
}

/** Delivers to the run; a refusal is thrown, so that the driver tries again or gives the job up. */
async function report(options: WorkerHandlersOptions, state: RunState, { command, records }: Prepared): Promise<void> {
  const delivered = await options.driver.deliver(state.ref, command, records);
  if (delivered.ok) return;
  const { code, message, at, retryable } = delivered.error;
  throw new CaseOpsError(code, message, { at, retryable });
}

function by({ clock, card }: WorkerHandlersOptions): { readonly at: string; readonly actor: string } {
  return { at: clock.now(), actor: card.workload };
}
