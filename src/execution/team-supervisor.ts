/**
 * The team supervisor: takes dispatches as runs of the same kernel, with its own store, keys and policy. It re-authorises by what its
 * team's definition allows, hands the step to the skill's worker, and tells the caller about its own tasks only.
 *
 * A lease is held in memory for its run and nowhere else. After a restart an open run has none: it waits, within its deadline, until
 * its supervisor sends the same message again with a fresh lease, which is attached to the run and under which work goes on.
 * Source: DESIGN §2 "One kernel, two levels", §3.5; LEASE "Checking"; INV-05, INV-08, INV-15.
 */
import type { CapabilityCard } from '#contracts/capability-snapshot.ts';
import { CaseOpsError, ERROR_CODES, type ErrorCode, type ErrorRecord } from '#contracts/error.ts';
import type { RunId } from '#contracts/ids.ts';
import { canonicalText } from '#kernel/canonical.ts';
import { digestOf, digestOfBytes } from '#kernel/digest.ts';
import type { RunState } from '#kernel/run-state.ts';
import { parseTraceparent, traceparentOf } from '#kernel/span-identity.ts';
import type { Clock } from '#ports/clock.ts';
import type { Driver } from '#ports/driver.ts';
import type { Ids } from '#ports/ids.ts';
import type { LeaseExchange } from '#ports/issuer.ts';
import type { RecordWrite, Store } from '#ports/store.ts';
import type { TeamDefinition } from '#ports/team-definition.ts';
import type { SubmitOutcome, TaskSubmission, TeamDoor } from '#ports/team-door.ts';
import type { ToolHost } from '#ports/tool-host.ts';
import { admit } from './admission.ts';
import { createHeldLeases, stepLease, type HeldLeases } from './held-leases.ts';
import { followTask } from './task-follow.ts';
import { createTaskReader, type TaskReader } from './task-reader.ts';
import { teamGoal } from './team-plan.ts';
import { createWorkerHandlers } from './worker-handlers.ts';

export interface TeamSupervisorOptions {
  readonly team: TeamDefinition;
  readonly driver: Driver<RunState>;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The team's side of the issuer: its lease for narrower ones. */
  readonly exchange: LeaseExchange;
  readonly toolHost: ToolHost;
  /** The team's own card: named in its plans; `workload` is who acts, and the producer of artifacts. */
  readonly card: CapabilityCard;
}

/** Registers the handlers of team runs at the driver; call `driver.resume('team')` afterwards. */
export function createTeamSupervisor(options: TeamSupervisorOptions): TeamDoor {
  const { team, driver, store, clock } = options;
  const leases = createHeldLeases();
  const reader = createTaskReader(store, driver);
  const desk = { ...options, leases, reader };
  driver.register('team', createWorkerHandlers(desk));
  store.onCommit((_events, head) => {
    if (head.level === 'team' && head.phase === 'ended') leases.drop(head.ref.runId);
  });
  return {
    team,
    submit: (submission) => submit(desk, submission),
    task: async (caller, taskId) => {
      const own = await reader.own(caller, taskId);
      return own === undefined ? undefined : reader.view(own);
    },
    tasks: (caller, query) => reader.page(caller, query),
    follow: async function* (caller, taskId, afterSeq, signal) {
      const own = await reader.own(caller, taskId);
      if (own !== undefined) yield* followTask({ store, clock, reader }, own, { afterSeq, signal });
    },
    cancel: async (caller, taskId, reason) => {
      const own = await reader.own(caller, taskId);
      if (own === undefined) return 'not_found';
      const at = clock.now();
      const asked = await driver.deliver(own.ref, { kind: 'cancel', reason, at, actor: caller.workload });
      if (asked.ok) return asked.events.some(({ kind }) => kind === 'run.ended') ? 'cancelled' : 'accepted';
      if (asked.error.code === 'ERR_STATE') return 'not_cancelable';
      const { code, message, at: boundary, retryable } = asked.error;
      throw new CaseOpsError(code, message, { at: boundary, retryable });
    },
  };
}

interface Desk extends TeamSupervisorOptions {
  readonly leases: HeldLeases;
  readonly reader: TaskReader;
}

async function submit(desk: Desk, submission: TaskSubmission): Promise<SubmitOutcome> {
  const { scope, key } = idempotencyOf(desk, submission);
  const known = await desk.store.idempotency(submission.caller.tenant, scope, key);
  if (known !== undefined) return repeat(desk, submission, known);
  const admission = admit(desk.team, submission, desk.clock.nowMs());
  if (!admission.ok) return { ok: false, reason: 'refused', error: admission.error };
  const opened = await open(desk, submission, admission.skill);
  if (opened.ok) return opened;
  // Another delivery of the same message may have been first.
  const first = await desk.store.idempotency(submission.caller.tenant, scope, key);
  return first === undefined ? opened : repeat(desk, submission, first);
}

