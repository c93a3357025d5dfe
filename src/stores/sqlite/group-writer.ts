/**
 * Group commit: writes wait for each other and are done in one transaction per turn of the event loop. Source: ENGINE lesson 1.
 */
import { CaseOpsError } from '#contracts/error.ts';
import type { Settled } from './transaction.ts';
import type { WriteOp, Writes } from './write-op.ts';

/** Writes in one transaction at most; the rest waits for the next turn. */
const BATCH_OP_COUNT_MAX = 512;
/** Writes waiting at most; more are refused with ERR_STORE, which is retryable. */
const QUEUE_OP_COUNT_MAX = 20_000;

export interface GroupWriter {
  /**
   * Does a write in the next transaction and resolves with what it gives after the data is durable. Rejects with ERR_STORE: then nothing
   * of it was acknowledged. `after` is called once the data is durable, before the promise resolves.
   */
  write<K extends keyof Writes>(
    kind: K,
    needs: Writes[K]['needs'],
    after?: (value: Writes[K]['gives']) => void,
  ): Promise<Writes[K]['gives']>;
  /** Writes what waits, then refuses more. */
  close(): Promise<void>;
}

export interface GroupWriterOptions {
  readonly path: string;
  /** Calls back in a later turn of the event loop. */
  readonly schedule: (callback: () => void) => void;
  /** Does writes in one transaction, at once or in another thread; calls back with what became of each. Never throws. */
  readonly transact: (ops: readonly WriteOp[], done: (settled: readonly Settled[]) => void) => void;
}

interface Waiting {
  readonly op: WriteOp;
  readonly settle: (settled: Settled) => void;
}

export function createGroupWriter({ path, schedule, transact }: GroupWriterOptions): GroupWriter {
  let queue: Waiting[] = [];
  let openCount = 0;
  let armed = false;
  let closed = false;
  let emptied: (() => void) | undefined;

  const flush = (): void => {
    armed = false;
    const batch = queue.slice(0, BATCH_OP_COUNT_MAX);
    queue = queue.slice(BATCH_OP_COUNT_MAX);
    if (batch.length > 0)
      transact(
        batch.map(({ op }) => op),
        (settled) => {
          openCount -= batch.length;
          for (const [index, { settle }] of batch.entries()) settle(settled[index] ?? lost(path));
          if (openCount === 0) emptied?.();
        },
      );
    if (queue.length > 0) arm();
  };

  const arm = (): void => {
    if (armed) return;
    armed = true;
    schedule(flush);
  };

  return {
    write: (kind, needs, after) =>
      new Promise((resolve, reject) => {
        if (closed || openCount >= QUEUE_OP_COUNT_MAX) return reject(refusal(path, closed, openCount));
        openCount++;
        const settle = (settled: Settled): void => {
          if (!settled.ok) return reject(settled.error);
          const value = settled.value as Writes[typeof kind]['gives'];
          after?.(value);
          resolve(value);
        };
        queue.push({ op: { kind, needs } as WriteOp, settle });
        arm();
      }),
    close: async () => {
      closed = true;
      while (queue.length > 0) flush();
      if (openCount > 0) await new Promise<void>((resolve) => (emptied = resolve));
    },
  };
}

function lost(path: string): Settled {
  const message = `The store ${path} did not say what became of a write.`;
  return { ok: false, error: new CaseOpsError('ERR_STORE', message, { at: 'store', detail: { path } }) };
}

function refusal(path: string, closed: boolean, waitingCount: number): CaseOpsError {
  const message = closed
    ? `The store ${path} is closed; nothing was written.`
    : `The store ${path} has ${waitingCount} writes waiting, which is its limit; try again when the load is lower.`;
  return new CaseOpsError('ERR_STORE', message, { at: 'store', detail: { path }, retryable: !closed });
}
