/**
 * Holds runs and writes their units of work: each command is decided on the state in memory and appended with the sequence it saw and
 * the fence it holds. The state moves on before the commit, so that a commit that fails drops it. Source: DESIGN §4, ENGINE.
 */
import type { Command, RunRef } from '#contracts/command.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { Clock } from '#ports/clock.ts';
import type { Delivered, RunHandlers } from '#ports/driver.ts';
import type { CommitOutcome, LockTaken, RecordWrite, RunTaken, Store } from '#ports/store.ts';
import { conflictError, heldError } from './conflict-error.ts';
import { runHead } from './run-head.ts';
import type { RunKernel } from './run-kernel.ts';
import { foldLog, type HeldRun, runKey, type RunTable, stoodStillMs } from './run-table.ts';
import { type Unit, type UnitOutcome, workUnit } from './unit-of-work.ts';

/** What a process checks before it goes on with a run that another one began; the kernel checks time and budget at each step. */
const CHECKED = ['run-lock', 'event-chain'];

export interface RunWriterOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly kernel: RunKernel;
  readonly table: RunTable;
  /** The lock's owner: this process. */
  readonly owner: string;
  readonly lockTtlMs: number;
  /** Who acts when time does or a run is taken over. */
  readonly actor: string;
  readonly handlers: (level: RunState['level']) => RunHandlers<RunState> | undefined;
  /** After each unit of accepted commands; what it changed is durable. */
  readonly onWritten: (run: HeldRun, unit: Unit, commands: readonly Command[]) => void;
  /** Another process has the run now. */
  readonly onLost: (run: HeldRun) => void;
  /** A write ended in an error: nobody here knows whether it is durable. */
  readonly onUncertain: (ref: RunRef) => void;
}

/** Calls for one run must come one after the other. */
export interface RunWriter {
  /**
   * Decides and appends, all in one commit where none brings records; answers each. On a conflict the run is loaded again and each
   * command is decided once more.
   */
  deliver(ref: RunRef, commands: readonly Delivery[]): Promise<readonly Delivered<RunState>[]>;
  /** Takes the run over if it is free, and goes on with it; undefined when another live process holds it. */
  hold(ref: RunRef): Promise<HeldRun | undefined>;
  /** Goes on with a run whose lock was just taken; undefined when another process took it meanwhile. */
  adopt(taken: RunTaken): Promise<HeldRun | undefined>;
  /** The durable state, without taking the run. */
  read(ref: RunRef): Promise<RunState | undefined>;
}

/** A command with the records that it justifies. */
export interface Delivery {
  readonly command: Command;
  readonly records: readonly RecordWrite[];
}

type Conflict = Exclude<CommitOutcome, { readonly ok: true }>;
type Written = { readonly delivered: readonly Delivered<RunState>[] } | { readonly conflict: Conflict };

export function createRunWriter(options: RunWriterOptions): RunWriter {
  const { store, kernel, table } = options;
  const write = createWrite(options);
  const hold = createHold(options, write);

  /** A lock that was taken without an answer is ours: the run must not be forgotten. */
  const holdOrLook: RunWriter['hold'] = async (ref) => {
    try {
      return await hold(ref);
    } catch (error) {
      options.onUncertain(ref);
      throw error;
    }
  };
  const attempt = async (ref: RunRef, deliveries: readonly Delivery[]): Promise<Written> => {
    const run = await holdOrLook(ref);
    if (run === undefined)
      return { delivered: deliveries.map(() => ({ ok: false, error: heldError(ref), state: undefined })) };
    const written = await write(run, deliveries);
    if ('conflict' in written && written.conflict.conflict !== 'record') {
      table.lose(run);
      options.onLost(run);
    }
    // A run that had ended was held for this command only.
    if (run.state?.phase === 'ended') table.retire(run, run.state);
    return written;
  };

  const alone = async (ref: RunRef, delivery: Delivery): Promise<readonly Delivered<RunState>[]> => {
    let written = await attempt(ref, [delivery]);
    if ('conflict' in written && written.conflict.conflict !== 'record') written = await attempt(ref, [delivery]);
    if ('delivered' in written) return written.delivered;
    const error = conflictError(ref, written.conflict, delivery.records);
    return [{ ok: false, error, state: await reload(options, ref) }];
  };

  return {
    hold,
    adopt: ({ head, lock }) => load(options, write, { head, lock }),
    deliver: async (ref, deliveries) => {
      // Records may be refused one by one, and so are their commands.
      if (deliveries.length > 1 && deliveries.every(({ records }) => records.length === 0)) {
        const written = await attempt(ref, deliveries);
        if ('delivered' in written) return written.delivered;
      }
      const answers: Delivered<RunState>[] = [];
      for (const delivery of deliveries) answers.push(...(await alone(ref, delivery)));
      return answers;
    },
    read: async (ref) =>
      table.held.get(runKey(ref))?.state ??
      (await stillEnded(options, ref)) ??
      (await reload(options, ref)) ??
      foldLog(store, kernel, { ref, verify: false }),
  };
}

