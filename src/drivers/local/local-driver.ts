/**
 * The driver inside this process: a mailbox per run, the store as the only memory that counts, jobs after the commit, timers by the
 * clock. Another process takes a run over when this one has stopped giving signs of life. Source: DESIGN §4, ENGINE.
 */
import type { Command, Job, RunRef } from '#contracts/command.ts';
import { CaseOpsError, type ErrorRecord, toErrorRecord } from '#contracts/error.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { Clock } from '#ports/clock.ts';
import type { Driver, RunHandlers } from '#ports/driver.ts';
import type { Ids } from '#ports/ids.ts';
import type { Store } from '#ports/store.ts';
import { closingError } from './conflict-error.ts';
import { giveUpCommand } from './give-up.ts';
import { createHeartbeat } from './heartbeat.ts';
import { createJobRunner, type JobRunner } from './job-runner.ts';
import { createMailboxes } from './mailbox.ts';
import { hashNatively } from './native-sha256.ts';
import { type RunKernel, shippedKernel } from './run-kernel.ts';
import { createRunTable, type HeldRun, runKey } from './run-table.ts';
import { createRunWriter, type RunWriter } from './run-writer.ts';
import { createTakeOver } from './take-over.ts';
import { createSecondLook, type SecondLook } from './second-look.ts';
import type { Unit } from './unit-of-work.ts';
import { createWaiters } from './waiters.ts';

export interface LocalDriverOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The workload that acts: named in events of time and recovery, and in the run lock together with a fresh id. */
  readonly owner: string;
  /** How long after its last sign of life this process still holds its runs. */
  readonly lockTtlMs?: number;
  /** Jobs performed at the same time. */
  readonly jobConcurrencyMax?: number;
  /** Told of failures that no caller is told of: of jobs, timers, signs of life. */
  readonly onError?: (error: ErrorRecord, at: { readonly ref?: RunRef; readonly jobId?: string }) => void;
  /** Another kernel, for simulation. */
  readonly kernel?: RunKernel;
}

const LOCK_TTL_MS = 5_000;
const JOB_CONCURRENCY_MAX = 256;
/** How long draining waits for jobs that do not mind their signal. */
const DRAIN_MS_MAX = 10_000;
/** A wake that changed nothing, a tick that could not be written, and a todo that could not be prepared are tried again after this. */
const AGAIN_MS = 1_000;
/** How often a run of another process is looked at by who waits for it. */
const POLL_MS = 250;

/** Opens the driver; dispose it before its store. */
export function createLocalDriver(options: LocalDriverOptions): Driver<RunState> {
  hashNatively();
  const host = createHost(options);
  const { mailboxes, writer, waiters, handlers } = host;
  const deliver: Driver<RunState>['deliver'] = async (ref, command, records = []) => {
    if (host.closed || (host.closing && command.kind === 'receive'))
      return { ok: false, error: closingError(ref), state: undefined };
    const starting = host.heartbeat.start();
    if (starting !== undefined) await starting;
    return mailboxes.enqueueTogether(runKey(ref), { command, records }, (all) => writer.deliver(ref, all));
  };
  host.deliver = deliver;
  const state: Driver<RunState>['state'] = (ref) => mailboxes.enqueue(runKey(ref), () => writer.read(ref));
  const drain = createDrain(host, options.clock);
  return {
    deliver,
    state,
    drain,
    register: (level, ofLevel) => {
      handlers.set(level, ofLevel);
      for (const run of host.table.held.values())
        if (run.state?.level === level) host.jobs.reconcile(run.ref, run.jobs);
    },
    settled: async (ref, signal) => {
      for (;;) {
        signal?.throwIfAborted();
        using waiter = waiters.wait(runKey(ref), signal);
        const now = await state(ref);
        if (now === undefined) throw unknownRun(ref);
        if (now.phase === 'ended' || now.phase === 'blocked') return now;
        if (host.closed) throw closing();
        await (host.table.held.has(runKey(ref)) ? waiter.woken : options.clock.sleep(POLL_MS, signal));
      }
    },
    resume: async (level) => {
      await host.heartbeat.start();
      host.resumed.add(level);
      return host.takeOver(level);
    },
    [Symbol.asyncDispose]: drain,
  };
}

