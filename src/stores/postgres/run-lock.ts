/** Run locks: who may write to a run, and the taking of ready work. The statements are functions of the database (migration 2). */
import type { Clock } from '#ports/clock.ts';
import type { LockTaken, RunTaken, Store } from '#ports/store.ts';
import { page } from '../page.ts';
import { headOf, type StoredRun } from '../rows.ts';
import type { Line, Statement } from './line.ts';

const KEEP_ALIVE: Statement = { name: 'keep_alive', text: 'select caseops.keep_alive($1, $2, $3)' };
const TAKE_LOCK: Statement = {
  name: 'take_lock',
  text: 'select fence, seen_at from caseops.take_lock($1, $2, $3, $4, $5)',
};
const TAKE_OPEN: Statement = {
  name: 'take_open',
  text: 'select * from caseops.take_open_runs($1, $2, $3, $4, $5, $6)',
};
/** What a call took whose answer was lost. */
const TAKEN_IN: Statement = {
  name: 'taken_in',
  text: `select r.tenant, r.run_id, r.level, r.seq, r.hash, r.phase, r.result, r.needs_human::integer as needs_human, r.kind,
      r.subject, r.requested_by, r.started_at, r.updated_at, r.fence, null::bigint as seen_at
    from caseops.run r where r.phase <> 'ended' and r.level = $1 and r.lock_owner = $2 and r.taken_in = $3
    order by r.started_at, r.run_id`,
};

interface StoredTaking {
  readonly fence: number;
  /** Milliseconds; Postgres gives large integers as text. */
  readonly seen_at: string | null;
}

type RunLocks = Pick<Store, 'takeLock' | 'takeOpenRuns' | 'heartbeat'>;

/** On one line, so that calls keep their order. */
export function createRunLocks(line: Line, clock: Clock): RunLocks {
  let callCount = 0;
  return {
    heartbeat: async (owner, ttlMs) => void (await line.run([], KEEP_ALIVE, () => [owner, clock.nowMs(), ttlMs])),
    takeLock: async (ref, owner, ttlMs) => {
      const values = (): readonly unknown[] => [ref.tenant, ref.runId, owner, clock.nowMs(), ttlMs];
      const [taken] = await line.run<StoredTaking>([ref.tenant], TAKE_LOCK, values);
      return taken === undefined ? undefined : takenOf(taken);
    },
    takeOpenRuns: async (level, { owner, ttlMs }, limit) => {
      const call = ++callCount;
      let lost = false;
      const taken = await line.run<StoredRun & StoredTaking>('every tenant', TAKE_OPEN, (again) => {
        lost ||= again;
        return [level, owner, call, clock.nowMs(), ttlMs, page(limit)];
      });
      if (!lost) return taken.map(runTaken);
      // An answer was lost on the way: what was taken under this call before is ours all the same.
      const all = await line.run<StoredRun & StoredTaking>('every tenant', TAKEN_IN, () => [level, owner, call]);
      return all.map(runTaken);
    },
  };
}

function runTaken(row: StoredRun & StoredTaking): RunTaken {
  return { head: headOf(row), lock: takenOf(row) };
}

function takenOf({ fence, seen_at }: StoredTaking): LockTaken {
  return { fence, lastSeenAt: seen_at === null ? undefined : new Date(Number(seen_at)).toISOString() };
}
