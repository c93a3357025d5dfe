/**
 * One unit of work: commands are decided one after the other, their events are sealed and folded, and todos that a handler can turn into
 * a command at once (a dispatch with its lease) are decided in the same unit. What is left are jobs and the time to wake. Synchronous.
 * DESIGN §4.
 */
import type { Command, Job, JobTodo, RunRef } from '#contracts/command.ts';
import { CaseOpsError, type ErrorRecord, toErrorRecord } from '#contracts/error.ts';
import type { EventDraft, RunEvent } from '#contracts/event.ts';
import { sealEvent } from '#kernel/chain.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { Prepared, RunHandlers } from '#ports/driver.ts';
import type { RecordWrite } from '#ports/store.ts';
import type { RunKernel } from './run-kernel.ts';

/** Rounds of preparing in one unit at most: each round ends at least one todo, and a run has at most so many that are ready. */
const ROUND_COUNT_MAX = 10_000;

export interface UnitInput {
  readonly ref: RunRef;
  readonly state: RunState | undefined;
  /** In the order in which they came; at least one. */
  readonly commands: readonly Command[];
  readonly records: readonly RecordWrite[];
  /** Jobs that were handed out before: their todos are not prepared again. */
  readonly outstanding: ReadonlyMap<string, Job>;
  readonly handlers: (level: RunState['level']) => RunHandlers<RunState> | undefined;
}

export interface Unit {
  readonly ok: true;
  readonly state: RunState;
  readonly events: readonly RunEvent[];
  /** Of each command. What was prepared after the last one that was accepted is among its events. */
  readonly answers: readonly Answer[];
  readonly records: readonly RecordWrite[];
  /** All jobs that the run needs now, by id. */
  readonly jobs: ReadonlyMap<string, Job>;
  readonly wakeAt: string | undefined;
  /** Todos that could be neither prepared nor kept: to be tried again later. */
  readonly postponed: readonly ErrorRecord[];
}

export type Answer = { readonly ok: true; readonly events: readonly RunEvent[] } | Refusal;
type Refusal = { readonly ok: false; readonly error: ErrorRecord };

/** Not ok: every command was refused. */
export type UnitOutcome = Unit | { readonly ok: false; readonly answers: readonly Refusal[] };

/** Refused commands leave the state as it was. After an accepted one the state has moved on and must be written or dropped. */
export function workUnit(kernel: RunKernel, input: UnitInput): UnitOutcome {
  const { ref, commands } = input;
  const run = createFold(kernel, ref, input.state);
  const decided = commands.map((command): Refusal | { readonly ok: true; readonly from: number } => {
    const decision = kernel.decide(run.state, command, ref);
    if (!decision.ok) return decision;
    const from = run.events.length;
    run.apply(decision.events, command);
    // An accepted command that opens nothing, on a run that does not exist.
    return run.state === undefined ? { ok: false, error: unopened(ref, command) } : { ok: true, from };
  });
  const { state } = run;
  const refusals = decided.filter((answer) => !answer.ok);
  if (state === undefined || refusals.length === decided.length) return { ok: false, answers: refusals };
  const work = createPreparing(kernel, input, run);
  let round = 0;
  while (work.round(state)) if (++round >= ROUND_COUNT_MAX) throw endless(ref);
  const { jobs, wakeAt, postponed } = work;
  const records = work.records.length === 0 ? input.records : [...input.records, ...work.records];
  return {
    ok: true,
    state,
    events: run.events,
    answers: answersOf(decided, run.events),
    records,
    jobs,
    wakeAt,
    postponed,
  };
}

/** The events from where a command was decided to where the next one was. */
function answersOf(
  decided: readonly (Refusal | { readonly ok: true; readonly from: number })[],
  events: readonly RunEvent[],
): readonly Answer[] {
  let to = events.length;
  return decided
    .toReversed()
    .map((answer): Answer => {
      if (!answer.ok) return answer;
      const own = events.slice(answer.from, to);
      to = answer.from;
      return { ok: true, events: own };
    })
    .toReversed();
}

