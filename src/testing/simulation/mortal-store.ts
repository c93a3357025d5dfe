/** A store as one simulated process has it: its writes may fail, be durable without an answer, or be the process's last. */
import { CaseOpsError } from '#contracts/error.ts';
import type { Store } from '#ports/store.ts';
import type { FaultBook } from './fault-book.ts';
import { never, type ProcessLife } from './process-life.ts';

const WRITES = new Set(['commit', 'write', 'takeLock', 'takeOpenRuns', 'heartbeat', 'bindLeaseTask']);

export interface MortalStoreOptions {
  readonly store: Store;
  readonly who: string;
  readonly life: ProcessLife;
  readonly book: FaultBook;
  /** The process dies and is started anew after `downMs`. */
  readonly crash: (downMs: number) => void;
}

type Call = (...args: unknown[]) => Promise<unknown>;

export function mortalStore(options: MortalStoreOptions): Store {
  const { store, life } = options;
  const calls = Object.entries(store).flatMap(([name, value]) => {
    if (typeof value !== 'function' || name === 'onCommit') return [];
    const call = value as Call;
    return [[name, WRITES.has(name) ? write(options, call) : read(life, call)] as const];
  });
  return {
    ...(Object.fromEntries(calls) as unknown as Store),
    onCommit: (listener) => {
      const stop = store.onCommit((events, head) => {
        if (!life.dead) listener(events, head);
      });
      life.onDeath(stop);
      return stop;
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

function read(life: ProcessLife, call: Call): Call {
  return (...args) => (life.dead ? never() : life.seen(call(...args)));
}

function write({ who, life, book, crash }: MortalStoreOptions, call: Call): Call {
  return async (...args) => {
    if (life.dead) return never();
    const faults = book.write(who);
    const fatal = faults.find((fault) => fault.kind === 'crash');
    const broken = faults.find((fault) => fault.kind === 'store')?.how;
    if (fatal?.when === 'before') {
      crash(fatal.downMs);
      return never();
    }
    if (broken === 'fails') throw failed('refused the write');
    const answer = await life.seen(call(...args));
    if (fatal !== undefined) {
      crash(fatal.downMs);
      return never();
    }
    if (broken !== undefined) throw failed('took the write, and its answer was lost');
    return answer;
  };
}

function failed(what: string): CaseOpsError {
  return new CaseOpsError('ERR_STORE', `The simulated disk ${what}.`, { at: 'store', retryable: true });
}
