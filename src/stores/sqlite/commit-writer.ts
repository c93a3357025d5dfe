/** One commit inside a transaction: checked by reading first, then written whole. */
import type { DatabaseSync } from 'node:sqlite';
import type { Job, RunRef } from '#contracts/command.ts';
import type { RunEvent } from '#contracts/event.ts';
import { approvalOfEvent } from '#kernel/approval-inbox.ts';
import { effectOfEvent } from '#kernel/effect-ledger.ts';
import type { Commit, CommitOutcome } from '#ports/store.ts';
import { refusalOf, type StoredLock } from '../commit-check.ts';
import { batchText, type StoredBatch } from '../event-batch.ts';
import type { LedgerWriter } from './ledger-writes.ts';
import type { RecordWriter } from './record-writes.ts';

/** A commit with its events as the row that they become; of the events themselves, those of effects and approvals. */
export interface PreparedCommit extends Omit<Commit, 'events'> {
  readonly batch: StoredBatch | undefined;
  readonly ledgerEvents: readonly RunEvent[];
}

/** What can be done before the transaction, in whichever thread decides. */
export function prepareCommit({ events, ...rest }: Commit): PreparedCommit {
  const [first, last] = [events[0], events.at(-1)];
  const batch =
    first === undefined || last === undefined
      ? undefined
      : { first_seq: first.seq, seq: last.seq, prev: first.prev, json: batchText(events) };
  const ledgerEvents = events.filter(
    (event) => effectOfEvent(event) !== undefined || approvalOfEvent(event) !== undefined,
  );
  return { ...rest, batch, ledgerEvents };
}

/** Returns how a commit went; a refused one has written nothing. */
export function createCommitWriter(
  db: DatabaseSync,
  records: RecordWriter,
  ledger: LedgerWriter,
): (commit: PreparedCommit) => CommitOutcome {
  const locked = db.prepare('select seq, fence, lock_owner from run where tenant = ? and run_id = ?');
  const saveHead = prepareHead(db);
  const advance = prepareAdvance(db);
  const saveEvents = prepareEvents(db);
  const saveJobs = prepareJobs(db);
  return (commit) => {
    const { ref } = commit;
    // Most commits only move their run on; any other, and one that may be refused, is looked at first.
    const advanced =
      commit.records.length === 0 && ledger.conflict(commit.ledgerEvents) === undefined ? advance(commit) : false;
    if (!advanced) {
      const stored = locked.get(ref.tenant, ref.runId) as StoredLock | undefined;
      const refused =
        refusalOf(commit, stored) ?? records.conflict(commit.records) ?? ledger.conflict(commit.ledgerEvents);
      if (refused !== undefined) return refused;
      saveHead(commit, stored === undefined);
    }
    if (commit.batch !== undefined) saveEvents(ref, commit.batch);
    saveJobs(ref, commit.addJobs, commit.doneJobIds);
    records.insert(commit.records, ref.runId);
    ledger.fold(commit.ledgerEvents);
    return { ok: true };
  };
}

/** Moves a run on whose place in lists stays: under its fence, from where its decider saw it. False for every other commit. */
function prepareAdvance(db: DatabaseSync): (commit: PreparedCommit) => boolean {
  const advance = db.prepare(
    `update run set seq = ?, hash = ?, updated_at = ?
     where tenant = ? and run_id = ? and seq = ? and fence = ? and lock_owner = ?
       and phase = ? and needs_human = ? and kind = ? and subject = ? and result is ?`,
  );
  return ({ ref, expectedSeq, fence, owner, head }) => {
    if (expectedSeq === 0) return false;
    const { seq, hash, updatedAt, phase, needsHuman, kind, subject, result = null } = head;
    const stays = [phase, needsHuman ? 1 : 0, kind, subject, result];
    const { changes } = advance.run(seq, hash, updatedAt, ref.tenant, ref.runId, expectedSeq, fence, owner, ...stays);
    return changes === 1;
  };
}

function prepareHead(db: DatabaseSync): (commit: PreparedCommit, opening: boolean) => void {
  const open = db.prepare(
    `insert into run (level, seq, hash, phase, result, needs_human, kind, subject, requested_by, started_at, updated_at,
       tenant, run_id, lock_owner, fence) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const move = db.prepare(
    `update run set seq = ?, hash = ?, phase = ?, result = ?, needs_human = ?, kind = ?, subject = ?, updated_at = ?
     where tenant = ? and run_id = ?`,
  );
  return ({ ref, head, owner, fence }, opening) => {
    const { seq, hash, phase, kind, subject, startedAt, updatedAt } = head;
    const result = head.result ?? null;
    const human = head.needsHuman ? 1 : 0;
    if (opening)
      open.run(
        head.level,
        seq,
        hash,
        phase,
        result,
        human,
        kind,
        subject,
        head.requestedBy,
        startedAt,
        updatedAt,
        ref.tenant,
        ref.runId,
        owner,
        fence,
      );
    else move.run(seq, hash, phase, result, human, kind, subject, updatedAt, ref.tenant, ref.runId);
  };
}

function prepareEvents(db: DatabaseSync): (ref: RunRef, batch: StoredBatch) => void {
  const insert = db.prepare(
    'insert into event_batch (tenant, run_id, seq, first_seq, prev, json) values (?, ?, ?, ?, ?, ?)',
  );
  return (ref, { seq, first_seq: first, prev, json }) => void insert.run(ref.tenant, ref.runId, seq, first, prev, json);
}

function prepareJobs(db: DatabaseSync): (ref: RunRef, add: readonly Job[], doneJobIds: readonly string[]) => void {
  const insert = db.prepare('insert or ignore into job (tenant, run_id, job_id, todo) values (?, ?, ?, ?)');
  const remove = db.prepare('delete from job where tenant = ? and run_id = ? and job_id = ?');
  return (ref, add, doneJobIds) => {
    for (const jobId of doneJobIds) remove.run(ref.tenant, ref.runId, jobId);
    for (const job of add) insert.run(ref.tenant, ref.runId, job.jobId, JSON.stringify(job.todo));
  };
}
