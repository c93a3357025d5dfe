/** Records with unique keys: what their keys are called, and how a taken one is told. */
import type { Digest, RunId } from '#contracts/ids.ts';
import type { CommitOutcome, RecordWrite } from '#ports/store.ts';

export type RecordConflict = Extract<CommitOutcome, { readonly conflict: 'record' }>;

/** Who holds a record's key, as far as its table says. */
export interface Holder {
  readonly request_digest?: Digest | null;
  readonly run_id?: RunId | null;
  /** Of a quota. */
  readonly left?: number;
}

/** Under what a record is kept, as messages say it: its table first. */
export function recordKey(record: RecordWrite): string {
  switch (record.table) {
    case 'lease':
      return `lease ${record.row.tenant} ${record.row.leaseId}`;
    case 'consumption':
      return `consumption ${record.tenant} ${record.issuer} ${record.leaseId}`;
    case 'idempotency':
      return `idempotency ${record.tenant} ${record.scope} ${record.key}`;
    case 'artifact':
      return `artifact ${record.tenant} ${record.digest}`;
    case 'quota':
      return `quota ${record.tenant} ${record.scope} ${record.day} ${record.key}`;
    case 'effect':
      return `effect ${record.row.tenant} ${record.row.idempotencyKey}`;
  }
}

/** The refusal of a record whose key is taken. */
export function conflictOf(record: RecordWrite, holder: Holder): RecordConflict {
  return {
    ok: false,
    conflict: 'record',
    table: record.table,
    key: recordKey(record).slice(record.table.length + 1),
    requestDigest: holder.request_digest ?? undefined,
    runId: holder.run_id ?? undefined,
    ...(holder.left === undefined ? {} : { left: holder.left }),
  };
}

export type QuotaWrite = Extract<RecordWrite, { readonly table: 'quota' }>;

/** What stands in the way of a hold where the day holds `total` and its key `own` of that; undefined when nothing does. */
export function quotaHolder(
  { amount, amountMax }: QuotaWrite,
  { total, own }: { readonly total: number; readonly own: number },
): Holder | undefined {
  if (amount <= own || total - own + amount <= amountMax) return undefined;
  return { left: Math.max(0, amountMax - (total - own)) };
}
