/**
 * The way from control to a team over A2A: sends a dispatch once, follows its task, and when the stream breaks asks for the task until
 * the deadline. Every request has a lease of its own. Source: DESIGN §2, §3.4; PROTOCOLS "A2A"; SEAMS "Client".
 */
import { AgentCard, type Task } from '@a2a-js/sdk';
import {
  JsonRpcTransportFactory,
  type RequestOptions,
  RestTransportFactory,
  ServiceParameters,
  type Transport,
  withA2AExtensions,
  withA2AVersion,
} from '@a2a-js/sdk/client';
import { ARTIFACT_MEDIA_TYPE } from '#contracts/artifact.ts';
import type { Dispatch } from '#contracts/dispatch.ts';
import { CaseOpsError, type ErrorRecord, toErrorRecord } from '#contracts/error.ts';
import { LEASE_EXTENSION } from '#contracts/lease.ts';
import type { Clock } from '#ports/clock.ts';
import type { HeldLease } from '#ports/issuer.ts';
import type { TeamAnnouncement, TeamTransport, TeamUpdate } from '#ports/team-transport.ts';
import { readCard, type VerifiedCard } from './card-reader.ts';
import { dispatchMessage } from './dispatch-message.ts';
import { CALL_HEADER, createLeasedFetch, type LeasedFetch } from './leased-fetch.ts';
import { A2A_VERSION } from './protocol-version.ts';
import { createTaskReader, type TaskReader } from './task-reader.ts';
import { STANDING_OF_TASK_STATE } from './task-state-map.ts';
import type { Binding } from './wire-error.ts';

/** What a control lease has to be for; the dispatch says for whom, for which run and under which plan. */
export interface ControlWanted {
  readonly action: 'task:read' | 'task:subscribe';
  readonly audience: string;
  readonly taskId: string;
  readonly contextId: string;
  readonly dispatch: Dispatch;
}

export interface A2aTransportOptions {
  readonly team: string;
  readonly cardUrl: string;
  /** Verifies the signature of the card's text against the key pinned for this team. */
  readonly verifyCard: (text: string) => VerifiedCard | Promise<VerifiedCard>;
  readonly binding: Binding;
  readonly clock: Clock;
  /** A control lease per request; asked for only when a stream has broken. */
  readonly controlLease: (wanted: ControlWanted) => Promise<HeldLease>;
  readonly fetch: typeof fetch;
}

/** Sends before a task is known, at most; each is the same message. */
const SEND_TRY_COUNT_MAX = 3;
const BACKOFF_MS_FIRST = 50;
const BACKOFF_MS_MAX = 1_000;

export function createA2aTransport(options: A2aTransportOptions): TeamTransport {
  const wire: Wire = { ...options, leased: createLeasedFetch(options.fetch), announced: undefined };
  return {
    team: options.team,
    discover: async (signal) => {
      wire.announced = await readCard(options, signal);
      return wire.announced;
    },
    send: (dispatch, lease, signal) => send(wire, { dispatch, lease }, signal),
    cancel: (taskId, lease, signal) => cancel(wire, { taskId, lease }, signal),
  };
}

interface Wire extends A2aTransportOptions {
  readonly leased: LeasedFetch;
  announced: TeamAnnouncement | undefined;
}

interface Sent {
  readonly dispatch: Dispatch;
  readonly lease: HeldLease;
}

async function* send(wire: Wire, sent: Sent, signal: AbortSignal): AsyncGenerator<TeamUpdate, void, undefined> {
  const misaddressed = addressError(wire, sent.lease);
  if (misaddressed !== undefined) return yield { kind: 'failed', error: misaddressed };
  const reader = createTaskReader();
  let broken: unknown;
  for (let tried = 0; tried < SEND_TRY_COUNT_MAX && reader.taskId === undefined && !reader.ended; tried += 1) {
    if (tried > 0) await wire.clock.sleep(backoffMs(tried), signal);
    try {
      yield* stream(wire, reader, { ...sent, signal });
      broken = undefined;
    } catch (error) {
      signal.throwIfAborted();
      if (isFinal(error)) return yield { kind: 'failed', error: recordOf(error) };
      broken = error;
    }
  }
  if (reader.ended) return;
  if (reader.taskId === undefined) return yield { kind: 'failed', error: recordOf(broken) };
  yield* recover(wire, reader, { ...sent, signal });
}

interface Following extends Sent {
  readonly signal: AbortSignal;
}

/** The message itself: a stream from its answer on. */
async function* stream(
  wire: Wire,
  reader: TaskReader,
  following: Following,
): AsyncGenerator<TeamUpdate, void, undefined> {
  const { dispatch, lease, signal } = following;
  const transport = await transportOf(wire, lease.audience);
  using call = wire.leased.open(lease);
  const params = {
    tenant: '',
    message: dispatchMessage(dispatch, lease),
    configuration: {
      acceptedOutputModes: [ARTIFACT_MEDIA_TYPE],
      taskPushNotificationConfig: undefined,
      returnImmediately: false,
    },
    metadata: undefined,
  };
  for await (const event of transport.sendMessageStream(params, callOptions(call.handle, signal))) {
    yield* reader.event(event.payload);
    if (reader.ended) return;
  }
}

