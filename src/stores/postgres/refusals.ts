/**
 * Why a unit cannot be written, found out after a batch was refused: the fast statement says only that something is in the way. The order
 * is the port's: the run first, then records, then the ledger.
 */
import type { EffectRow } from '#contracts/effect-row.ts';
import type { RunEvent } from '#contracts/event.ts';
import type { RunId } from '#contracts/ids.ts';
import { foldEffectRow, effectOfEvent } from '#kernel/effect-ledger.ts';
import type { Commit, CommitOutcome, RecordWrite } from '#ports/store.ts';
import { refusalOf, type StoredLock } from '../commit-check.ts';
import { resourceLock } from '../effect-lock.ts';
import {
  conflictOf,
  type Holder,
  quotaHolder,
  type QuotaWrite,
  type RecordConflict,
  recordKey,
} from '../record-conflict.ts';
import { effectOf } from '../rows.ts';
import { readLedger } from './ledger-fold.ts';
import type { Line, Statement } from './line.ts';

const LOCK: Statement = {
  name: 'run_lock',
  text: 'select seq, fence, lock_owner from caseops.run where tenant = $1 and run_id = $2',
};
const FINDERS = {
  lease: { name: 'lease_holder', text: 'select run_id from caseops.lease where tenant = $1 and lease_id = $2' },
  consumption: {
    name: 'use_holders',
    text: 'select request_digest, run_id from caseops.consumption where tenant = $1 and issuer = $2 and lease_id = $3 order by use',
  },
  idempotency: {
    name: 'key_holder',
    text: 'select request_digest, run_id from caseops.idempotency where tenant = $1 and scope = $2 and key = $3',
  },
  quota: {
    name: 'quota_holders',
    text: `select key, amount::float8 as amount from caseops.quota_hold where tenant = $1 and scope = $2 and day = $3 and key = $4
      union all select '', amount::float8 from caseops.quota where tenant = $1 and scope = $2 and day = $3`,
  },
  effect: {
    name: 'effect_holder',
    text: 'select run_id from caseops.effect where tenant = $1 and (effect_id = $2 or idempotency_key = $3)',
  },
} as const satisfies Readonly<Record<string, Statement>>;
const BY_KEY: Statement = {
  name: 'effect_by_key_holder',
  text: 'select effect_id, run_id, json from caseops.effect where tenant = $1 and idempotency_key = $2',
};
const BY_LOCK: Statement = {
  name: 'effect_by_lock_holder',
  text: 'select effect_id, run_id, json from caseops.effect where tenant = $1 and lock = $2 and effect_id <> $3',
};

/** The refusal of a unit by what is stored now; undefined when nothing stored is in its way. */
export async function findRefusal(
  line: Line,
  { commit, records }: { readonly commit: Commit | undefined; readonly records: readonly RecordWrite[] },
): Promise<CommitOutcome | undefined> {
  if (commit !== undefined) {
    const { ref } = commit;
    const [stored] = await line.run<StoredLock>([ref.tenant], LOCK, () => [ref.tenant, ref.runId]);
    const refused = refusalOf(commit, stored);
    if (refused !== undefined) return refused;
  }
  return (
    (await recordRefusal(line, records)) ??
    (commit === undefined ? undefined : await ledgerRefusal(line, commit.events))
  );
}

async function recordRefusal(line: Line, records: readonly RecordWrite[]): Promise<RecordConflict | undefined> {
  const seen = new Map<string, number>();
  const holds: QuotaWrite[] = [];
  for (const record of records) {
    const key = recordKey(record);
    const inListCount = seen.get(key) ?? 0;
    seen.set(key, inListCount + 1);
    const holder =
      record.table === 'quota' && inListCount === 0
        ? await findQuota(line, record, holds)
        : await findHolder(line, record, inListCount);
    if (holder !== undefined) return conflictOf(record, holder);
    if (record.table === 'quota') holds.push(record);
  }
  return undefined;
}

