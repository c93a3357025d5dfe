/** What is left to see of a run that was erased whole: that it was, when, by which rule or request. Decision 0022. */
import type { RunRef } from '#contracts/command.ts';
import type { Tombstone } from '#contracts/erasure.ts';
import { RUN_VIEW_VERSION, type RunView } from '#contracts/run-view.ts';
import { spanIdOf, traceIdOfRun } from '#kernel/span-identity.ts';
import type { RunHead, Store } from '#ports/store.ts';

/** The head and the tombstone of a run that was erased whole; undefined for every other. */
async function erasedRun(
  store: Store,
  ref: RunRef,
): Promise<{ readonly head: RunHead; readonly tombstone: Tombstone } | undefined> {
  const head = await store.head(ref);
  if (head === undefined || head.phase !== 'ended' || head.level !== 'central') return undefined;
  const [last] = await store.events(ref, head.seq - 1, 1);
  if (last?.kind !== 'run.erased' || last.body.scope !== 'run') return undefined;
  return { head, tombstone: { ...last.body, at: last.at } };
}

/** Undefined when the run was not erased whole. */
export async function viewErased(store: Store, ref: RunRef): Promise<RunView | undefined> {
  const found = await erasedRun(store, ref);
  if (found === undefined) return undefined;
  const { head, tombstone } = found;
  const { tombstoneId, scope, cause, by, at } = tombstone;
  const { runId } = ref;
  return {
    contractVersion: RUN_VIEW_VERSION,
    runId,
    tenant: ref.tenant,
    sessionId: null,
    requestedBy: head.requestedBy,
    trace: { traceId: traceIdOfRun(runId, undefined), spanId: spanIdOf(runId) },
    state: 'ended',
    result: head.result ?? null,
    needsHuman: head.needsHuman,
    reason: null,
    statement: { text: '[erased]', language: 'en' },
    goal: null,
    plan: null,
    findings: [],
    steps: [],
    blocked: null,
    erased: { tombstoneId, scope, cause, by, at },
    migrations: [],
    revisions: [],
    arrivals: [],
    arrivalCount: 0,
    claims: [],
    unsaid: [],
    missingSteps: [],
    effects: [...(await store.effects(ref.tenant, runId))],
    used: { toolCallCount: 0, modelTokenCount: 0 },
    receivedAt: head.startedAt,
    endedAt: head.updatedAt,
    durationMs: null,
    lastSeq: head.seq,
    chainHead: head.hash,
  };
}