/** What is kept of an ended run is shown only while the store has it so: another process may have erased it. */
async function stillEnded({ store, table }: RunWriterOptions, ref: RunRef): Promise<RunState | undefined> {
  const state = table.ended(ref);
  if (state === undefined) return undefined;
  return (await store.head(ref))?.hash === state.hash ? state : undefined;
}

/** The state of a run that this process holds, folded again with its jobs if it was dropped. */
async function reload({ store, kernel, table }: RunWriterOptions, ref: RunRef): Promise<RunState | undefined> {
  const run = table.held.get(runKey(ref));
  if (run === undefined || run.state !== undefined) return run?.state;
  run.jobs = new Map((await store.jobs(ref)).map((job) => [job.jobId, job]));
  run.state = await foldLog(store, kernel, { ref, verify: false });
  return run.state;
}

type Write = (run: HeldRun, deliveries: readonly Delivery[]) => Promise<Written>;

function createWrite(options: RunWriterOptions): Write {
  const { store, kernel, table, handlers } = options;
  return async (run, deliveries) => {
    const { ref, state } = run;
    const expectedSeq = state?.seq ?? 0;
    const commands = deliveries.map(({ command }) => command);
    const records = deliveries.flatMap((delivery) => delivery.records);
    let unit: UnitOutcome;
    let outcome: CommitOutcome;
    try {
      unit = workUnit(kernel, { ref, state, commands, records, outstanding: run.jobs, handlers });
      if (!unit.ok) return { delivered: unit.answers.map((answer) => ({ ...answer, state })) };
      outcome = await commitUnit(store, run, { unit, expectedSeq, owner: options.owner });
    } catch (error) {
      table.evict(run);
      options.onUncertain(ref);
      throw error;
    }
    if (!outcome.ok) {
      table.evict(run);
      return { conflict: outcome };
    }
    run.state = unit.state;
    table.held.set(runKey(ref), run);
    options.onWritten(run, unit, commands);
    const after = unit.state;
    return { delivered: unit.answers.map((answer) => ({ ...answer, state: after })) };
  };
}

async function commitUnit(
  store: Store,
  run: HeldRun,
  { unit, expectedSeq, owner }: { readonly unit: Unit; readonly expectedSeq: number; readonly owner: string },
): Promise<CommitOutcome> {
  const { ref, fence, jobs } = run;
  const { events, records, state } = unit;
  const addJobs = [...unit.jobs.values()].filter((job) => !jobs.has(job.jobId));
  const doneJobIds = [...jobs.keys()].filter((jobId) => !unit.jobs.has(jobId));
  if (events.length + records.length + addJobs.length + doneJobIds.length === 0) return { ok: true };
  return store.commit({ ref, expectedSeq, fence, owner, head: runHead(state), events, addJobs, doneJobIds, records });
}

function createHold(options: RunWriterOptions, write: Write): RunWriter['hold'] {
  const { store, table, owner, lockTtlMs } = options;
  return async (ref) => {
    const known = table.held.get(runKey(ref));
    if (known !== undefined) {
      await reload(options, ref);
      return known;
    }
    const head = await store.head(ref);
    // Nobody opened it: the commit that does takes the lock.
    if (head === undefined) return { ref, fence: 1, state: undefined, jobs: new Map(), disarm: undefined };
    const lock = await store.takeLock(ref, owner, lockTtlMs);
    if (lock === undefined) return undefined;
    return load(options, write, { head, lock });
  };
}

/** Folds a run whose lock this process has, and goes on with it if it is open. */
async function load(options: RunWriterOptions, write: Write, { head, lock }: RunTaken): Promise<HeldRun | undefined> {
  const { store, kernel, table } = options;
  const { ref } = head;
  // A command for it came first, took it again and went on with it.
  const known = table.held.get(runKey(ref));
  if (known !== undefined) return known;
  const open = head.phase !== 'ended';
  const state = await foldLog(store, kernel, { ref, verify: open });
  const jobs = new Map((await store.jobs(ref)).map((job) => [job.jobId, job]));
  const run: HeldRun = { ref, fence: lock.fence, state, jobs, disarm: undefined };
  table.held.set(runKey(ref), run);
  return open ? takeOver(options, run, { lock, write }) : run;
}

/** Says in the log that the run goes on here, which starts its jobs and its timer. */
async function takeOver(
  options: RunWriterOptions,
  run: HeldRun,
  { lock, write }: { readonly lock: LockTaken; readonly write: Write },
): Promise<HeldRun | undefined> {
  const { clock, actor, table } = options;
  if (run.state === undefined || run.state.phase === 'ended') return run;
  const base = { at: clock.now(), actor };
  const pausedMs = stoodStillMs(runHead(run.state), lock.lastSeenAt, clock.nowMs());
  const recover: Command = { ...base, kind: 'recover', pausedMs, checked: CHECKED, fence: run.fence };
  const recovered = await write(run, [{ command: recover, records: [] }]);
  if ('delivered' in recovered) return run;
  table.lose(run);
  options.onLost(run);
  return undefined;
}