async function findHolder(line: Line, record: RecordWrite, inListCount: number): Promise<Holder | undefined> {
  const twice: Holder | undefined = inListCount > 0 ? {} : undefined;
  const find = (tenant: string, statement: Statement, ...keys: readonly string[]): Promise<readonly Holder[]> =>
    line.run<Holder>([tenant], statement, () => [tenant, ...keys]);
  switch (record.table) {
    case 'lease':
      return (await find(record.row.tenant, FINDERS.lease, record.row.leaseId))[0] ?? twice;
    case 'consumption': {
      const taken = await find(record.tenant, FINDERS.consumption, record.issuer, record.leaseId);
      if (taken.length + inListCount < record.useCountMax) return undefined;
      // The use by the same request, if there is one: its sender gets the first answer again.
      return taken.find((use) => use.request_digest === record.requestDigest) ?? taken[0] ?? {};
    }
    case 'idempotency':
      return (await find(record.tenant, FINDERS.idempotency, record.scope, record.key))[0] ?? twice;
    case 'artifact':
      return undefined;
    case 'quota':
      return twice;
    case 'effect': {
      const { tenant, effectId, idempotencyKey } = record.row;
      return (await find(tenant, FINDERS.effect, effectId, idempotencyKey))[0] ?? twice;
    }
  }
}

/** As the SQLite store counts: what stands before it in its list is held already. */
async function findQuota(line: Line, record: QuotaWrite, before: readonly QuotaWrite[]): Promise<Holder | undefined> {
  const { tenant, scope, day } = record;
  const heldOf = async (key: string): Promise<{ readonly total: number; readonly own: number }> => {
    const rows = await line.run<{ readonly key: string; readonly amount: number }>([tenant], FINDERS.quota, () => [
      tenant,
      scope,
      day,
      key,
    ]);
    const of = (name: string): number => rows.find((row) => row.key === name)?.amount ?? 0;
    return { total: of(''), own: of(key) };
  };
  const { total, own } = await heldOf(record.key);
  let moved = 0;
  for (const earlier of before)
    if (earlier.scope === scope && earlier.day === day) moved += earlier.amount - (await heldOf(earlier.key)).own;
  return quotaHolder(record, { total: total + moved, own });
}

interface EffectHolder {
  readonly effect_id: string;
  readonly run_id: RunId;
  readonly json: string;
}

async function ledgerRefusal(line: Line, events: readonly RunEvent[]): Promise<RecordConflict | undefined> {
  const opening = events.filter(({ kind }) => kind === 'effect.intended' || kind === 'effect.retried');
  if (opening.length === 0) return undefined;
  const { effects } = await readLedger(line, opening);
  for (const event of opening) {
    const row = foldEffectRow(effects.get(effectOfEvent(event) ?? ''), event);
    const refused = row === undefined ? undefined : await effectRefusal(line, row, event.kind === 'effect.intended');
    if (refused !== undefined) return refused;
  }
  return undefined;
}

async function effectRefusal(line: Line, row: EffectRow, intended: boolean): Promise<RecordConflict | undefined> {
  const { tenant, effectId, idempotencyKey, target, resource } = row;
  const [first] = await line.run<EffectHolder>([tenant], BY_KEY, () => [tenant, idempotencyKey]);
  if (first !== undefined && (intended || first.effect_id !== effectId))
    return effectConflict(first, `key ${idempotencyKey}`);
  const lock = resourceLock(row);
  const [holder] = await line.run<EffectHolder>([tenant], BY_LOCK, () => [tenant, lock, effectId]);
  return holder === undefined ? undefined : effectConflict(holder, `resource ${target} ${resource}`);
}

function effectConflict({ json, effect_id, run_id }: EffectHolder, key: string): RecordConflict {
  const requestDigest = effectOf(json, effect_id).contentDigest;
  return { ok: false, conflict: 'record', table: 'effect', key, requestDigest, runId: run_id };
}