/** Asks for the task, then subscribes to what is still to come, until it has ended or the deadline has passed. */
async function* recover(
  wire: Wire,
  reader: TaskReader,
  following: Following,
): AsyncGenerator<TeamUpdate, void, undefined> {
  const { clock } = wire;
  const deadlineMs = Date.parse(following.dispatch.deadlineAt);
  let last: unknown;
  for (let tried = 0; !reader.ended; tried += 1) {
    if (tried > 0) {
      if (clock.nowMs() >= deadlineMs) return yield { kind: 'failed', error: deadlineError(following, last) };
      await clock.sleep(backoffMs(tried), following.signal);
    }
    try {
      yield* reader.snapshot(await readTask(wire, reader, following));
      if (!reader.ended) yield* subscribe(wire, reader, following);
      last = undefined;
    } catch (error) {
      following.signal.throwIfAborted();
      if (isFinal(error)) return yield { kind: 'failed', error: recordOf(error) };
      last = error;
    }
  }
}

async function readTask(wire: Wire, reader: TaskReader, following: Following): Promise<Task> {
  const id = reader.taskId ?? '';
  const lease = await control(wire, reader, { following, action: 'task:read' });
  const transport = await transportOf(wire, lease.audience);
  using call = wire.leased.open(lease);
  return await transport.getTask({ tenant: '', id, historyLength: 0 }, callOptions(call.handle, following.signal));
}

async function* subscribe(
  wire: Wire,
  reader: TaskReader,
  following: Following,
): AsyncGenerator<TeamUpdate, void, undefined> {
  const id = reader.taskId ?? '';
  const lease = await control(wire, reader, { following, action: 'task:subscribe' });
  const transport = await transportOf(wire, lease.audience);
  using call = wire.leased.open(lease);
  try {
    for await (const event of transport.resubscribeTask(
      { tenant: '', id },
      callOptions(call.handle, following.signal),
    )) {
      yield* reader.event(event.payload);
      if (reader.ended) return;
    }
  } catch (error) {
    // Ended between reading and subscribing: the next reading tells how.
    if (!(error instanceof CaseOpsError) || error.detail['reason'] !== 'UNSUPPORTED_OPERATION') throw error;
  }
}

async function control(
  wire: Wire,
  reader: TaskReader,
  wanted: { readonly following: Following; readonly action: ControlWanted['action'] },
): Promise<HeldLease> {
  const { dispatch, lease } = wanted.following;
  const held = await wire.controlLease({
    action: wanted.action,
    audience: lease.audience,
    taskId: reader.taskId ?? '',
    contextId: reader.contextId ?? '',
    dispatch,
  });
  return { ...held, traceparent: lease.traceparent };
}

async function cancel(
  wire: Wire,
  asked: { readonly taskId: string; readonly lease: HeldLease },
  signal: AbortSignal,
): Promise<'cancelled' | 'not_cancelable' | 'unknown'> {
  const transport = await transportOf(wire, asked.lease.audience);
  using call = wire.leased.open(asked.lease);
  const params = { tenant: '', id: asked.taskId, metadata: undefined };
  try {
    const task = await transport.cancelTask(params, callOptions(call.handle, signal));
    const standing = task.status === undefined ? 'open' : STANDING_OF_TASK_STATE[task.status.state];
    if (standing === 'cancelled') return 'cancelled';
    return standing === 'open' || standing === 'waiting' || standing === undefined ? 'unknown' : 'not_cancelable';
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof CaseOpsError)) return 'unknown';
    if (error.detail['reason'] === 'TASK_NOT_CANCELABLE') return 'not_cancelable';
    if (error.kind === 'denied') throw error;
    return 'unknown';
  }
}

/** Dispatch revalidation: a lease for another endpoint than the one announced is not sent anywhere. */
function addressError(wire: Wire, lease: HeldLease): ErrorRecord | undefined {
  const announced = wire.announced?.card.audience;
  if (announced === undefined || announced === lease.audience) return undefined;
  return {
    code: 'ERR_DENIED',
    kind: 'denied',
    message: `The lease ${lease.leaseId} is for ${lease.audience}; team ${wire.team} listens at ${announced}.`,
    at: 'a2a',
    retryable: false,
    detail: { code: 'audience', boundary: 'a2a' },
  };
}

/**
 * The endpoint is the lease's audience: a lease cannot be presented anywhere else. Made for one call: the SDK numbers the requests of
 * one transport, and a message that is sent again under the same lease has to be the same bytes, or the lease counts as used.
 */
function transportOf(wire: Wire, audience: string): Promise<Transport> {
  const factory =
    wire.binding === 'HTTP+JSON'
      ? new RestTransportFactory({ fetchImpl: wire.leased.fetch })
      : new JsonRpcTransportFactory({ fetchImpl: wire.leased.fetch });
  return factory.create(audience, AgentCard.fromJSON({}));
}

function callOptions(handle: string, signal: AbortSignal): RequestOptions {
  const serviceParameters = ServiceParameters.create(
    withA2AVersion(A2A_VERSION),
    withA2AExtensions(LEASE_EXTENSION),
    (parameters) => {
      parameters[CALL_HEADER] = handle;
    },
  );
  return { signal, serviceParameters };
}

/** A refusal or a contract error stays one when it is asked again; a lost connection does not. */
function isFinal(error: unknown): boolean {
  return error instanceof CaseOpsError && !error.retryable;
}

function recordOf(error: unknown): ErrorRecord {
  return toErrorRecord(error, { code: 'ERR_TEAM_UNREACHABLE', at: 'a2a' });
}

function deadlineError(following: Following, last: unknown): ErrorRecord {
  if (last !== undefined) return recordOf(last);
  const message = `Step ${following.dispatch.stepId} was not delivered by its deadline ${following.dispatch.deadlineAt}.`;
  return { code: 'ERR_DEADLINE', kind: 'limit', message, at: 'a2a', retryable: false };
}

function backoffMs(tried: number): number {
  return Math.min(BACKOFF_MS_MAX, BACKOFF_MS_FIRST * 2 ** Math.min(tried - 1, 10));
}
