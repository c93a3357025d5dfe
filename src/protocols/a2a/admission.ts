/**
 * Lets an authorised operation in: submits a send, finds a task, asks a task to stop. Done before the SDK, so that every refusal is
 * answered in one place and a stream never fails after its headers. Source: PROTOCOLS "A2A"; A2A 1.0.1 §3.1.
 */
import {
  type A2AError,
  ExtendedAgentCardNotConfiguredError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import type { Authenticated, Guard, Refusal } from '#ports/guard.ts';
import type { TaskView, TeamDoor } from '#ports/team-door.ts';
import type { Operation, OperationOf } from './operation.ts';
import { authorizeAll, controlOperation, sendContradiction, sendOperations } from './operation-guard.ts';
import { taskCallerOf } from './task-caller.ts';
import { type Binding, wireErrorOf } from './wire-error.ts';

export type Admission =
  | { readonly outcome: 'admitted'; readonly task: TaskView | undefined }
  | { readonly outcome: 'error'; readonly error: A2AError }
  | { readonly outcome: 'refused'; readonly refusal: Refusal };

export interface Admitting {
  readonly door: TeamDoor;
  readonly guard: Guard;
  readonly binding: Binding;
  /** The request's span. */
  readonly traceparent?: string | undefined;
}

/** Authorises, then acts. A task that is missing and one that is another's look alike, and only to a lease that may ask. */
export async function admit(parts: Admitting, authenticated: Authenticated, operation: Operation): Promise<Admission> {
  switch (operation.kind) {
    case 'send':
      return admitSend(parts, authenticated, operation);
    case 'list':
    case 'get':
    case 'cancel':
    case 'subscribe':
      return admitControl(parts, authenticated, operation);
    case 'extendedCard':
      return failed(new ExtendedAgentCardNotConfiguredError());
    case 'push':
      return failed(new PushNotificationNotSupportedError());
  }
}

async function admitSend(
  parts: Admitting,
  authenticated: Authenticated,
  operation: OperationOf<'send'>,
): Promise<Admission> {
  const { door, guard, binding } = parts;
  const { message } = operation;
  const target = { dispatch: message.dispatch, tenant: operation.tenant, contextId: message.contextId };
  const contradiction = sendContradiction(target, door.team);
  if (contradiction !== undefined) return failed(new RequestMalformedError(contradiction));
  if (message.leaseReference.jti !== authenticated.lease.jti)
    return failed(new RequestMalformedError('The message names another lease than the one presented beside it.'));
  if (message.leaseReference.digest !== authenticated.signingInputDigest)
    return failed(new RequestMalformedError('The message names its lease under another digest.'));
  const checked = authorizeAll(guard, authenticated, sendOperations(target, door.team));
  if (checked.outcome !== 'permit') return { outcome: 'refused', refusal: checked };
  const outcome = await door.submit({
    caller: taskCallerOf(authenticated),
    dispatch: message.dispatch,
    messageId: message.messageId,
    payloadDigest: message.payloadDigest,
    contextId: message.contextId,
    traceparent: parts.traceparent,
    lease: authenticated,
    consumption: guard.consumption(authenticated),
  });
  if (outcome.ok) return { outcome: 'admitted', task: outcome.task };
  return failed(wireErrorOf(outcome.error, binding));
}

async function admitControl(
  parts: Admitting,
  authenticated: Authenticated,
  operation: OperationOf<'get' | 'cancel' | 'subscribe' | 'list'>,
): Promise<Admission> {
  const taskId = operation.kind === 'list' ? undefined : operation.taskId;
  const who = taskCallerOf(authenticated);
  const task = taskId === undefined ? undefined : await parts.door.task(who, taskId);
  const asked = controlOperation({ kind: operation.kind, tenant: operation.tenant, taskId, task });
  const checked = parts.guard.authorize(authenticated, asked);
  if (checked.outcome !== 'permit') return { outcome: 'refused', refusal: checked };
  if (operation.kind === 'list') return { outcome: 'admitted', task: undefined };
  if (task === undefined) return failed(new TaskNotFoundError('No such task.'));
  if (operation.kind === 'cancel') return cancel(parts, authenticated, task);
  if (operation.kind === 'subscribe') return subscribe(operation, task);
  return { outcome: 'admitted', task };
}

async function cancel(parts: Admitting, authenticated: Authenticated, task: TaskView): Promise<Admission> {
  const who = taskCallerOf(authenticated);
  const outcome = await parts.door.cancel(who, task.taskId, `asked by ${authenticated.workload}`);
  if (outcome === 'not_cancelable') return failed(new TaskNotCancelableError('The task has already ended.'));
  if (outcome === 'not_found') return failed(new TaskNotFoundError('No such task.'));
  return { outcome: 'admitted', task: (await parts.door.task(who, task.taskId)) ?? task };
}

/** With a Last-Event-ID an ended task may be read to its end; without one there is nothing left to subscribe to. */
function subscribe(operation: OperationOf<'subscribe'>, task: TaskView): Admission {
  if (operation.afterSeq === undefined) {
    if (task.phase !== 'ended') return { outcome: 'admitted', task };
    return failed(new UnsupportedOperationError('The task has ended; read it with GetTask.'));
  }
  if (operation.afterSeq <= task.lastSeq) return { outcome: 'admitted', task };
  return failed(new RequestMalformedError('Last-Event-ID is beyond the last event of this task.'));
}

function failed(error: A2AError): Admission {
  return { outcome: 'error', error };
}
