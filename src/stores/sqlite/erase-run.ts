/** An erasure inside a transaction: checked by reading first, then the tombstone is appended and everything it names taken out. */
import type { DatabaseSync } from 'node:sqlite';
import type { Erasure, EraseOutcome, RunPhase } from '#ports/store.ts';
import { losesBody, withoutBody } from '../erased-event.ts';
import { batchText } from '../event-batch.ts';
import { unreadable } from '../rows.ts';

interface StoredRun {
  readonly seq: number;
  readonly hash: string;
  readonly phase: RunPhase;
}

/** Returns how an erasure went; a refused one has written nothing, and one that was written before is not written again. */
export function createEraser(db: DatabaseSync): (erasure: Erasure) => EraseOutcome {
  const find = db.prepare('select seq, hash, phase from run where tenant = ? and run_id = ?');
  const move = db.prepare(
    'update run set seq = ?, hash = ?, subject = ?, updated_at = ? where tenant = ? and run_id = ?',
  );
  const append = db.prepare(
    'insert into event_batch (tenant, run_id, seq, first_seq, prev, json) values (?, ?, ?, ?, ?, ?)',
  );
  const eraseBodies = prepareBodies(db);
  const replaceRows = prepareRows(db);
  return (erasure) => {
    const { tombstone, head, artifacts } = erasure;
    const { tenant, runId } = tombstone;
    const stored = find.get(tenant, runId) as StoredRun | undefined;
    if (stored === undefined) return { ok: false, conflict: 'missing' };
    if (stored.seq === tombstone.seq && stored.hash === tombstone.hash) return { ok: true };
    if (stored.phase !== 'ended') return { ok: false, conflict: 'phase', phase: stored.phase };
    if (stored.seq !== tombstone.seq - 1 || stored.hash !== tombstone.prev)
      return { ok: false, conflict: 'sequence', actualSeq: stored.seq };
    // What is overwritten is overwritten with zeros: no free page keeps it.
    db.exec('pragma secure_delete = on');
    eraseBodies(erasure);
    append.run(tenant, runId, tombstone.seq, tombstone.seq, tombstone.prev, batchText([tombstone]));
    move.run(tombstone.seq, tombstone.hash, head.subject, head.updatedAt, tenant, runId);
    replaceRows(erasure, artifacts);
    db.exec('pragma secure_delete = off');
    return { ok: true };
  };
}

/** Drops rows of the artifact table; returns how many there were. */
export function createArtifactDrop(db: DatabaseSync): (tenant: string, digests: readonly string[]) => number {
  const drop = db.prepare('delete from artifact where tenant = ? and digest = ?');
  return (tenant, digests) => digests.reduce((count, digest) => count + Number(drop.run(tenant, digest).changes), 0);
}

function prepareBodies(db: DatabaseSync): (erasure: Erasure) => void {
  const batches = db.prepare(
    'select seq, first_seq, json from event_batch where tenant = ? and run_id = ? and first_seq <= ? order by seq',
  );
  const rewrite = db.prepare('update event_batch set json = ? where tenant = ? and run_id = ? and seq = ?');
  return ({ tombstone }) => {
    const { tenant, runId, body } = tombstone;
    const rows = batches.all(tenant, runId, body.uptoSeq) as { seq: number; first_seq: number; json: string }[];
    for (const { seq, first_seq: first, json } of rows) {
      const kept = eventsOf(json, `events ${tenant}/${runId}#${first}-${seq}`).map((event, index) =>
        losesBody({ kind: String(event['kind']), seq: first + index }, body.uptoSeq) && 'body' in event
          ? withoutBody(event, body.tombstoneId)
          : event,
      );
      rewrite.run(JSON.stringify(kept), tenant, runId, seq);
    }
  };
}

function eventsOf(json: string, what: string): readonly Record<string, unknown>[] {
  const list: unknown = JSON.parse(json);
  if (!Array.isArray(list)) throw unreadable(what, 'are no list', undefined);
  return list as Record<string, unknown>[];
}

function prepareRows(db: DatabaseSync): (erasure: Erasure, artifacts: readonly string[]) => void {
  const approval = db.prepare('update approval set json = ? where tenant = ? and approval_id = ?');
  const effect = db.prepare('update effect set json = ? where tenant = ? and effect_id = ?');
  const lease = db.prepare('update lease set json = ? where tenant = ? and lease_id = ?');
  const drop = createArtifactDrop(db);
  return ({ tombstone, approvals, effects, leases }, artifacts) => {
    const { tenant } = tombstone;
    for (const row of approvals) approval.run(JSON.stringify(row), tenant, row.approvalId);
    for (const row of effects) effect.run(JSON.stringify(row), tenant, row.effectId);
    for (const row of leases) lease.run(JSON.stringify(row), tenant, row.leaseId);
    drop(tenant, artifacts);
  };
}
