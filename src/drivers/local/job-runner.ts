/**
 * Jobs after the commit: performed side by side up to a bound, aborted when the run no longer needs them, tried again with backoff,
 * and given up with a report. A job is told apart by its run and id: it is never performed twice at the same time by one process.
 */
import type { Job, RunRef } from '#contracts/command.ts';
import { CaseOpsError, type ErrorRecord, toErrorRecord } from '#contracts/error.ts';
import type { Clock } from '#ports/clock.ts';
import { createSlots, type Slots } from './slots.ts';

/** Tries of one job by one process. */
const TRY_COUNT_MAX = 4;
const BACKOFF_MS = 100;
const BACKOFF_MS_MAX = 5_000;

/** One for all: nearly every job ends so, reported by itself, and a trace for each would cost more than the job. */
const OBSOLETE = new CaseOpsError('ERR_CANCELLED', 'The run no longer needs this job.', { at: 'driver' });

const NO_SLOT: Slots = { take: () => Promise.resolve(), give: () => undefined };

export interface JobRunnerOptions {
  readonly clock: Clock;
  readonly concurrencyMax: number;
  /** The job as the run needs it now; undefined when it does not any more. */
  readonly needed: (ref: RunRef, jobId: string) => Job | undefined;
  /** Performs it once. */
  readonly perform: (job: Job, signal: AbortSignal) => Promise<void>;
  /** Tells the run that a job cannot be done. */
  readonly giveUp: (job: Job, error: ErrorRecord) => Promise<void>;
  /** For whoever watches this process. */
  readonly onError: (error: ErrorRecord, job: Job) => void;
}

export interface JobRunner {
  /** Starts the jobs of a run that do not run yet and aborts those that are not listed. */
  reconcile(ref: RunRef, jobs: ReadonlyMap<string, Job>): void;
  /** Aborts all and starts none any more; resolves when the last has ended. */
  drain(reason: CaseOpsError): Promise<void>;
}

interface Running {
  readonly ref: RunRef;
  readonly jobId: string;
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

export function createJobRunner(options: JobRunnerOptions): JobRunner {
  /** By run, then by job. */
  const running = new Map<string, Map<string, Running>>();
  const performing = createPerforming(options);
  let closing: CaseOpsError | undefined;

  const start = (job: Job): void => {
    const key = keyOf(job.ref);
    const ofRun = running.get(key) ?? new Map<string, Running>();
    running.set(key, ofRun);
    const controller = new AbortController();
    const { ref, jobId } = job;
    const toTheEnd = async (): Promise<void> => {
      await performing(job, controller.signal);
      ofRun.delete(jobId);
      if (ofRun.size === 0) running.delete(key);
      // Aborted as not needed, and needed again meanwhile.
      const again = controller.signal.aborted ? options.needed(ref, jobId) : undefined;
      if (again !== undefined && closing === undefined) start(again);
    };
    ofRun.set(jobId, { ref, jobId, controller, ended: toTheEnd() });
  };

  return {
    reconcile: (ref, jobs) => {
      const ofRun = running.get(keyOf(ref));
      for (const one of ofRun?.values() ?? []) if (!jobs.has(one.jobId)) one.controller.abort(OBSOLETE);
      if (closing === undefined) for (const job of jobs.values()) if (ofRun?.has(job.jobId) !== true) start(job);
    },
    drain: async (reason) => {
      closing = reason;
      const all = [...running.values()].flatMap((ofRun) => [...ofRun.values()]);
      for (const one of all) one.controller.abort(reason);
      await Promise.all(all.map((one) => one.ended));
    },
  };
}

/** Performs a job until it is reported, no longer needed, or given up. Never rejects. */
function createPerforming(options: JobRunnerOptions): (job: Job, signal: AbortSignal) => Promise<void> {
  const { clock, needed, onError } = options;
  const slots = createSlots(options.concurrencyMax);

  const tryOnce = async (job: Job, signal: AbortSignal): Promise<ErrorRecord | undefined> => {
    // A run that waits for its turn does no work: it holds up nobody else's.
    const slot = job.todo.kind === 'admit' ? NO_SLOT : slots;
    await slot.take();
    try {
      if (signal.aborted) return undefined;
      await options.perform(job, signal);
      // Whatever was reported by then has been decided: a job that is still needed was left without a report.
      return needed(job.ref, job.jobId) === undefined ? undefined : unreported(job);
    } catch (error) {
      return toErrorRecord(error, { code: job.todo.kind === 'send' ? 'ERR_TEAM_FAILED' : 'ERR_STATE', at: 'driver' });
    } finally {
      slot.give();
    }
  };

  /** False when it was aborted while waiting. */
  const backOff = (tryCount: number, signal: AbortSignal): Promise<boolean> =>
    clock.sleep(Math.min(BACKOFF_MS * 2 ** (tryCount - 1), BACKOFF_MS_MAX), signal).then(
      () => true,
      () => false,
    );

  return async (first, signal) => {
    for (let tryCount = 1; ; tryCount++) {
      const job = needed(first.ref, first.jobId);
      if (job === undefined || signal.aborted) return;
      const error = await tryOnce(job, signal);
      if (error === undefined || signal.aborted || needed(job.ref, job.jobId) === undefined) return;
      onError(error, job);
      if (!error.retryable || tryCount >= TRY_COUNT_MAX) {
        // The report itself may fail while the store does: it is tried until it is written or the process ends.
        const told = await options.giveUp(job, error).then(
          () => true,
          () => false,
        );
        if (told) return;
      }
      if (!(await backOff(tryCount, signal))) return;
    }
  };
}

const keyOf = ({ tenant, runId }: RunRef): string => `${tenant}/${runId}`;

function unreported(job: Job): ErrorRecord {
  const message = `Job ${job.jobId} of run ${keyOf(job.ref)} ended without a report that the run accepted.`;
  return { code: 'ERR_TEAM_FAILED', kind: 'unavailable', message, at: 'driver', retryable: true };
}