interface Host {
  readonly table: ReturnType<typeof createRunTable>;
  readonly mailboxes: ReturnType<typeof createMailboxes>;
  readonly waiters: ReturnType<typeof createWaiters>;
  readonly handlers: Map<RunState['level'], RunHandlers<RunState>>;
  readonly writer: RunWriter;
  readonly jobs: JobRunner;
  readonly heartbeat: ReturnType<typeof createHeartbeat>;
  readonly secondLook: SecondLook;
  /** Levels whose runs this process takes over. */
  readonly resumed: Set<RunState['level']>;
  takeOver(level: RunState['level']): Promise<number>;
  deliver: Driver<RunState>['deliver'];
  closing: boolean;
  closed: boolean;
}

/** The parts and how they call each other. */
function createHost(options: LocalDriverOptions): Host {
  const { store, clock, owner } = options;
  const onError = options.onError ?? (() => undefined);
  const ttlMs = options.lockTtlMs ?? LOCK_TTL_MS;
  const table = createRunTable();
  const mailboxes = createMailboxes();
  const handlers: Host['handlers'] = new Map();
  const process = `${owner}#${options.ids.next('call')}`;
  const report = (error: unknown, at: { readonly ref?: RunRef; readonly jobId?: string }): void =>
    onError(toErrorRecord(error, { code: 'ERR_STATE', at: 'driver' }), at);
  const jobs = createJobRunner({
    clock,
    concurrencyMax: options.jobConcurrencyMax ?? JOB_CONCURRENCY_MAX,
    needed: (ref, jobId) => table.held.get(runKey(ref))?.jobs.get(jobId),
    perform: (job, signal) => performJob(host, job, signal),
    giveUp: (job, error) => giveUpJob(host, job, { error, at: clock.now(), actor: owner }),
    onError: (error, { ref, jobId }) => onError(error, { ref, jobId }),
  });
  const writer = createRunWriter({
    store,
    clock,
    kernel: options.kernel ?? shippedKernel,
    table,
    owner: process,
    lockTtlMs: ttlMs,
    actor: owner,
    handlers: (level) => handlers.get(level),
    onWritten: (run, unit, commands) => {
      // First what is needed, then who looks at it.
      afterWrite(host, run, unit);
      jobs.reconcile(run.ref, handlers.has(unit.state.level) ? run.jobs : new Map<string, Job>());
      if (!host.closing) arm(run, unit, commands);
    },
    onLost: ({ ref }) => jobs.reconcile(ref, new Map()),
    onUncertain: (ref) => secondLook.at(ref),
  });
  const waking = { clock, actor: owner, report, deliver: deliverTo(() => host) };
  const arm = createAlarm(waking);
  const secondLook = createSecondLook(waking);
  const host: Host = {
    table,
    handlers,
    jobs,
    writer,
    mailboxes,
    waiters: createWaiters(),
    secondLook,
    ...createPulse(options, { process, ttlMs, table, mailboxes, writer, report, host: () => host }),
    deliver: () => Promise.reject(closing()),
    closing: false,
    closed: false,
  };
  return host;
}

/** What the parts deliver by, before the host is there. */
function deliverTo(host: () => Host): Driver<RunState>['deliver'] {
  return (ref, command, records) => host().deliver(ref, command, records);
}

interface PulseParts extends Pick<Host, 'table' | 'mailboxes' | 'writer'> {
  readonly process: string;
  readonly ttlMs: number;
  readonly report: (error: unknown, at: { readonly ref?: RunRef }) => void;
  readonly host: () => Host;
}

/** Signs of life, and at each of them a look at what others left behind. */
function createPulse(
  { store, clock }: LocalDriverOptions,
  { process: owner, host, ...parts }: PulseParts,
): Pick<Host, 'resumed' | 'takeOver' | 'heartbeat'> {
  const resumed: Host['resumed'] = new Set();
  const takeOver = createTakeOver({ ...parts, store, owner, closing: () => host().closing });
  const heartbeat = createHeartbeat({
    store,
    clock,
    owner,
    ttlMs: parts.ttlMs,
    onBeat: async () => {
      for (const level of resumed) await takeOver(level);
    },
    onError: (error) => parts.report(error, {}),
  });
  return { resumed, takeOver, heartbeat };
}

