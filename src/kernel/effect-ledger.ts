/**
 * The effect ledger as a fold of events: a store writes its rows in the transaction of the events, so that the ledger cannot say
 * anything else than the log. Source: DESIGN §3.10, §4 "Owners stay apart even in one database".
 */
import type { EffectRow, EffectState } from '#contracts/effect-row.ts';
import type { EventKind, RunEvent } from '#contracts/event.ts';
import type { EffectId } from '#contracts/ids.ts';

const HISTORY_COUNT_MAX = 256;

type LedgerEvent = Extract<RunEvent, { readonly kind: (typeof LEDGER_KINDS)[number] }>;

const LEDGER_KINDS = [
  'effect.intended',
  'effect.sent',
  'effect.confirmed',
  'effect.failed',
  'effect.unknown',
  'effect.reconciled',
  'effect.retried',
  'effect.compensated',
] as const satisfies readonly EventKind[];

/** The effect whose row an event opens or changes; undefined for every other event. */
export function effectOfEvent(event: RunEvent): EffectId | undefined {
  return isLedgerEvent(event) ? event.body.effectId : undefined;
}

/** The row after the event; undefined when the event is of an effect that was never intended. */
export function foldEffectRow(row: EffectRow | undefined, event: RunEvent): EffectRow | undefined {
  if (!isLedgerEvent(event)) return row;
  if (event.kind === 'effect.intended') return intended(event);
  return row === undefined ? undefined : changed(row, event);
}

function isLedgerEvent(event: RunEvent): event is LedgerEvent {
  return LEDGER_KINDS.some((kind) => kind === event.kind);
}

function intended({ at, tenant, runId, body }: Extract<RunEvent, { kind: 'effect.intended' }>): EffectRow {
  const { effectId, stepId, action, actionDigest, contentDigest, approvalId, leaseId, attempt } = body;
  return {
    effectId,
    tenant,
    runId,
    stepId,
    action: action.action,
    target: action.target,
    resource: action.resource,
    idempotencyKey: action.idempotencyKey,
    actionDigest,
    contentDigest,
    expectedVersion: action.expectedVersion,
    approvalId,
    leaseId,
    attempt,
    state: 'in_progress',
    receipt: null,
    artifactRef: null,
    history: [{ at, state: 'in_progress', attempt, note: 'intended' }],
    updatedAt: at,
  };
}

function changed(row: EffectRow, event: Exclude<LedgerEvent, { kind: 'effect.intended' }>): EffectRow {
  switch (event.kind) {
    case 'effect.sent':
      return noted(row, event, { state: row.state, note: `sent: ${event.body.outcome}. ${event.body.note}` });
    case 'effect.confirmed': {
      const { receipt, findings, artifactRef } = event.body;
      const state = findings.length === 0 ? 'completed' : 'partially_completed';
      return { ...noted(row, event, { state, note: `read back as ${receipt.reference}` }), receipt, artifactRef };
    }
    case 'effect.failed':
      return noted(row, event, { state: 'failed', note: event.body.error.message });
    case 'effect.unknown':
      return noted(row, event, { state: 'unknown', note: event.body.note });
    case 'effect.reconciled': {
      const { finding, by, note } = event.body;
      const state = finding === 'applied' ? 'completed' : 'not_started';
      return noted(row, event, { state, note: `${by} found it ${finding}. ${note}` });
    }
    case 'effect.retried': {
      const { attempt, leaseId } = event.body;
      return { ...noted({ ...row, attempt }, event, { state: 'in_progress', note: 'tried again' }), leaseId };
    }
    case 'effect.compensated':
      return noted(row, event, { state: 'compensated', note: `undone by ${event.body.by}. ${event.body.note}` });
  }
}

function noted(
  row: EffectRow,
  { at }: RunEvent,
  { state, note }: { readonly state: EffectState; readonly note: string },
): EffectRow {
  const entry = { at, state, attempt: row.attempt, note: note.slice(0, 500) };
  return { ...row, state, updatedAt: at, history: [...row.history, entry].slice(-HISTORY_COUNT_MAX) };
}
