/** Well-formed commits for the store suite, without a kernel: sealed events of a run that somebody asks to cancel again and again. */
import assert from 'node:assert/strict';
import type { Job, RunRef } from '#contracts/command.ts';
import type { EffectRow } from '#contracts/effect-row.ts';
import type { EventDraft, RunEvent } from '#contracts/event.ts';
import type { EffectId, LeaseId } from '#contracts/ids.ts';
import type { LeaseRow } from '#contracts/lease.ts';
import { sealEvent, type ChainHead } from '#kernel/chain.ts';
import { digestOfBytes } from '#kernel/digest.ts';
import type { Commit, RecordWrite, RunHead, RunPhase, Store } from '#ports/store.ts';

export const START_MS = Date.UTC(2026, 6, 22, 14, 0, 0);
export const AT = '2026-07-22T14:00:00.000Z';
export const OWNER = 'process-a';

/** A run's reference; the tenant is `t9` unless another is named. */
export function refOf(runId: string, tenant = 't9'): RunRef {
  return { tenant, runId: `run_${runId}` };
}

const ZERO_DIGEST = digestOfBytes('');

const RECEIVED: EventDraft = {
  kind: 'run.received',
  body: {
    origin: { level: 'central', requestedBy: 'requester@t9', sessionId: 'ses_1', requestDigest: ZERO_DIGEST },
    statement: 'Why is C-102 open?',
    language: 'en',
  },
};

/** Sealed events after `head`: the first of a run receives it, the others ask to cancel it. */
function eventsAfter(head: ChainHead, count: number): readonly RunEvent[] {
  const events: RunEvent[] = [];
  let at = head;
  for (let index = 0; index < count; index++) {
    const draft: EventDraft =
      at.seq === 0 ? RECEIVED : { kind: 'cancel.requested', body: { by: 'requester@t9', reason: `round ${at.seq}` } };
    const event = sealEvent(at, draft, { at: AT, actor: 'requester@t9' });
    events.push(event);
    at = { ref: head.ref, seq: event.seq, hash: event.hash };
  }
  return events;
}

export interface SampleOptions {
  readonly after?: readonly RunEvent[];
  readonly eventCount?: number;
  readonly fence?: number;
  readonly owner?: string;
  readonly phase?: RunPhase;
  readonly level?: 'central' | 'team';
  readonly startedAt?: string;
  readonly addJobs?: readonly Job[];
  readonly doneJobIds?: readonly string[];
  readonly records?: readonly RecordWrite[];
}

/** A commit that appends to `after`, or opens the run. */
export function commitOf(ref: RunRef, options: SampleOptions = {}): Commit {
  const last = options.after?.at(-1);
  const head: ChainHead = { ref, seq: last?.seq ?? 0, hash: last?.hash ?? '' };
  const events = eventsAfter(head, options.eventCount ?? 1);
  return {
    ref,
    expectedSeq: head.seq,
    fence: options.fence ?? 1,
    owner: options.owner ?? OWNER,
    head: headOf(ref, events.at(-1) ?? last, options),
    events,
    addJobs: options.addJobs ?? [],
    doneJobIds: options.doneJobIds ?? [],
    records: options.records ?? [],
  };
}

function headOf(ref: RunRef, last: RunEvent | undefined, options: SampleOptions): RunHead {
  return {
    ref,
    level: options.level ?? 'central',
    seq: last?.seq ?? 0,
    hash: last?.hash ?? ZERO_DIGEST,
    phase: options.phase ?? 'running',
    result: options.phase === 'ended' ? 'completed' : undefined,
    needsHuman: false,
    kind: 'claim-status',
    subject: 'claim:C-102',
    requestedBy: 'requester@t9',
    startedAt: options.startedAt ?? AT,
    updatedAt: AT,
  };
}

/** Writes a commit that must be accepted; returns its events, to append to. */
export async function committed(store: Store, commit: Commit): Promise<readonly RunEvent[]> {
  assert.deepEqual(await store.commit(commit), { ok: true });
  return commit.events;
}

/** A job that sends step `s1`. */
export function jobOf(ref: RunRef, attempt = 1): Job {
  return {
    ref,
    jobId: `send:s1:${attempt}`,
    todo: { kind: 'send', stepId: 's1', attempt, dispatchId: `dsp_${attempt}` },
  };
}

/** A lease's registry row. */
export function leaseOf(ref: RunRef, leaseId: LeaseId): LeaseRow {
  return {
    leaseId,
    tenant: ref.tenant,
    runId: ref.runId,
    stepId: 's1',
    attempt: 1,
    subject: 'requester@t9',
    actor: 'supervisor',
    audience: 'https://claims.example',
    actions: ['claims:read'],
    resources: ['claim:C-102'],
    purpose: 'claim-status',
    depth: 0,
    use: 'single',
    issuedAt: 1_784_728_800,
    expiresAt: 1_784_728_920,
  };
}

/** One use of a lease. */
export function useOf(leaseId: string, request: string, useCountMax = 1): RecordWrite {
  return {
    table: 'consumption',
    tenant: 't9',
    issuer: 'https://issuer.example',
    leaseId,
    useCountMax,
    requestDigest: digestOfBytes(request),
    expiresAt: 1_784_728_920,
  };
}

/** An idempotency key bound to a request. */
export function keyOf(ref: RunRef, key: string, request: string): RecordWrite {
  const { tenant } = ref;
  return { table: 'idempotency', tenant, scope: 'ask', key, requestDigest: digestOfBytes(request), runId: ref.runId };
}

/** An artifact of some text, under its digest. */
export function artifactOf(ref: RunRef, text: string): Extract<RecordWrite, { table: 'artifact' }> {
  return { table: 'artifact', tenant: ref.tenant, digest: digestOfBytes(text), bytes: new TextEncoder().encode(text) };
}

/** A row of the effect ledger that says: about to be applied. */
export function effectOf(ref: RunRef, effectId: EffectId, idempotencyKey: string): EffectRow {
  return {
    effectId,
    tenant: ref.tenant,
    runId: ref.runId,
    stepId: 's5',
    action: 'notify:send',
    target: 'outbox',
    resource: 'claim:C-102',
    idempotencyKey,
    actionDigest: digestOfBytes(`action ${idempotencyKey}`),
    contentDigest: digestOfBytes(`content ${idempotencyKey}`),
    expectedVersion: 'v17',
    approvalId: 'apv_1',
    leaseId: 'lse_effect',
    attempt: 1,
    state: 'in_progress',
    receipt: null,
    artifactRef: null,
    history: [{ at: AT, state: 'in_progress', attempt: 1, note: 'intended' }],
    updatedAt: AT,
  };
}