/** Opens the run: its first events, the use of the lease, the dispatch and the message's key are one transaction. */
async function open(
  desk: Desk,
  submission: TaskSubmission,
  skill: TeamDefinition['skills'][number],
): Promise<SubmitOutcome> {
  const { dispatch, caller, lease } = submission;
  const { driver, clock, ids, leases, card } = desk;
  const runId = ids.next('run');
  const ref = { tenant: caller.tenant, runId };
  const goal = teamGoal(dispatch, skill, { ids, nowMs: clock.nowMs() });
  leases.put(runId, { dispatch, lease: stepLease(lease) });
  try {
    const delivered = await driver.deliver(
      ref,
      {
        kind: 'receive',
        origin: originOf(submission, runId),
        statement: digestOf(dispatch),
        language: dispatch.language,
        intake: { kind: 'goal', goal },
        at: clock.now(),
        actor: card.workload,
      },
      firstRecords(desk, submission, runId),
    );
    if (delivered.ok) return await answer(desk, submission, runId);
    leases.drop(runId);
    const consumed = delivered.error.code === 'ERR_LEASE_CONSUMED';
    return { ok: false, reason: consumed ? 'lease_consumed' : 'refused', error: delivered.error };
  } catch (error) {
    leases.drop(runId);
    throw error;
  }
}

/** The same message again: the same task, now under this lease as well. Another payload is a conflict. */
async function repeat(
  desk: Desk,
  submission: TaskSubmission,
  known: { readonly requestDigest: string; readonly runId: RunId },
): Promise<SubmitOutcome> {
  const { store, driver, clock, leases, card } = desk;
  const { messageId, payloadDigest, consumption, caller } = submission;
  if (known.requestDigest !== payloadDigest)
    return {
      ok: false,
      reason: 'conflict',
      error: failure(
        'ERR_IDEMPOTENCY_KEY_REUSED',
        `Message ${messageId} was sent before with another payload; its run is ${known.runId}.`,
      ),
    };
  const written = await store.write([consumption]);
  if (!written.ok && !(written.conflict === 'record' && isSameUse(written.requestDigest, consumption)))
    return {
      ok: false,
      reason: 'lease_consumed',
      error: failure('ERR_LEASE_CONSUMED', `The lease of message ${messageId} was used for another request.`),
    };
  const ref = { tenant: caller.tenant, runId: known.runId };
  const state = await driver.state(ref);
  if (state !== undefined && state.phase !== 'ended') {
    const waited = leases.get(known.runId) === undefined;
    leases.put(known.runId, { dispatch: submission.dispatch, lease: stepLease(submission.lease) });
    // After a restart nobody may hold the run yet: any command makes this process take it over and do what is open.
    if (waited) await driver.deliver(ref, { kind: 'tick', at: clock.now(), actor: card.workload });
    // It may have ended since it was looked at, and then nobody drops what was put.
    if ((await driver.state(ref))?.phase === 'ended') leases.drop(known.runId);
  }
  return answer(desk, submission, known.runId);
}

async function answer(desk: Desk, { caller, messageId }: TaskSubmission, runId: RunId): Promise<SubmitOutcome> {
  const own = await desk.reader.own(caller, runId);
  if (own !== undefined) return { ok: true, task: await desk.reader.view(own) };
  return {
    ok: false,
    reason: 'refused',
    error: failure('ERR_NOT_FOUND', `There is no task of message ${messageId} for this caller.`),
  };
}

function originOf(submission: TaskSubmission, runId: RunId) {
  const { caller, dispatch, messageId, payloadDigest, lease } = submission;
  // A header of a caller: kept when it is one, and nothing depends on it.
  const trace = parseTraceparent(submission.traceparent);
  return {
    level: 'team',
    caller: caller.workload,
    subject: caller.subject,
    messageId,
    payloadDigest,
    parentRunId: dispatch.runId,
    dispatchId: dispatch.dispatchId,
    // An A2A task is a projection of a team run: it has the run's id.
    taskId: runId,
    contextId: submission.contextId ?? `ctx-${runId}`,
    leaseId: lease.lease.jti,
    ...(trace === undefined ? {} : { traceparent: traceparentOf(trace) }),
  } as const;
}

function firstRecords(desk: Desk, submission: TaskSubmission, runId: RunId): readonly RecordWrite[] {
  const { dispatch, payloadDigest, consumption, caller } = submission;
  const bytes = new TextEncoder().encode(canonicalText(dispatch) ?? '');
  return [
    {
      table: 'idempotency',
      tenant: caller.tenant,
      ...idempotencyOf(desk, submission),
      requestDigest: payloadDigest,
      runId,
    },
    consumption,
    { table: 'artifact', tenant: caller.tenant, digest: digestOfBytes(bytes), bytes },
  ];
}

/** One message id per caller, person and tenant. */
function idempotencyOf(
  { team }: Desk,
  { caller, messageId }: TaskSubmission,
): { readonly scope: string; readonly key: string } {
  const { workload, tenant, subject } = caller;
  return { scope: `task ${JSON.stringify([team.name, tenant, workload, subject])}`, key: messageId };
}

function isSameUse(requestDigest: string | undefined, consumption: RecordWrite): boolean {
  return consumption.table === 'consumption' && consumption.requestDigest === requestDigest;
}

function failure(code: ErrorCode, message: string): ErrorRecord {
  const kind = ERROR_CODES[code];
  return { code, kind, message, at: 'team', retryable: kind === 'unavailable' };
}
