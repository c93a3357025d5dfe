/** Records with unique keys: what their keys are called, and how a taken one is told. */
import type { Digest, RunId } from '#contracts/ids.ts';
import type { CommitOutcome, RecordWrite } from '#ports/store.ts';

export type RecordConflict = Extract<CommitOutcome, { readonly conflict: 'record' }>;

/** Who holds a record's key, as far as its table says. */
export interface Holder {
  readonly request_digest?: Digest | null;
  readonly run_id?: RunId | null;
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
  };
}
