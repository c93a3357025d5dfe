/** Run locks: who may write to a run. An owner's life is one row; a run names its owner and the fence of the taking. */
import type { DatabaseSync } from 'node:sqlite';
import type { RunRef } from '#contracts/command.ts';
import type { LockTaken, RunTaken } from '#ports/store.ts';
import { page } from '../page.ts';
import { headOf, type StoredRun } from '../rows.ts';

export interface RunLocks {
  /** Inside a transaction. Each taking raises the fence, so that whoever held the run before can no longer write. */
  take(ref: RunRef, owner: string, life: OwnerLife): LockTaken | undefined;
  /** Inside a transaction. Takes the open runs of a level that no live owner holds, oldest first; those of `owner` are left out. */
  takeOpen(level: 'central' | 'team', owner: string, life: OwnerLife & { readonly limit: number }): readonly RunTaken[];
  /** Inside a transaction. A life of 0 ms frees every run of the owner. */
  extend(owner: string, life: OwnerLife): void;
}

/** From now, for how long the owner counts as alive without another sign. */
export interface OwnerLife {
  readonly nowMs: number;
  readonly ttlMs: number;
}

type Free = StoredRun & Held;

interface Held {
  readonly fence: number;
  readonly lock_owner: string;
  readonly seen_at: number | null;
  readonly expires_at: number | null;
}

/** Prepares the statements once. */
export function createRunLocks(db: DatabaseSync): RunLocks {
  const held = db.prepare(
    `select run.fence, run.lock_owner, owner.seen_at, owner.expires_at
     from run left join owner on owner.owner = run.lock_owner where run.tenant = ? and run.run_id = ?`,
  );
  const free = db.prepare(
    `select run.*, owner.seen_at, owner.expires_at from run left join owner on owner.owner = run.lock_owner
     where run.phase <> 'ended' and run.level = ?1 and run.lock_owner <> ?2 and coalesce(owner.expires_at, 0) <= ?3
     order by run.started_at, run.run_id limit ?4`,
  );
  const take = db.prepare('update run set lock_owner = ?, fence = fence + 1 where tenant = ? and run_id = ?');
  const alive = db.prepare(
    `insert into owner (owner, seen_at, expires_at) values (?1, ?2, ?3)
     on conflict do update set seen_at = excluded.seen_at, expires_at = excluded.expires_at`,
  );
  const extend = (owner: string, life: OwnerLife): void => void alive.run(owner, life.nowMs, life.nowMs + life.ttlMs);
  return {
    extend,
    take: (ref, owner, life) => {
      const lock = held.get(ref.tenant, ref.runId) as Held | undefined;
      if (lock !== undefined && lock.lock_owner !== owner && (lock.expires_at ?? 0) > life.nowMs) return undefined;
      extend(owner, life);
      // A run that nobody has opened yet: the opening commit takes the lock under this fence.
      if (lock === undefined) return { fence: 1, lastSeenAt: undefined };
      take.run(owner, ref.tenant, ref.runId);
      return takenOf(lock);
    },
    takeOpen: (level, owner, life) => {
      extend(owner, life);
      const runs = free.all(level, owner, life.nowMs, page(life.limit)) as unknown as readonly Free[];
      return runs.map((run) => {
        take.run(owner, run.tenant, run.run_id);
        return { head: headOf(run), lock: takenOf(run) };
      });
    },
  };
}

function takenOf({ fence, seen_at }: Held): LockTaken {
  return { fence: fence + 1, lastSeenAt: seen_at === null ? undefined : new Date(seen_at).toISOString() };
}
