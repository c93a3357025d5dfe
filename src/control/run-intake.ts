/** How a run begins: a text is read, and the run opened with a goal or with a question; and how the question is answered. DESIGN §3.1. */
import type { RunRef } from '#contracts/command.ts';
import { CaseOpsError } from '#contracts/error.ts';
import { sessionId as sessionIdSchema, type Digest, type RunId, type SessionId } from '#contracts/ids.ts';
import type { RootGrant } from '#contracts/lease.ts';
import { digestOf } from '#kernel/digest.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { SubmitRequest } from '#ports/run-desk.ts';
import type { RecordWrite, Store } from '#ports/store.ts';
import type { AdmissionQueue } from './admission-queue.ts';
import type { GoalRate } from './goal-rate.ts';
import { readFollowing, sessionRuns } from './earlier-runs.ts';
import { errorOf } from './refusal.ts';
import type { RunDeskOptions } from './run-desk.ts';

type Desk = Pick<RunDeskOptions, 'driver' | 'store' | 'intake' | 'clock' | 'ids' | 'admission'> & {
  readonly rate: GoalRate;
  /** Submissions under an idempotency key that are being opened now. */
  readonly opening: Map<string, Promise<unknown>>;
};

/** A run that a request opened, now or before. */
export interface Submitted {
  readonly runId: RunId;
  readonly replayed: boolean;
}

const KEY_LENGTH_MAX = 256;
const PAGE_COUNT = 500;
/** No model is asked here; adapters that ask one have their own limits. */
const INTAKE_TOKEN_COUNT_MAX = 0;
const INTAKE_TIMEOUT_MS = 10_000;

/**
 * Opens a run, or finds the one that this idempotency key opened for the same request; of the same at the same time, one opens it and the
 * others wait for that. Throws ERR_IDEMPOTENCY_KEY_REUSED for another request under it, ERR_RATE_LIMITED, ERR_QUEUE_FULL, and what the
 * intake refuses.
 */
export async function submitRun(desk: Desk, grant: RootGrant, request: SubmitRequest): Promise<Submitted> {
  const { text, language, idempotencyKey } = request;
  const requestDigest = digestOf({ text, language: language ?? null, sessionId: request.sessionId ?? null });
  if (idempotencyKey === undefined)
    return { runId: await openRun(desk, grant, { request, requestDigest }), replayed: false };
  if (idempotencyKey === '' || idempotencyKey.length > KEY_LENGTH_MAX)
    throw usage(`An idempotency key has 1 to ${KEY_LENGTH_MAX} characters; this one has ${idempotencyKey.length}.`);
  const name = JSON.stringify([scopeOf(grant), idempotencyKey]);
  // One after the other under a key: a refused first one leaves the key to the next.
  for (let before = desk.opening.get(name); before !== undefined; before = desk.opening.get(name))
    await before.catch(() => undefined);
  const opening = openOnce(desk, grant, { request: { ...request, idempotencyKey }, requestDigest });
  desk.opening.set(name, opening);
  return opening.finally(() => desk.opening.delete(name));
}

interface Asked {
  readonly request: SubmitRequest;
  readonly requestDigest: Digest;
}

async function openOnce(
  desk: Desk,
  grant: RootGrant,
  asked: Asked & { readonly request: { readonly idempotencyKey: string } },
): Promise<Submitted> {
  const { idempotencyKey } = asked.request;
  const { requestDigest } = asked;
  const scope = scopeOf(grant);
  const known = await desk.store.idempotency(grant.tenant, scope, idempotencyKey);
  if (known !== undefined) return { runId: sameRequest(known, { requestDigest, idempotencyKey }), replayed: true };
  try {
    return { runId: await openRun(desk, grant, asked), replayed: false };
  } catch (error) {
    // Another process opened the run meanwhile.
    const first = await desk.store.idempotency(grant.tenant, scope, idempotencyKey);
    if (first === undefined) throw error;
    return { runId: sameRequest(first, { requestDigest, idempotencyKey }), replayed: true };
  }
}

/** Takes a place, reads the text, records the run. What refuses in between leaves no place taken. */
async function openRun(desk: Desk, grant: RootGrant, { request, requestDigest }: Asked): Promise<RunId> {
  const { text, idempotencyKey } = request;
  const { admission, rate } = desk;
  const ref: RunRef = { tenant: grant.tenant, runId: desk.ids.next('run') };
  rate.take(grant.tenant);
  const { queue } = placeFor(desk, ref);
  try {
    const sessionId = sessionOf(desk, request.sessionId);
    const by = { grant, sessionId };
    const readWith = (given: Readonly<Record<string, string>>): ReturnType<typeof read> =>
      read(desk, { text, language: request.language, given }, by);
    const earlier = request.sessionId === undefined ? [] : await sessionRuns(desk.store, by);
    const { language, ...intake } = await readFollowing(earlier, readWith);
    const records: RecordWrite[] =
      idempotencyKey === undefined
        ? []
        : [
            {
              table: 'idempotency',
              tenant: grant.tenant,
              scope: scopeOf(grant),
              key: idempotencyKey,
              requestDigest,
              runId: ref.runId,
            },
          ];
    const origin = {
      level: 'central',
      requestedBy: grant.sub,
      sessionId,
      requestDigest,
      ...(earlier.length === 0 ? {} : { earlierRunIds: earlier.map(({ runId }) => runId) }),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...(request.traceparent === undefined ? {} : { traceparent: request.traceparent }),
    } as const;
    const base = { at: desk.clock.now(), actor: grant.sub, ...(queue === undefined ? {} : { queue }) };
    const command = { kind: 'receive', ...base, origin, statement: text, language, intake } as const;
    const opened = await desk.driver.deliver(ref, command, records);
    if (!opened.ok) throw errorOf(opened.error);
    return ref.runId;
  } catch (error) {
    admission.leave(ref);
    throw error;
  }
}