/** The name under which a todo is kept as a job; the same todo has the same name. */
function jobIdOf(todo: JobTodo): string {
  switch (todo.kind) {
    case 'plan':
      return `plan:${todo.round}`;
    case 'compose':
    case 'await':
    case 'admit':
      return todo.kind;
    case 'proposeEffect':
      return `proposeEffect:${todo.stepId}`;
    case 'applyEffect':
      return `applyEffect:${todo.stepId}:${todo.approvalId}:${todo.attempt}`;
    case 'dispatch':
    case 'send':
    case 'cancelTask':
      return `${todo.kind}:${todo.stepId}:${todo.attempt}`;
  }
}

interface Fold {
  readonly events: RunEvent[];
  readonly state: RunState | undefined;
  apply(drafts: readonly EventDraft[], by: { readonly at: string; readonly actor: string }): void;
}

function createFold(kernel: RunKernel, ref: RunRef, from: RunState | undefined): Fold {
  const events: RunEvent[] = [];
  let state = from;
  return {
    events,
    get state() {
      return state;
    },
    apply: (drafts, by) => {
      for (const draft of drafts) {
        const event = sealEvent({ ref, seq: state?.seq ?? 0, hash: state?.hash ?? '' }, draft, by);
        state = kernel.evolve(state, event);
        events.push(event);
      }
    },
  };
}

interface Preparing {
  jobs: Map<string, Job>;
  wakeAt: string | undefined;
  readonly records: RecordWrite[];
  readonly postponed: ErrorRecord[];
  /** Goes once over what the run needs; true when something was decided, so that the run may need other things now. */
  round(state: RunState): boolean;
}

function createPreparing(kernel: RunKernel, input: UnitInput, run: Fold): Preparing {
  const { ref, commands, outstanding, handlers } = input;
  const at = commands.at(-1)?.at ?? '';
  const kept = new Set(outstanding.keys());
  const given = new Set<string>();
  const work: Preparing = {
    jobs: new Map(),
    wakeAt: undefined,
    records: [],
    postponed: [],
    round: (state) => {
      let decided = false;
      work.jobs = new Map();
      work.wakeAt = undefined;
      for (const todo of kernel.next(state, at)) {
        if (todo.kind === 'wake') {
          work.wakeAt = todo.at;
          continue;
        }
        const jobId = jobIdOf(todo);
        if (given.has(jobId)) continue;
        const step = kept.has(jobId) ? undefined : prepare(todo, state);
        if (step === undefined) {
          kept.add(jobId);
          work.jobs.set(jobId, { ref, jobId, todo });
        } else if (step.ok) decided = true;
        else {
          given.add(jobId);
          work.postponed.push(step.error);
        }
      }
      return decided;
    },
  };
  const prepare = (todo: JobTodo, state: RunState): { ok: true } | { ok: false; error: ErrorRecord } | undefined => {
    let prepared: Prepared | undefined;
    try {
      prepared = handlers(state.level)?.prepare(state, todo, at);
    } catch (error) {
      return { ok: false, error: toErrorRecord(error, { code: 'ERR_STATE', at: 'driver' }) };
    }
    if (prepared === undefined) return undefined;
    const decision = kernel.decide(state, prepared.command, ref);
    if (!decision.ok) return decision;
    if (decision.events.length === 0) return { ok: false, error: idle(ref, todo) };
    run.apply(decision.events, prepared.command);
    work.records.push(...prepared.records);
    return { ok: true };
  };
  return work;
}

function idle({ tenant, runId }: RunRef, todo: JobTodo): ErrorRecord {
  const message = `The command prepared for ${jobIdOf(todo)} of run ${tenant}/${runId} decided nothing.`;
  return { code: 'ERR_STATE', kind: 'conflict', message, at: 'driver', retryable: true };
}

function unopened({ tenant, runId }: RunRef, command: Command): ErrorRecord {
  const message = `There is no run ${tenant}/${runId} that could take ${command.kind}.`;
  return { code: 'ERR_NOT_FOUND', kind: 'usage', message, at: 'driver', retryable: false };
}

function endless({ tenant, runId }: RunRef): CaseOpsError {
  const message = `Run ${tenant}/${runId} still had todos to prepare after ${ROUND_COUNT_MAX} rounds of one command.`;
  return new CaseOpsError('ERR_INVARIANT', message, { at: 'driver' });
}
