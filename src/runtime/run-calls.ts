/** What a program may ask of runs in a person's name: the desk, with the person looked up for each call. */
import type { RunEvent } from '#contracts/event.ts';
import type { RootGrant } from '#contracts/lease.ts';
import type { RunView, WhyView } from '#contracts/run-view.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { RunDesk } from '#ports/run-desk.ts';
import type { People } from './people.ts';

/** In whose name. */
export interface Asker {
  /** A development identity; `requester@t9` when neither this nor a token is given. */
  readonly as?: string;
  /** A bearer token, where people come from an issuer of their own. */
  readonly token?: string;
}

/** A goal in words, for a person. */
export interface Goal extends Asker {
  readonly text: string;
  /** ISO 639-1; detected when left out. */
  readonly language?: string;
  /** The session of an earlier run (`RunView.sessionId`), for a question that follows from it. */
  readonly sessionId?: string;
  /** The same key and text return the same run. */
  readonly idempotencyKey?: string;
}

export interface RunCalls {
  /** Records a goal and returns at once. */
  submit(goal: Goal): Promise<RunView>;
  /** Runs a goal to its end or to its question. */
  ask(goal: Goal, signal?: AbortSignal): Promise<RunView>;
  /** A run as it stands. ERR_NOT_FOUND, also for another tenant's. */
  run(runId: string, asker?: Asker): Promise<RunView>;
  /** Resolves when the run has ended or is blocked. */
  settled(runId: string, asker?: Asker, signal?: AbortSignal): Promise<RunView>;
  /** Events after `afterSeq` (0: all), then live ones; ends with the run, when the signal aborts and when the runtime is disposed. */
  events(runId: string, options?: EventOptions): AsyncIterable<RunEvent>;
  /** Answers a blocked run's question. ERR_STATE when it waits for nothing. */
  answer(runId: string, input: Readonly<Record<string, string>>, asker?: Asker): Promise<RunView>;
  /** ERR_STATE when it has ended. The view says `cancelling` until the run has stopped. */
  cancel(runId: string, options?: Asker & { readonly reason?: string }): Promise<RunView>;
  /** The chain behind one claim (by id or key), or behind each. */
  why(runId: string, options?: Asker & { readonly claim?: string }): Promise<readonly WhyView[]>;
}

export interface EventOptions extends Asker {
  readonly afterSeq?: number;
  readonly signal?: AbortSignal;
}

const REQUESTER = 'requester@t9';

/** `closed` aborts what waits when the runtime is disposed. */
export function createRunCalls(desk: RunDesk, people: People, closed: AbortSignal): RunCalls {
  const grantOf = (asker: Asker = {}): Promise<RootGrant> => grantFor(people, asker);
  const until = (signal: AbortSignal | undefined): AbortSignal =>
    signal === undefined ? closed : AbortSignal.any([closed, signal]);
  const submit: RunCalls['submit'] = async (goal) => {
    const { text, language, sessionId, idempotencyKey } = goal;
    const { view } = await desk.submit(await grantOf(goal), { text, language, sessionId, idempotencyKey });
    return view;
  };
  return {
    submit,
    ask: async (goal, signal) => desk.settled(await grantOf(goal), (await submit(goal)).runId, until(signal)),
    run: async (runId, asker) => desk.view(await grantOf(asker), runId),
    settled: async (runId, asker, signal) => desk.settled(await grantOf(asker), runId, until(signal)),
    async *events(runId, options = {}) {
      const from = { runId, afterSeq: options.afterSeq ?? 0 };
      yield* desk.follow(await grantOf(options), from, until(options.signal));
    },
    answer: async (runId, input, asker) => desk.answer(await grantOf(asker), runId, input),
    cancel: async (runId, options = {}) =>
      desk.cancel(await grantOf(options), runId, options.reason ?? 'cancelled by the requester'),
    why: async (runId, options = {}) => desk.why(await grantOf(options), runId, options.claim),
  };
}

async function grantFor(people: People, { as, token }: Asker): Promise<RootGrant> {
  if (token === undefined) return people.grantFor(as ?? REQUESTER);
  const grant = await people.verify(token);
  if (grant !== undefined) return grant;
  throw new CaseOpsError('ERR_UNAUTHENTICATED', 'Expected a valid bearer token.', { at: 'runtime' });
}
