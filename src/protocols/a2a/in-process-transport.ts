/**
 * A team in this process, for a domain service that is no agent system: no server, no wire, the same guard, leases, deduplication and
 * reading of results. Source: DESIGN §2 "two adapters"; CONTRACTS "Lease details" (message transports).
 */
import type { Dispatch } from '#contracts/dispatch.ts';
import { CaseOpsError, type ErrorRecord, toErrorRecord } from '#contracts/error.ts';
import { canonicalText } from '#kernel/canonical.ts';
import { digestOf } from '#kernel/digest.ts';
import type { Authenticated, Checked, Guard, Refusal } from '#ports/guard.ts';
import type { HeldLease } from '#ports/issuer.ts';
import type { TaskView, TeamDoor } from '#ports/team-door.ts';
import type { TeamTransport, TeamUpdate } from '#ports/team-transport.ts';
import { payloadDigestOf } from './dispatch-message.ts';
import { authorizeAll, controlOperation, sendContradiction, sendOperations } from './operation-guard.ts';
import { taskCallerOf } from './task-caller.ts';
import { streamEventOf, taskOf } from './task-projection.ts';
import { createTaskReader } from './task-reader.ts';

export interface InProcessOptions {
  readonly door: TeamDoor;
  /** Built for this audience. */
  readonly guard: Guard;
  /** A name, not a place: `inprocess:context`. */
  readonly audience: string;
  readonly workload: string;
  readonly toolAudiences: Readonly<Record<string, string>>;
}

/** The methods that a proof names here; there is no HTTP method. */
const SEND_METHOD = 'SendMessage';
const CANCEL_METHOD = 'CancelTask';

export function createInProcessTransport(options: InProcessOptions): TeamTransport {
  const { team } = options.door;
  return {
    team: team.name,
    discover: () =>
      Promise.resolve({
        card: {
          team: team.name,
          cardName: team.name,
          cardVersion: team.version,
          protocolVersion: 'in-process',
          // Linked into this process: whoever started it has vouched for it.
          verifiedBy: 'in-process',
          cardDigest: digestOf({ name: team.name, version: team.version, contracts: team.skills }),
          interfaces: [{ url: options.audience, binding: 'INPROCESS' }],
          audience: options.audience,
          workload: options.workload,
          toolAudiences: { ...options.toolAudiences },
        },
        skills: team.skills,
        policyDigest: team.policyDigest,
      }),
    send: (dispatch, lease, signal) => send(options, { dispatch, lease }, signal),
    cancel: (taskId, lease, signal) => cancel(options, { taskId, lease }, signal),
  };
}

async function* send(
  options: InProcessOptions,
  sent: { readonly dispatch: Dispatch; readonly lease: HeldLease },
  signal: AbortSignal,
): AsyncGenerator<TeamUpdate, void, undefined> {
  signal.throwIfAborted();
  let opened: Opened;
  try {
    opened = await open(options, sent);
  } catch (error) {
    return yield { kind: 'failed', error: toErrorRecord(error, { code: 'ERR_TEAM_FAILED', at: 'in-process' }) };
  }
  if (!opened.ok) return yield { kind: 'failed', error: opened.error };
  const { task, authenticated } = opened;
  const reader = createTaskReader();
  yield* reader.event({ $case: 'task', value: taskOf(task) });
  const who = taskCallerOf(authenticated);
  if (!reader.ended)
    for await (const update of options.door.follow(who, task.taskId, task.lastSeq, signal)) {
      yield* reader.event(streamEventOf(task, update));
      if (reader.ended) return;
    }
  signal.throwIfAborted();
  const last = await options.door.task(who, task.taskId);
  if (!reader.ended && last !== undefined) yield* reader.snapshot(taskOf(last));
}

type Opened =
  | { readonly ok: true; readonly task: TaskView; readonly authenticated: Authenticated }
  | { readonly ok: false; readonly error: ErrorRecord };

async function open(
  options: InProcessOptions,
  sent: { readonly dispatch: Dispatch; readonly lease: HeldLease },
): Promise<Opened> {
  const { door, guard } = options;
  const { dispatch, lease } = sent;
  const target = { dispatch, tenant: undefined, contextId: undefined };
  const checked = authenticate(options, { lease, method: SEND_METHOD, message: dispatch });
  if (checked.outcome !== 'permit') return { ok: false, error: refusedError(checked) };
  const contradiction = sendContradiction(target, door.team);
  if (contradiction !== undefined) throw new CaseOpsError('ERR_SCHEMA', contradiction, { at: 'in-process' });
  const allowed = authorizeAll(guard, checked.value, sendOperations(target, door.team));
  if (allowed.outcome !== 'permit') return { ok: false, error: refusedError(allowed) };
  const outcome = await door.submit({
    caller: taskCallerOf(checked.value),
    dispatch,
    messageId: dispatch.dispatchId,
    payloadDigest: payloadDigestOf(dispatch, []),
    contextId: undefined,
    traceparent: lease.traceparent,
    lease: checked.value,
    consumption: guard.consumption(checked.value),
  });
  return outcome.ok
    ? { ok: true, task: outcome.task, authenticated: checked.value }
    : { ok: false, error: outcome.error };
}

async function cancel(
  options: InProcessOptions,
  asked: { readonly taskId: string; readonly lease: HeldLease },
  signal: AbortSignal,
): Promise<'cancelled' | 'not_cancelable' | 'unknown'> {
  signal.throwIfAborted();
  const { door, guard } = options;
  const { taskId, lease } = asked;
  const checked = authenticate(options, { lease, method: CANCEL_METHOD, message: { id: taskId } });
  if (checked.outcome !== 'permit') throw denied(checked);
  const who = taskCallerOf(checked.value);
  const task = await door.task(who, taskId);
  const allowed = guard.authorize(checked.value, controlOperation({ kind: 'cancel', tenant: undefined, taskId, task }));
  if (allowed.outcome !== 'permit') throw denied(allowed);
  const outcome = await door.cancel(who, taskId, `asked by ${checked.value.workload}`);
  if (outcome === 'cancelled' || outcome === 'not_cancelable') return outcome;
  return 'unknown';
}

/** No bytes travel here: the proof covers the RFC 8785 form of the message. */
function authenticate(
  options: InProcessOptions,
  asked: { readonly lease: HeldLease; readonly method: string; readonly message: unknown },
): Checked<Authenticated> {
  const body = new TextEncoder().encode(canonicalText(asked.message) ?? '');
  return options.guard.authenticate({
    authorization: `DPoP ${asked.lease.token}`,
    proof: asked.lease.prove(asked.method, options.audience, body),
    method: asked.method,
    target: options.audience,
    body,
  });
}

function refusedError(refusal: Refusal): ErrorRecord {
  return toErrorRecord(denied(refusal), { code: 'ERR_DENIED', at: 'in-process' });
}

function denied(refusal: Refusal): CaseOpsError {
  const { code, boundary } = refusal;
  return new CaseOpsError('ERR_DENIED', `The team refused the request at its boundary ${boundary}: ${code}.`, {
    at: 'in-process',
    detail: { code, boundary },
  });
}
