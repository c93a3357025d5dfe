/** Rows as a database gives them, parsed once. A row that does not hold its own schema is ERR_STORE with its key. */
import { type ApprovalRow, approvalRow } from '#contracts/approval.ts';
import type { Job, RunRef } from '#contracts/command.ts';
import { type EffectRow, effectRow } from '#contracts/effect-row.ts';
import { CaseOpsError } from '#contracts/error.ts';
import { type RunEvent, runEvent } from '#contracts/event.ts';
import type { Digest, RunId } from '#contracts/ids.ts';
import { jobTodo } from '#contracts/job.ts';
import { type LeaseRow, leaseRow } from '#contracts/lease.ts';
import type { RunResult } from '#contracts/step-result.ts';
import type { RunHead, RunPhase } from '#ports/store.ts';
import { asRead } from './erased-event.ts';

/** A row of `run`. Its words are checked by the table, so they need no second schema here. */
export interface StoredRun {
  readonly tenant: string;
  readonly run_id: RunId;
  readonly level: 'central' | 'team';
  readonly seq: number;
  readonly hash: Digest;
  readonly phase: RunPhase;
  readonly result: RunResult | null;
  readonly needs_human: number;
  readonly kind: string;
  readonly subject: string;
  readonly requested_by: string;
  readonly started_at: string;
  readonly updated_at: string;
}

/** The head of a run from its row. */
export function headOf(row: StoredRun): RunHead {
  return {
    ref: { tenant: row.tenant, runId: row.run_id },
    level: row.level,
    seq: row.seq,
    hash: row.hash,
    phase: row.phase,
    result: row.result ?? undefined,
    needsHuman: row.needs_human === 1,
    kind: row.kind,
    subject: row.subject,
    requestedBy: row.requested_by,
    startedAt: row.started_at,
    updatedAt: row.updated_at,
  };
}

/** A sealed event from its stored text, or from what was read of it. The chain is verified by who audits, not at each load. */
export function eventOf(stored: unknown, ref: RunRef, seq: number): RunEvent {
  const what = `event ${ref.tenant}/${ref.runId}#${seq}`;
  return held(runEvent, asRead(typeof stored === 'string' ? jsonOf(stored, what) : stored), what);
}

/** A job from its stored todo. */
export function jobOf(json: string, ref: RunRef, jobId: string): Job {
  const todo = parsed(jobTodo, json, `job ${ref.tenant}/${ref.runId}/${jobId}`);
  return { ref, jobId, todo };
}

/** A lease row; the task binding is a column of its own, since it is set later. */
export function leaseOf(json: string, leaseId: string, taskId: string | null): LeaseRow {
  const row = parsed(leaseRow, json, `lease ${leaseId}`);
  return taskId === null ? row : { ...row, taskId };
}

/** A row of the effect ledger. */
export function effectOf(json: string, effectId: string): EffectRow {
  return parsed(effectRow, json, `effect ${effectId}`);
}

/** A row of the approvals. */
export function approvalOf(json: string, approvalId: string): ApprovalRow {
  return parsed(approvalRow, json, `approval ${approvalId}`);
}

/** As much of a schema as is used here. */
interface Threshold<T> {
  safeParse(value: unknown):
    | { readonly success: true; readonly data: T }
    | {
        readonly success: false;
        readonly error: { readonly issues: readonly { readonly path: readonly PropertyKey[] }[] };
      };
}

function parsed<T>(schema: Threshold<T>, json: string, what: string): T {
  return held(schema, jsonOf(json, what), what);
}

function jsonOf(json: string, what: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw unreadable(what, 'is not JSON', cause);
  }
}

function held<T>(schema: Threshold<T>, value: unknown, what: string): T {
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  throw unreadable(what, `does not hold its schema at /${issue?.path.map(String).join('/') ?? ''}`, checked.error);
}

/** A stored thing that cannot be what was written. */
export function unreadable(what: string, why: string, cause: unknown): CaseOpsError {
  return new CaseOpsError(
    'ERR_STORE',
    `The stored ${what} ${why}; it was changed outside of the program or written by a newer version: restore a backup.`,
    { at: 'store', cause, retryable: false },
  );
}