function afterWrite(host: Host, run: HeldRun, { state, jobs }: Unit): void {
  const { table, waiters } = host;
  run.jobs = jobs;
  if (state.phase === 'ended') table.retire(run, state);
  else if (state.phase === 'blocked' && jobs.size === 0) table.rest(run);
  else table.rouse(run);
  if (state.phase === 'ended' || state.phase === 'blocked') waiters.wake(runKey(run.ref));
}

interface AlarmOptions {
  readonly clock: Clock;
  readonly actor: string;
  readonly report: (error: unknown, at: { readonly ref: RunRef }) => void;
  readonly deliver: Driver<RunState>['deliver'];
}

/** Wakes a run when something in it is due; one timer a run. */
function createAlarm({
  clock,
  actor,
  report,
  deliver,
}: AlarmOptions): (run: HeldRun, unit: Unit, commands: readonly Command[]) => void {
  const armAt = (run: HeldRun, dueMs: number): void => {
    run.disarm?.();
    run.disarm = clock.at(dueMs, () => {
      run.disarm = undefined;
      deliver(run.ref, { kind: 'tick', at: clock.now(), actor }).catch((error: unknown) => {
        report(error, { ref: run.ref });
        armAt(run, clock.nowMs() + AGAIN_MS);
      });
    });
  };
  return (run, unit, commands) => {
    run.disarm?.();
    run.disarm = undefined;
    if (unit.state.phase === 'ended') return;
    for (const error of unit.postponed)
      report(new CaseOpsError(error.code, error.message, { at: error.at }), { ref: run.ref });
    const againMs = clock.nowMs() + AGAIN_MS;
    const wakeMs = unit.wakeAt === undefined ? Infinity : Date.parse(unit.wakeAt);
    // A tick that found nothing to do must not call itself without end.
    const idle = commands.every(({ kind }) => kind === 'tick') && unit.events.length === 0;
    const dueMs = Math.min(idle ? Math.max(wakeMs, againMs) : wakeMs, unit.postponed.length > 0 ? againMs : Infinity);
    if (Number.isFinite(dueMs)) armAt(run, dueMs);
  };
}

async function performJob(host: Host, job: Job, signal: AbortSignal): Promise<void> {
  const state = await host.mailboxes.enqueue(runKey(job.ref), () => host.writer.read(job.ref));
  const handlers = state === undefined ? undefined : host.handlers.get(state.level);
  if (state !== undefined && !signal.aborted) await handlers?.perform(job, state, signal);
}

async function giveUpJob(
  host: Host,
  job: Job,
  report: { readonly error: ErrorRecord; readonly at: string; readonly actor: string },
): Promise<void> {
  const state = await host.mailboxes.enqueue(runKey(job.ref), () => host.writer.read(job.ref));
  const command = state === undefined ? undefined : giveUpCommand(job, state, report);
  if (command !== undefined) await host.deliver(job.ref, command);
}

/** Drains once, however often it is called. */
function createDrain(host: Host, clock: Clock): () => Promise<void> {
  let drained: Promise<void> | undefined;
  const drain = async (): Promise<void> => {
    host.closing = true;
    host.secondLook.stop();
    for (const run of host.table.held.values()) run.disarm?.();
    const done = new AbortController();
    const late = clock.sleep(DRAIN_MS_MAX, done.signal).catch(() => undefined);
    await Promise.race([host.jobs.drain(closing()), late]);
    done.abort();
    await host.mailboxes.idle();
    host.closed = true;
    host.waiters.dismiss(closing());
    await host.heartbeat.stop();
  };
  return () => (drained ??= drain());
}

function closing(): CaseOpsError {
  return new CaseOpsError('ERR_CANCELLED', 'This process is shutting down; the run goes on where it is resumed.', {
    at: 'driver',
  });
}

function unknownRun({ tenant, runId }: RunRef): CaseOpsError {
  return new CaseOpsError('ERR_NOT_FOUND', `There is no run ${tenant}/${runId}.`, { at: 'driver' });
}
