/** Reads of the effect ledger and of the approvals. */
import type { DatabaseSync } from 'node:sqlite';
import type { ApprovalRow } from '#contracts/approval.ts';
import type { EffectRow } from '#contracts/effect-row.ts';
import type { RunId } from '#contracts/ids.ts';
import type { ApprovalQuery, EffectQuery } from '#ports/store.ts';
import { page } from '../page.ts';
import { approvalOf, effectOf } from '../rows.ts';

interface StoredEffect {
  readonly effect_id: string;
  readonly json: string;
}

export function prepareLedgerReads(db: DatabaseSync) {
  const ofRun = db.prepare('select effect_id, json from effect where tenant = ? and run_id = ? order by effect_id');
  const byId = db.prepare('select effect_id, json from effect where tenant = ? and effect_id = ?');
  const byKey = db.prepare('select effect_id, json from effect where tenant = ? and idempotency_key = ?');
  const list = db.prepare(
    `select effect_id, json from effect
     where tenant = ?1 and (?2 is null or run_id = ?2) and (?3 is null or state = ?3)
     order by updated_at desc, effect_id desc limit ?4`,
  );
  const approval = db.prepare('select json from approval where tenant = ? and approval_id = ?');
  const approvals = db.prepare(
    `select approval_id, json from approval
     where tenant = ?1 and (?2 is null or run_id = ?2) and (?3 is null or state = ?3)
     order by requested_at desc, approval_id desc limit ?4`,
  );
  const one = (stored: unknown): EffectRow | undefined => {
    const row = stored as StoredEffect | undefined;
    return row === undefined ? undefined : effectOf(row.json, row.effect_id);
  };
  const many = (stored: unknown[]): readonly EffectRow[] =>
    (stored as StoredEffect[]).map((row) => effectOf(row.json, row.effect_id));
  return {
    effects: (tenant: string, runId: RunId): readonly EffectRow[] => many(ofRun.all(tenant, runId)),
    effect: (tenant: string, effectId: string): EffectRow | undefined => one(byId.get(tenant, effectId)),
    effectByKey: (tenant: string, key: string): EffectRow | undefined => one(byKey.get(tenant, key)),
    effectList: ({ tenant, runId, state, limit }: EffectQuery): readonly EffectRow[] =>
      many(list.all(tenant, runId ?? null, state ?? null, page(limit))),
    approval: (tenant: string, approvalId: string): ApprovalRow | undefined => {
      const row = approval.get(tenant, approvalId) as { readonly json: string } | undefined;
      return row === undefined ? undefined : approvalOf(row.json, approvalId);
    },
    approvalList: ({ tenant, runId, state, limit }: ApprovalQuery): readonly ApprovalRow[] =>
      (
        approvals.all(tenant, runId ?? null, state ?? null, page(limit)) as {
          readonly approval_id: string;
          readonly json: string;
        }[]
      ).map((row) => approvalOf(row.json, row.approval_id)),
  };
}
