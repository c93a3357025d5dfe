/** How a run begins: a text is read, and the run opened with a goal or with a question; and how the question is answered. DESIGN §3.1. */
import type { RunRef } from '#contracts/command.ts';
import { CaseOpsError } from '#contracts/error.ts';
import { sessionId as sessionIdSchema, type RunId, type SessionId } from '#contracts/ids.ts';
import type { RootGrant } from '#contracts/lease.ts';
import { digestOf } from '#kernel/digest.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { SubmitRequest } from '#ports/run-desk.ts';
import type { RecordWrite, Store } from '#ports/store.ts';
import { errorOf } from './refusal.ts';
import type { RunDeskOptions } from './run-desk.ts';

type Desk = Pick<RunDeskOptions, 'driver' | 'store' | 'intake' | 'clock' | 'ids'>;

const KEY_LENGTH_MAX = 256;
const PAGE_COUNT = 500;
/** No model is asked here; adapters that ask one have their own limits. */
const INTAKE_TOKEN_COUNT_MAX = 0;
const INTAKE_TIMEOUT_MS = 10_000;

/**
 * Opens a run, or finds the one that this idempotency key opened for the same request. Throws ERR_IDEMPOTENCY_KEY_REUSED for another
 * request under it, and what the intake refuses.
 */
export async function submitRun(desk: Desk, grant: RootGrant, request: SubmitRequest): Promise<RunId> {
  const { text, language, idempotencyKey } = request;
  const requestDigest = digestOf({ text, language: language ?? null, sessionId: request.sessionId ?? null });
  const scope = `run:${grant.tenant}:${grant.sub}`;
  if (idempotencyKey !== undefined) {
    if (idempotencyKey === '' || idempotencyKey.length > KEY_LENGTH_MAX)
      throw usage(`An idempotency key has 1 to ${KEY_LENGTH_MAX} characters; this one has ${idempotencyKey.length}.`);
    const known = await desk.store.idempotency(scope, idempotencyKey);
    if (known !== undefined) return sameRequest(known, { requestDigest, idempotencyKey });
  }
  const sessionId = sessionOf(desk, request.sessionId);
  const { language: found, ...intake } = await read(desk, { text, language, given: {} }, { grant, sessionId });
  const ref: RunRef = { tenant: grant.tenant, runId: desk.ids.next('run') };
  const records: RecordWrite[] =
    idempotencyKey === undefined
      ? []
      : [{ table: 'idempotency', scope, key: idempotencyKey, requestDigest, runId: ref.runId }];
  const opened = await desk.driver.deliver(
    ref,
    {
      kind: 'receive',
      at: desk.clock.now(),
      actor: grant.sub,
      origin: {
        level: 'central',
        requestedBy: grant.sub,
        sessionId,
        requestDigest,
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      },
      statement: text,
      language: found,
      intake,
    },
    records,
  );
  if (opened.ok) return ref.runId;
  // Two of the same at the same time: the other one opened the run.
  const first = idempotencyKey === undefined ? undefined : await desk.store.idempotency(scope, idempotencyKey);
  if (first === undefined || idempotencyKey === undefined) throw errorOf(opened.error);
  return sameRequest(first, { requestDigest, idempotencyKey });
}

/**
 * Reads the text again with every answer given so far. Throws ERR_STATE when the run asks nothing about its goal, ERR_DENIED when another
 * person than the requester answers.
 */
export async function answerRun(
  desk: Desk,
  grant: RootGrant,
  by: { readonly state: RunState; readonly input: Readonly<Record<string, string>> },
): Promise<void> {
  const { state, input } = by;
  const { origin, ref } = state;
  if (state.blocked?.code !== 'GOAL_UNCLEAR' || origin.level !== 'central')
    throw new CaseOpsError('ERR_STATE', `Run ${ref.runId} is ${state.phase} and asks nothing about its goal.`, {
      at: 'control',
    });
  if (origin.requestedBy !== grant.sub)
    throw new CaseOpsError('ERR_DENIED', `The question of run ${ref.runId} is answered by who asked for the run.`, {
      at: 'control',
    });
  const given = { ...(await answersSoFar(desk.store, ref)), ...input };
  const asked = { text: state.statement, language: state.language, given };
  const { language: _language, ...intake } = await read(desk, asked, { grant, sessionId: origin.sessionId });
  const command = { kind: 'clarify', at: desk.clock.now(), actor: grant.sub, input, intake } as const;
  const done = await desk.driver.deliver(ref, command);
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
