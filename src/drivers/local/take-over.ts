/**
 * Ready work: open runs that no live process holds are taken by their locks, some at a time, and gone on with. A run that was taken and
 * could not be loaded stays owed and is tried again; it does not stop the others. Source: ENGINE "take ready work by run lock".
 */
import type { RunRef } from '#contracts/command.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { RunTaken, Store } from '#ports/store.ts';
import type { Mailboxes } from './mailbox.ts';
import { runKey, type RunTable } from './run-table.ts';
import type { RunWriter } from './run-writer.ts';

/** Runs taken by one call and loaded side by side: what another process could have taken meanwhile. */
const TAKE_COUNT_MAX = 64;

export interface TakeOverOptions {
  readonly store: Store;
  readonly owner: string;
  readonly ttlMs: number;
  readonly table: RunTable;
  readonly mailboxes: Mailboxes;
  readonly writer: RunWriter;
  readonly report: (error: unknown, at: { readonly ref: RunRef }) => void;
  readonly closing: () => boolean;
}

/** Returns the function that takes all there is of a level and says how many runs go on here. */
export function createTakeOver(options: TakeOverOptions): (level: RunState['level']) => Promise<number> {
  const { store, owner, ttlMs, table, mailboxes, writer, report, closing } = options;
  const owed = new Map<string, RunTaken>();
  const adopt = async (taken: RunTaken): Promise<boolean> => {
    const { ref } = taken.head;
    owed.set(runKey(ref), taken);
    try {
      const run = await mailboxes.enqueue(runKey(ref), () => writer.adopt(taken));
      owed.delete(runKey(ref));
      return run !== undefined;
    } catch (error) {
      report(error, { ref });
      return false;
    }
  };
  const lookOver = createLookOver(options);
  return async (level) => {
    const again = [...owed.values()].filter(({ head }) => head.level === level && !table.held.has(runKey(head.ref)));
    let adopted = [...(await Promise.all(again.map(adopt))), ...(await lookOver.at(level))];
    while (!closing()) {
      const taken = await lookOver.noting(level, store.takeOpenRuns(level, { owner, ttlMs }, TAKE_COUNT_MAX));
      adopted = adopted.concat(await Promise.all(taken.map(adopt)));
      if (taken.length < TAKE_COUNT_MAX) break;
    }
    return adopted.filter(Boolean).length;
  };
}

/** Open runs looked over after a taking whose outcome is not known. */
const OPEN_COUNT_MAX = 10_000;

interface LookOver {
  /** Remembers a taking that ended in an error: it may be durable, and then its runs are ours without our knowing. */
  noting<T>(level: RunState['level'], taking: Promise<T>): Promise<T>;
  /** After such a one: holds every open run that nobody else does. */
  at(level: RunState['level']): Promise<readonly boolean[]>;
}

function createLookOver({ store, table, mailboxes, writer, report }: TakeOverOptions): LookOver {
  const uncertain = new Set<RunState['level']>();
  const noting: LookOver['noting'] = async (level, taking) => {
    try {
      return await taking;
    } catch (error) {
      uncertain.add(level);
      throw error;
    }
  };
  return {
    noting,
    at: async (level) => {
      if (!uncertain.delete(level)) return [];
      const heads = await noting(level, store.openRuns(level, OPEN_COUNT_MAX));
      const unheld = heads.filter(({ ref }) => !table.held.has(runKey(ref)));
      return Promise.all(
        unheld.map(async ({ ref }) => {
          try {
            return (await mailboxes.enqueue(runKey(ref), () => writer.hold(ref))) !== undefined;
          } catch (error) {
            uncertain.add(level);
            report(error, { ref });
            return false;
          }
        }),
      );
    },
  };
}