/** A goal that finds no place has cost its tenant nothing. */
function placeFor({ admission, rate }: Desk, ref: RunRef): ReturnType<AdmissionQueue['enter']> {
  try {
    return admission.enter(ref);
  } catch (error) {
    rate.giveBack(ref.tenant);
    throw error;
  }
}

function scopeOf({ tenant, sub }: RootGrant): string {
  return `run:${tenant}:${sub}`;
}

/**
 * Answers what the run stands still for: about its goal, whose text is read again with every answer given so far, or of one of its steps.
 * Throws ERR_STATE when the run asks nothing, ERR_DENIED when another person than the requester answers.
 */
export async function answerRun(
  desk: Desk,
  grant: RootGrant,
  by: { readonly state: RunState; readonly input: Readonly<Record<string, string>> },
): Promise<void> {
  const { state, input } = by;
  const { origin, ref } = state;
  const asks = state.blocked?.code === 'GOAL_UNCLEAR' || state.blocked?.code === 'STEP_BLOCKED';
  if (!asks || origin.level !== 'central')
    throw new CaseOpsError('ERR_STATE', `Run ${ref.runId} is ${state.phase} and asks nothing.`, { at: 'control' });
  if (origin.requestedBy !== grant.sub)
    throw new CaseOpsError('ERR_DENIED', `The question of run ${ref.runId} is answered by who asked for the run.`, {
      at: 'control',
    });
  if (state.blocked?.code === 'STEP_BLOCKED') return answerStep(desk, grant, by);
  const given = { ...(await answersSoFar(desk.store, ref)), ...input };
  const asked = { text: state.statement, language: state.language, given };
  const { queue } = desk.admission.enter(ref);
  try {
    const { language: _language, ...intake } = await read(desk, asked, { grant, sessionId: origin.sessionId });
    const base = { at: desk.clock.now(), actor: grant.sub, ...(queue === undefined ? {} : { queue }) };
    const done = await desk.driver.deliver(ref, { kind: 'clarify', ...base, input, intake });
    if (!done.ok) throw errorOf(done.error);
  } catch (error) {
    desk.admission.leave(ref);
    throw error;
  }
}

/** What a step's worker asked is no part of the goal: the step is tried again with it. */
async function answerStep(
  desk: Pick<Desk, 'driver' | 'clock'>,
  grant: RootGrant,
  by: { readonly state: RunState; readonly input: Readonly<Record<string, string>> },
): Promise<void> {
  const command = { kind: 'answerStep', at: desk.clock.now(), actor: grant.sub, input: by.input } as const;
  const done = await desk.driver.deliver(by.state.ref, command);
  if (!done.ok) throw errorOf(done.error);
}

function read(
  desk: Desk,
  asked: {
    readonly text: string;
    readonly language: string | undefined;
    readonly given: Readonly<Record<string, string>>;
  },
  by: { readonly grant: RootGrant; readonly sessionId: SessionId },
): ReturnType<RunDeskOptions['intake']['read']> {
  const { grant, sessionId } = by;
  const limit = new AbortController();
  const disarm = desk.clock.at(desk.clock.nowMs() + INTAKE_TIMEOUT_MS, () => limit.abort());
  const identity = { tenant: grant.tenant, subject: grant.sub, sessionId };
  return desk.intake
    .read(
      { ...asked, identity, at: desk.clock.now() },
      { signal: limit.signal, modelTokenCountMax: INTAKE_TOKEN_COUNT_MAX },
    )
    .finally(disarm);
}

async function answersSoFar(store: Store, ref: RunRef): Promise<Record<string, string>> {
  const events = await store.events(ref, 0, PAGE_COUNT);
  const answers = events.flatMap((event) => (event.kind === 'run.unblocked' ? Object.entries(event.body.input) : []));
  return Object.fromEntries(answers);
}

function sameRequest(
  known: { readonly requestDigest: string; readonly runId: RunId },
  asked: { readonly requestDigest: string; readonly idempotencyKey: string },
): RunId {
  if (known.requestDigest === asked.requestDigest) return known.runId;
  throw new CaseOpsError(
    'ERR_IDEMPOTENCY_KEY_REUSED',
    `The idempotency key ${asked.idempotencyKey} was used for another request.`,
    { at: 'control' },
  );
}

function sessionOf(desk: Desk, given: string | undefined): SessionId {
  if (given === undefined) return desk.ids.next('ses');
  const parsed = sessionIdSchema.safeParse(given);
  if (!parsed.success) throw usage('A session id begins with ses_; the given one is none.');
  return parsed.data;
}

function usage(message: string): CaseOpsError {
  return new CaseOpsError('ERR_USAGE', message, { at: 'control' });
}
