/** What is checked of a commit whatever the database: that it is well formed, and that its run is where its decider saw it. */
import type { RunRef } from '#contracts/command.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { RunEvent } from '#contracts/event.ts';
import type { Commit, CommitOutcome, RecordWrite, RunHead } from '#ports/store.ts';
import { assertRecordSize } from './artifacts/table.ts';

/** Throws ERR_INVARIANT for a commit that no decider can have made, and ERR_ARTIFACT_SIZE for an artifact that no database takes. */
export function assertCommit(commit: Commit): void {
  const fault = commitFault(commit);
  if (fault !== undefined) throw new CaseOpsError('ERR_INVARIANT', fault, { at: 'store' });
  assertRecordSizes(commit.records);
}

/** Throws ERR_ARTIFACT_SIZE for an artifact that is too large for a database. */
export function assertRecordSizes(rows: readonly RecordWrite[]): void {
  for (const row of rows) if (row.table === 'artifact') assertRecordSize(row.bytes.byteLength);
}

/** A run as it is stored: where its log ends and who may write to it. */
export interface StoredLock {
  readonly seq: number;
  readonly fence: number;
  readonly lock_owner: string;
}

/** Why a commit is refused by its run; undefined when the run is where the decider saw it, under the same fence. */
export function refusalOf(
  commit: Pick<Commit, 'expectedSeq' | 'fence' | 'owner'>,
  stored: StoredLock | undefined,
): CommitOutcome | undefined {
  const { expectedSeq, fence, owner } = commit;
  if (stored === undefined) return expectedSeq === 0 ? undefined : { ok: false, conflict: 'sequence', actualSeq: 0 };
  // Opening a run that exists is no matter of locks.
  if (expectedSeq > 0 && (stored.fence !== fence || stored.lock_owner !== owner))
    return { ok: false, conflict: 'fence', actualFence: stored.fence };
  return stored.seq === expectedSeq ? undefined : { ok: false, conflict: 'sequence', actualSeq: stored.seq };
}

/** What is wrong with a commit before anything is asked of the database, as a sentence; undefined when it is well formed. */
function commitFault(commit: Commit): string | undefined {
  const { ref, events, head, expectedSeq } = commit;
  const of = `${ref.tenant}/${ref.runId}`;
  const strange =
    [head, ...commit.addJobs].find((part) => !isOf(part.ref, ref)) ?? commit.events.find((e) => !isOf(e, ref));
  if (strange !== undefined) return `A commit of run ${of} holds a part of another run.`;
  const foreign = commit.records.find((record) => tenantOf(record) !== ref.tenant);
  if (foreign !== undefined) return `A commit of run ${of} holds a ${foreign.table} record of another tenant.`;
  const gap = events.findIndex((event, index) => event.seq !== expectedSeq + index + 1);
  if (gap >= 0) return `A commit of run ${of} expected event ${expectedSeq + gap + 1} and holds ${events[gap]?.seq}.`;
  return headFault(head, events, expectedSeq);
}

function headFault(head: RunHead, events: readonly RunEvent[], expectedSeq: number): string | undefined {
  const last = events.at(-1);
  if (head.seq !== (last?.seq ?? expectedSeq) || (last !== undefined && head.hash !== last.hash))
    return `A commit of run ${head.ref.tenant}/${head.ref.runId} has a head at ${head.seq} that is not its last event.`;
  return undefined;
}

const isOf = (part: RunRef, ref: RunRef): boolean => part.tenant === ref.tenant && part.runId === ref.runId;

function tenantOf(record: Commit['records'][number]): string {
  return record.table === 'lease' || record.table === 'effect' ? record.row.tenant : record.tenant;
}
