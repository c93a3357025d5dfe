/**
 * The effect ledger and the approvals of commits, folded before they are written: the rows as they stand are read first. A run's rows are
 * changed by its own commits only, so the run's sequence guards them: if it moved on meanwhile, the commit is refused. INV-12.
 */
import type { ApprovalRow } from '#contracts/approval.ts';
import type { EffectRow } from '#contracts/effect-row.ts';
import type { RunEvent } from '#contracts/event.ts';
import { approvalOfEvent, foldApprovalRow } from '#kernel/approval-inbox.ts';
import { effectOfEvent, foldEffectRow } from '#kernel/effect-ledger.ts';
import { approvalOf, effectOf } from '../rows.ts';
import type { Unit } from './batch.ts';
import type { Line, Statement } from './line.ts';

export interface LedgerRows {
  readonly effects: ReadonlyMap<string, EffectRow>;
  readonly approvals: ReadonlyMap<string, ApprovalRow>;
}

const EFFECTS: Statement = {
  name: 'effects_by_id',
  text: `select e.effect_id, e.json from unnest($1::text[], $2::text[]) as n (tenant, id)
    join caseops.effect e on e.tenant = n.tenant and e.effect_id = n.id`,
};
const APPROVALS: Statement = {
  name: 'approvals_by_id',
  text: `select a.approval_id, a.json from unnest($1::text[], $2::text[]) as n (tenant, id)
    join caseops.approval a on a.tenant = n.tenant and a.approval_id = n.id`,
};

/** True when an event of the commit has a row in the ledger or among the approvals. */
export function hasLedgerEvents(events: readonly RunEvent[]): boolean {
  return events.some((event) => effectOfEvent(event) !== undefined || approvalOfEvent(event) !== undefined);
}

/** The rows that these events are folded into, as they are stored; ids are unique in the deployment. */
export async function readLedger(line: Line, events: readonly RunEvent[]): Promise<LedgerRows> {
  const scope = [...new Set(events.map(({ tenant }) => tenant))];
  const [effects, approvals] = await Promise.all([
    readRows<{ readonly effect_id: string; readonly json: string }>(
      line,
      { scope, statement: EFFECTS },
      idsOf(events, effectOfEvent),
    ),
    readRows<{ readonly approval_id: string; readonly json: string }>(
      line,
      { scope, statement: APPROVALS },
      idsOf(events, approvalOfEvent),
    ),
  ]);
  return {
    effects: new Map(effects.map((row) => [row.effect_id, effectOf(row.json, row.effect_id)])),
    approvals: new Map(approvals.map((row) => [row.approval_id, approvalOf(row.json, row.approval_id)])),
  };
}

type Ids = readonly (readonly [tenant: string, id: string])[];

function idsOf(events: readonly RunEvent[], of: (event: RunEvent) => string | undefined): Ids {
  return events.flatMap((event) => {
    const id = of(event);
    return id === undefined ? [] : [[event.tenant, id] as const];
  });
}

async function readRows<Row>(
  line: Line,
  { scope, statement }: { readonly scope: readonly string[]; readonly statement: Statement },
  ids: Ids,
): Promise<readonly Row[]> {
  if (ids.length === 0) return [];
  return line.run<Row>(scope, statement, () => [ids.map(([tenant]) => tenant), ids.map(([, id]) => id)]);
}

/** The rows after the events. */
export function foldLedger(events: readonly RunEvent[], stored: LedgerRows): Pick<Unit, 'effects' | 'approvals'> {
  const effects = new Map<string, { row: EffectRow; opening: boolean }>();
  const approvals = new Map<string, ApprovalRow>();
  for (const event of events) {
    const effectId = effectOfEvent(event);
    if (effectId !== undefined) {
      const before = effects.get(effectId);
      const row = foldEffectRow(before?.row ?? stored.effects.get(effectId), event);
      if (row !== undefined)
        effects.set(effectId, { row, opening: before?.opening ?? event.kind === 'effect.intended' });
    }
    const approvalId = approvalOfEvent(event);
    if (approvalId !== undefined) {
      const row = foldApprovalRow(approvals.get(approvalId) ?? stored.approvals.get(approvalId), event);
      if (row !== undefined) approvals.set(approvalId, row);
    }
  }
  return { effects: [...effects.values()], approvals: [...approvals.values()] };
}
