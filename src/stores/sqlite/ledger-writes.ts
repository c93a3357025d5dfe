/**
 * The effect ledger and the approvals, folded from a commit's events in its transaction. Looked up first: a commit whose effect has no
 * place is refused and has written nothing. INV-12. Source: DESIGN §3.10.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { EffectRow } from '#contracts/effect-row.ts';
import type { RunEvent } from '#contracts/event.ts';
import type { Digest, RunId } from '#contracts/ids.ts';
import { approvalOfEvent, foldApprovalRow } from '#kernel/approval-inbox.ts';
import { effectOfEvent, foldEffectRow } from '#kernel/effect-ledger.ts';
import { resourceLock } from '../effect-lock.ts';
import type { RecordConflict } from '../record-conflict.ts';
import { approvalOf, effectOf } from '../rows.ts';

export interface LedgerWriter {
  /** The first event whose effect has no place; undefined when all have one. */
  conflict(events: readonly RunEvent[]): RecordConflict | undefined;
  /** Writes the rows that the events change. */
  fold(events: readonly RunEvent[]): void;
  /** Writes a row that no event opens. */
  insert(row: EffectRow): void;
}

interface Holder {
  readonly effect_id: string;
  readonly run_id: RunId;
  readonly json: string;
}

export function createLedgerWriter(db: DatabaseSync): LedgerWriter {
  const effects = prepareEffects(db);
  const foldApproval = prepareApprovals(db);
  return {
    insert: effects.save,
    conflict: (events) => {
      for (const event of events) {
        const found = effects.conflict(event);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    fold: (events) => {
      for (const event of events) {
        effects.fold(event);
        foldApproval(event);
      }
    },
  };
}

function prepareEffects(db: DatabaseSync) {
  const byKey = db.prepare('select effect_id, run_id, json from effect where tenant = ? and idempotency_key = ?');
  const byLock = db.prepare(
    'select effect_id, run_id, json from effect where tenant = ? and lock = ? and effect_id <> ?',
  );
  const byId = db.prepare('select effect_id, run_id, json from effect where tenant = ? and effect_id = ?');
  const save = db.prepare(
    `insert into effect (tenant, effect_id, run_id, idempotency_key, state, lock, updated_at, json)
     values (?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (tenant, effect_id) do update
     set state = excluded.state, lock = excluded.lock, updated_at = excluded.updated_at, json = excluded.json`,
  );
  const rowOf = (tenant: string, effectId: string): EffectRow | undefined => {
    const stored = byId.get(tenant, effectId) as Holder | undefined;
    return stored === undefined ? undefined : effectOf(stored.json, stored.effect_id);
  };
  const folded = (event: RunEvent): EffectRow | undefined => {
    const effectId = effectOfEvent(event);
    return effectId === undefined ? undefined : foldEffectRow(rowOf(event.tenant, effectId), event);
  };
  const saveRow = (row: EffectRow): void => {
    const { tenant, effectId, runId, idempotencyKey, state, updatedAt } = row;
    save.run(tenant, effectId, runId, idempotencyKey, state, resourceLock(row), updatedAt, JSON.stringify(row));
  };
  return {
    save: saveRow,
    fold: (event: RunEvent): void => {
      const row = folded(event);
      if (row !== undefined) saveRow(row);
    },
    conflict: (event: RunEvent): RecordConflict | undefined => {
      if (event.kind !== 'effect.intended' && event.kind !== 'effect.retried') return undefined;
      const row = folded(event);
      if (row === undefined) return undefined;
      const first = byKey.get(row.tenant, row.idempotencyKey) as Holder | undefined;
      const taken = first !== undefined && (event.kind === 'effect.intended' || first.effect_id !== row.effectId);
      if (taken) return conflictOf(first, `key ${row.idempotencyKey}`);
      const holder = byLock.get(row.tenant, resourceLock(row), row.effectId) as Holder | undefined;
      return holder === undefined ? undefined : conflictOf(holder, `resource ${row.target} ${row.resource}`);
    },
  };
}

function conflictOf(holder: Holder, key: string): RecordConflict {
  const requestDigest: Digest = effectOf(holder.json, holder.effect_id).contentDigest;
  return { ok: false, conflict: 'record', table: 'effect', key, requestDigest, runId: holder.run_id };
}

function prepareApprovals(db: DatabaseSync): (event: RunEvent) => void {
  const byId = db.prepare('select json from approval where tenant = ? and approval_id = ?');
  const save = db.prepare(
    `insert into approval (tenant, approval_id, run_id, state, requested_at, json) values (?, ?, ?, ?, ?, ?)
     on conflict (tenant, approval_id) do update set state = excluded.state, json = excluded.json`,
  );
  return (event) => {
    const approvalId = approvalOfEvent(event);
    if (approvalId === undefined) return;
    const stored = byId.get(event.tenant, approvalId) as { readonly json: string } | undefined;
    const row = foldApprovalRow(stored === undefined ? undefined : approvalOf(stored.json, approvalId), event);
    if (row === undefined) return;
    save.run(row.tenant, row.approvalId, row.runId, row.state, row.requestedAt, JSON.stringify(row));
  };
}
