/** An erasure as one statement: the run's row decides whether anything of it happens. The same promises as the embedded store's. */
import type { Erasure, EraseOutcome, RunPhase, Store } from '#ports/store.ts';
import type { Listeners } from '../commit-listeners.ts';
import { batchText } from '../event-batch.ts';
import type { Line, Statement } from './line.ts';

const ERASE: Statement = {
  name: 'erase_run',
  text: `with moved as (
      update caseops.run set seq = $4, hash = $5, subject = $6, updated_at = $7
      where tenant = $1 and run_id = $2 and seq = $3 and hash = $8 and phase = 'ended' returning run_id),
    bodies as (
      update caseops.event_batch b set json = (
        select '[' || string_agg(
          case when b.first_seq + e.n - 1 <= $9 and e.v ->> 'kind' <> 'run.erased' and e.v::jsonb ? 'body'
            then ((e.v::jsonb - 'body') || jsonb_build_object('erased', $15::text))::text else e.v::text end,
          ',' order by e.n) || ']'
        from json_array_elements(b.json::json) with ordinality as e(v, n))
      where b.tenant = $1 and b.run_id = $2 and b.first_seq <= $9 and exists (select from moved)),
    stone as (
      insert into caseops.event_batch (tenant, run_id, seq, first_seq, prev, json) select $1, $2, $4, $4, $8, $10 from moved),
    approvals as (
      update caseops.approval a set json = x.json from json_to_recordset($11::json) as x(id text, json text)
      where a.tenant = $1 and a.approval_id = x.id and exists (select from moved)),
    effects as (
      update caseops.effect f set json = x.json from json_to_recordset($12::json) as x(id text, json text)
      where f.tenant = $1 and f.effect_id = x.id and exists (select from moved)),
    leases as (
      update caseops.lease l set json = x.json from json_to_recordset($13::json) as x(id text, json text)
      where l.tenant = $1 and l.lease_id = x.id and exists (select from moved)),
    dropped as (
      delete from caseops.artifact where tenant = $1 and digest = any($14::text[]) and exists (select from moved))
    select (select count(*)::integer from moved) as moved, r.seq, r.hash, r.phase
    from (select 1) as one left join caseops.run r on r.tenant = $1 and r.run_id = $2`,
};
const DROP: Statement = {
  name: 'drop_artifacts',
  text: 'delete from caseops.artifact where tenant = $1 and digest = any($2::text[]) returning digest',
};

interface Found {
  readonly moved: number;
  readonly seq: number | null;
  readonly hash: string | null;
  readonly phase: RunPhase | null;
}

export function createErasing(line: Line, listeners: Listeners): Pick<Store, 'erase' | 'dropArtifacts'> {
  return {
    erase: async (erasure) => {
      const { tombstone, head } = erasure;
      const values = valuesOf(erasure);
      const [found] = await line.run<Found>([tombstone.tenant], ERASE, () => values);
      const outcome = outcomeOf(found, erasure);
      if (outcome.ok) listeners.tell([tombstone], head);
      return outcome;
    },
    dropArtifacts: async (tenant, digests) => (await line.run([tenant], DROP, () => [tenant, [...digests]])).length,
  };
}

function valuesOf({ tombstone, head, artifacts, approvals, effects, leases }: Erasure): readonly unknown[] {
  const { tenant, runId, seq, hash, prev, body } = tombstone;
  const rows = <Row>(list: readonly Row[], idOf: (row: Row) => string): string =>
    JSON.stringify(list.map((row) => ({ id: idOf(row), json: JSON.stringify(row) })));
  return [
    tenant,
    runId,
    seq - 1,
    seq,
    hash,
    head.subject,
    head.updatedAt,
    prev,
    body.uptoSeq,
    batchText([tombstone]),
    rows(approvals, ({ approvalId }) => approvalId),
    rows(effects, ({ effectId }) => effectId),
    rows(leases, ({ leaseId }) => leaseId),
    [...artifacts],
    body.tombstoneId,
  ];
}

/** The run's row as it was before; when it is the tombstone's already, an answer that was lost is given again. */
function outcomeOf(found: Found | undefined, { tombstone }: Erasure): EraseOutcome {
  if (found === undefined || found.seq === null || found.phase === null) return { ok: false, conflict: 'missing' };
  if (found.moved === 1 || (found.seq === tombstone.seq && found.hash === tombstone.hash)) return { ok: true };
  if (found.phase !== 'ended') return { ok: false, conflict: 'phase', phase: found.phase };
  return { ok: false, conflict: 'sequence', actualSeq: found.seq };
}
