/** The authenticated caller of one request, as the SDK hands it through as its "user". */
import type { Authenticated } from '#ports/guard.ts';
import type { TaskCaller, TaskView } from '#ports/team-door.ts';
import type { Operation } from './operation.ts';

/** Satisfies the SDK's User; carries what was authorised, so that the handler acts on nothing else. */
export class AuthorizedCaller {
  readonly isAuthenticated = true;
  readonly userName: string;
  readonly who: TaskCaller;
  readonly operation: Operation;
  /** The task as it was when the operation was admitted; undefined for lists. */
  readonly task: TaskView | undefined;
  /** Aborts when the connection closes, the server stops or the lease expires. */
  readonly signal: AbortSignal;
  /** Sequence of the event that is being written; becomes the id of its SSE frame. */
  eventSeq: number | undefined;

  constructor(admitted: {
    readonly who: TaskCaller;
    readonly operation: Operation;
    readonly task: TaskView | undefined;
    readonly signal: AbortSignal;
  }) {
    this.userName = admitted.who.workload;
    this.who = admitted.who;
    this.operation = admitted.operation;
    this.task = admitted.task;
    this.signal = admitted.signal;
  }
}

/** Whose tasks a lease opens. */
export function taskCallerOf(authenticated: Authenticated): TaskCaller {
  return {
    workload: authenticated.workload,
    tenant: authenticated.lease.tenant,
    subject: authenticated.lease.sub,
  };
}
