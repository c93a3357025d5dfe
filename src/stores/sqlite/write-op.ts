/** The store's writes as data, so that they can be done in this thread or in another. */
import type { DatabaseSync } from 'node:sqlite';
import type { RunRef } from '#contracts/command.ts';
import type { CommitOutcome, EraseOutcome, Erasure, LockTaken, RecordWrite, RunTaken } from '#ports/store.ts';
import { createCommitWriter, type PreparedCommit } from './commit-writer.ts';
import { createArtifactDrop, createEraser } from './erase-run.ts';
import { createLedgerWriter } from './ledger-writes.ts';
import { createRecordWriter } from './record-writes.ts';
import { createRunLocks, type OwnerLife } from './run-lock.ts';

/** Each write with what it needs and what it gives. */
export interface Writes {
  readonly commit: { readonly needs: PreparedCommit; readonly gives: CommitOutcome };
  readonly records: { readonly needs: readonly RecordWrite[]; readonly gives: CommitOutcome };
  readonly takeLock: {
    readonly needs: { readonly ref: RunRef; readonly owner: string; readonly life: OwnerLife };
    readonly gives: LockTaken | undefined;
  };
  readonly takeOpenRuns: {
    readonly needs: {
      readonly level: 'central' | 'team';
      readonly owner: string;
      readonly life: OwnerLife & { readonly limit: number };
    };
    readonly gives: readonly RunTaken[];
  };
  readonly heartbeat: { readonly needs: { readonly owner: string; readonly life: OwnerLife }; readonly gives: void };
  readonly bindLeaseTask: {
    readonly needs: { readonly tenant: string; readonly leaseId: string; readonly taskId: string };
    readonly gives: boolean;
  };
  readonly erase: { readonly needs: Erasure; readonly gives: EraseOutcome };
  readonly dropArtifacts: {
    readonly needs: { readonly tenant: string; readonly digests: readonly string[] };
    readonly gives: number;
  };
}

export type WriteOp = {
  readonly [K in keyof Writes]: { readonly kind: K; readonly needs: Writes[K]['needs'] };
}[keyof Writes];

type Appliers = { readonly [K in keyof Writes]: (needs: Writes[K]['needs']) => Writes[K]['gives'] };

/**
 * Does one write inside a transaction and returns what it gives. It reads what earlier ones of the transaction wrote, writes nothing when
 * it refuses, and can be done again. Prepares the statements once.
 */
export function createApplier(db: DatabaseSync): (op: WriteOp) => unknown {
  const ledger = createLedgerWriter(db);
  const records = createRecordWriter(db, ledger);
  const locks = createRunLocks(db);
  const drop = createArtifactDrop(db);
  const bind = db.prepare(
    'update lease set task_id = ?1 where tenant = ?2 and lease_id = ?3 and (task_id is null or task_id = ?1)',
  );
  const appliers: Appliers = {
    commit: createCommitWriter(db, records, ledger),
    records: (rows) => {
      const refused = records.conflict(rows);
      if (refused !== undefined) return refused;
      records.insert(rows, null);
      return { ok: true };
    },
    takeLock: ({ ref, owner, life }) => locks.take(ref, owner, life),
    takeOpenRuns: ({ level, owner, life }) => locks.takeOpen(level, owner, life),
    heartbeat: ({ owner, life }) => locks.extend(owner, life),
    bindLeaseTask: ({ tenant, leaseId, taskId }) => bind.run(taskId, tenant, leaseId).changes === 1,
    erase: createEraser(db),
    dropArtifacts: ({ tenant, digests }) => drop(tenant, digests),
  };
  return (op) => {
    switch (op.kind) {
      case 'commit':
        return appliers.commit(op.needs);
      case 'records':
        return appliers.records(op.needs);
      case 'takeLock':
        return appliers.takeLock(op.needs);
      case 'takeOpenRuns':
        return appliers.takeOpenRuns(op.needs);
      case 'heartbeat':
        return appliers.heartbeat(op.needs);
      case 'bindLeaseTask':
        return appliers.bindLeaseTask(op.needs);
      case 'erase':
        return appliers.erase(op.needs);
      case 'dropArtifacts':
        return appliers.dropArtifacts(op.needs);
    }
  };
}
