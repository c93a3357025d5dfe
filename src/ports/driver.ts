/**
 * The driver port: delivers a command to a run at least once, wakes it, arms its timer. The driver loads the run, lets the kernel
 * decide, appends, and hands what must happen outside to the handlers. Control registers handlers for central runs, execution for
 * team runs. `State` is the kernel's run state. Source: DESIGN §4, ENGINE.
 */
import type { Command, Job, JobTodo, RunRef, Todo } from '#contracts/command.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import type { RunEvent } from '#contracts/event.ts';
import type { RecordWrite } from './store.ts';

/** A command for the same transaction, with the records that it justifies (such as the lease row). */
export interface Prepared {
  readonly command: Command;
  readonly records: readonly RecordWrite[];
}

export interface RunHandlers<State> {
  /**
   * Called synchronously inside the unit of work. Turns a todo into a command of the same transaction (a `dispatch` with its freshly
   * minted lease), or returns undefined to keep it as a job. Must not wait.
   */
  prepare(state: State, todo: JobTodo, at: string): Prepared | undefined;
  /** Performs a job after commit and reports back by `deliver`. Called again after a crash: must be idempotent by job id. */
  perform(job: Job, state: State, signal: AbortSignal): Promise<void>;
}

export type Delivered<State> =
  | { readonly ok: true; readonly events: readonly RunEvent[]; readonly state: State }
  /** Refused by the kernel: nothing was written. */
  | { readonly ok: false; readonly error: ErrorRecord; readonly state: State | undefined };

export interface Driver<State> extends AsyncDisposable {
  register(level: 'central' | 'team', handlers: RunHandlers<State>): void;
  /** Decides and appends one command; `records` are written in the same transaction. Commands of one run are serialised. */
  deliver(ref: RunRef, command: Command, records?: readonly RecordWrite[]): Promise<Delivered<State>>;
  /** The current state, loaded from the log when it is not in memory. */
  state(ref: RunRef): Promise<State | undefined>;
  /** Resolves when the run has ended or is blocked; rejects with the signal's reason. */
  settled(ref: RunRef, signal?: AbortSignal): Promise<State>;
  /** Takes over open runs whose lock is free and performs their jobs again; returns how many. */
  resume(level: 'central' | 'team'): Promise<number>;
  /** Stops taking new work, lets running jobs see their abort signal, and waits for them. */
  drain(): Promise<void>;
}

export type { Todo };
