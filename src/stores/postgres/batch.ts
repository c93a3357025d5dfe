/** A batch as the one statement takes it: each table's rows as columns. Source: ENGINE lesson 1. */
import type { ApprovalRow } from '#contracts/approval.ts';
import type { EffectRow } from '#contracts/effect-row.ts';
import type { Tenant } from '#contracts/ids.ts';
import type { Commit, RecordWrite } from '#ports/store.ts';
import { resourceLock } from '../effect-lock.ts';
import { batchText } from '../event-batch.ts';
import type { Statement } from './line.ts';

/** What is written together with others: a commit, or records alone. */
export interface Unit {
  readonly commit: Commit | undefined;
  readonly records: readonly RecordWrite[];
  /** Rows that the commit's events change, folded; `opening` ones must have no row yet. */
  readonly effects: readonly { readonly row: EffectRow; readonly opening: boolean }[];
  readonly approvals: readonly ApprovalRow[];
}

/** Writes a batch, or nothing of it. Repeated under the same number it fails with CO003 if the first was written. */
export const WRITE_BATCH: Statement = {
  name: 'write_batch',
  text: `select caseops.write_batch(${Array.from({ length: 33 }, (_, index) => `$${index + 1}`).join(', ')})`,
};

/** The values of WRITE_BATCH. */
export function batchValues(writer: string, number: number, units: readonly Unit[]): readonly unknown[] {
  const commits = units.flatMap(({ commit }) => (commit === undefined ? [] : [commit]));
  return [
    writer,
    number,
    [...new Set(units.flatMap(tenantsOf))].join(','),
    ...columns(commits, 16, ({ ref, expectedSeq, owner, fence, head }) => [
      ref.tenant,
      ref.runId,
      expectedSeq,
      owner,
      fence,
      head.level,
      head.seq,
      head.hash,
      head.phase,
      head.result ?? null,
      head.needsHuman,
      head.kind,
      head.subject,
      head.requestedBy,
      head.startedAt,
      head.updatedAt,
    ]),
    ...columns(
      commits.filter(({ events }) => events.length > 0),
      6,
      ({ ref, events, head, expectedSeq }) => [
        ref.tenant,
        ref.runId,
        head.seq,
        expectedSeq + 1,
        events[0]?.prev ?? '',
        batchText(events),
      ],
    ),
    ...columns(
      commits.flatMap(({ ref, doneJobIds }) => doneJobIds.map((jobId) => ({ ref, jobId }))),
      3,
      ({ ref, jobId }) => [ref.tenant, ref.runId, jobId],
    ),
    ...columns(
      commits.flatMap(({ addJobs }) => addJobs),
      4,
      ({ ref, jobId, todo }) => [ref.tenant, ref.runId, jobId, JSON.stringify(todo)],
    ),
    recordsJson(units),
  ];
}

/** Whose rows a unit writes. */
function tenantsOf({ commit, records }: Unit): readonly Tenant[] {
  return [...(commit === undefined ? [] : [commit.ref.tenant]), ...records.map(tenantOf)];
}

function tenantOf(record: RecordWrite): Tenant {
  return record.table === 'lease' || record.table === 'effect' ? record.row.tenant : record.tenant;
}

type Cell = string | number | boolean | null;

/** Rows turned into columns; all columns are there when there are no rows. */
function columns<T>(
  rows: readonly T[],
  count: number,
  cells: (row: T) => readonly Cell[],
): readonly (readonly Cell[])[] {
  const turned: Cell[][] = Array.from({ length: count }, () => []);
  for (const row of rows) for (const [index, cell] of cells(row).entries()) turned[index]?.push(cell);
  return turned;
}

type Rows = Readonly<Record<string, Cell>>[];

/** The rarer tables, by name; null when the batch has none of their rows. */
function recordsJson(units: readonly Unit[]): string | null {
  const tables: Record<string, Rows> = {};
  const add = (table: string, row: Rows[number]): void => void (tables[table] ??= []).push(row);
  const uses = new Map<string, number>();
  for (const { commit, records, effects, approvals } of units) {
    const runId = commit?.ref.runId ?? null;
    for (const record of records) {
      if (record.table === 'effect') add('effect', effectCells(record.row, true));
      else add(record.table, recordCells(record, { runId, uses }));
    }
    for (const { row, opening } of effects) add('effect', effectCells(row, opening));
    for (const row of approvals) add('approval', approvalCells(row));
  }
  return Object.keys(tables).length === 0 ? null : JSON.stringify(tables);
}

function recordCells(
  record: Exclude<RecordWrite, { readonly table: 'effect' }>,
  { runId, uses }: { readonly runId: string | null; readonly uses: Map<string, number> },
): Rows[number] {
  switch (record.table) {
    case 'lease': {
      const { row } = record;
      const { tenant, leaseId: lease_id, runId: run_id } = row;
      return { tenant, lease_id, run_id, task_id: row.taskId ?? null, json: JSON.stringify(row) };
    }
    case 'consumption': {
      const { tenant, issuer, leaseId: lease_id, useCountMax: max, requestDigest: request_digest } = record;
      const key = `${tenant} ${issuer} ${lease_id}`;
      const position = uses.get(key) ?? 0;
      uses.set(key, position + 1);
      return { tenant, issuer, lease_id, position, max, request_digest, run_id: runId, expires_at: record.expiresAt };
    }
    case 'idempotency': {
      const { tenant, scope, key, requestDigest: request_digest, runId: run_id } = record;
      return { tenant, scope, key, request_digest, run_id };
    }
    case 'quota': {
      const { tenant, scope, day, key, amount, amountMax: max } = record;
      return { tenant, scope, day, key, amount, max };
    }
    case 'artifact': {
      const { tenant, digest, bytes } = record;
      return { tenant, digest, bytes: Buffer.from(bytes).toString('base64') };
    }
  }
}

function effectCells(row: EffectRow, opening: boolean): Rows[number] {
  const { tenant, effectId: effect_id, runId: run_id, idempotencyKey: idempotency_key, state, updatedAt } = row;
  const lock = resourceLock(row);
  const json = JSON.stringify(row);
  return { tenant, effect_id, run_id, idempotency_key, state, lock, updated_at: updatedAt, json, opening };
}

function approvalCells(row: ApprovalRow): Rows[number] {
  const { tenant, approvalId: approval_id, runId: run_id, state, requestedAt: requested_at } = row;
  return { tenant, approval_id, run_id, state, requested_at, json: JSON.stringify(row) };
}
