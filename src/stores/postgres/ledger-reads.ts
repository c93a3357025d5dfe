/** Reads of the effect ledger and of the approvals. */
import type { ApprovalRow } from '#contracts/approval.ts';
import type { EffectRow } from '#contracts/effect-row.ts';
import type { Store } from '#ports/store.ts';
import { page } from '../page.ts';
import { approvalOf, effectOf } from '../rows.ts';
import type { Line, Statement } from './line.ts';

const OF_RUN: Statement = {
  name: 'effects_of_run',
  text: 'select effect_id, json from caseops.effect where tenant = $1 and run_id = $2 order by effect_id',
};
const BY_ID: Statement = {
  name: 'effect',
  text: 'select effect_id, json from caseops.effect where tenant = $1 and effect_id = $2',
};
const BY_KEY: Statement = {
  name: 'effect_by_key',
  text: 'select effect_id, json from caseops.effect where tenant = $1 and idempotency_key = $2',
};
const LIST: Statement = {
  name: 'effect_list',
  text: `select effect_id, json from caseops.effect
    where tenant = $1 and ($2::text is null or run_id = $2) and ($3::text is null or state = $3)
    order by updated_at desc, effect_id desc limit $4`,
};
const APPROVAL: Statement = {
  name: 'approval',
  text: 'select approval_id, json from caseops.approval where tenant = $1 and approval_id = $2',
};
const APPROVALS: Statement = {
  name: 'approval_list',
  text: `select approval_id, json from caseops.approval
    where tenant = $1 and ($2::text is null or run_id = $2) and ($3::text is null or state = $3)
    order by requested_at desc, approval_id desc limit $4`,
};

type LedgerReads = Pick<Store, 'effects' | 'effect' | 'effectByKey' | 'effectList' | 'approval' | 'approvalList'>;

export function createLedgerReads(line: Line): LedgerReads {
  const effects = async (
    tenant: string,
    statement: Statement,
    ...more: readonly unknown[]
  ): Promise<readonly EffectRow[]> => {
    const rows = await line.run<{ readonly effect_id: string; readonly json: string }>([tenant], statement, () => [
      tenant,
      ...more,
    ]);
    return rows.map((row) => effectOf(row.json, row.effect_id));
  };
  const approvals = async (
    tenant: string,
    statement: Statement,
    ...more: readonly unknown[]
  ): Promise<readonly ApprovalRow[]> => {
    const rows = await line.run<{ readonly approval_id: string; readonly json: string }>([tenant], statement, () => [
      tenant,
      ...more,
    ]);
    return rows.map((row) => approvalOf(row.json, row.approval_id));
  };
  return {
    effects: (tenant, runId) => effects(tenant, OF_RUN, runId),
    effect: async (tenant, effectId) => (await effects(tenant, BY_ID, effectId))[0],
    effectByKey: async (tenant, key) => (await effects(tenant, BY_KEY, key))[0],
    effectList: ({ tenant, runId, state, limit }) => effects(tenant, LIST, runId ?? null, state ?? null, page(limit)),
    approval: async (tenant, approvalId) => (await approvals(tenant, APPROVAL, approvalId))[0],
    approvalList: ({ tenant, runId, state, limit }) =>
      approvals(tenant, APPROVALS, runId ?? null, state ?? null, page(limit)),
  };
}
