/** Transactions in a thread of their own, in the order in which they were sent. */
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { CaseOpsError, type ErrorRecord } from '#contracts/error.ts';
import type { GroupWriterOptions } from './group-writer.ts';
import { storeError } from './sqlite-error.ts';
import type { Settled } from './transaction.ts';

export interface ThreadStart {
  readonly path: string;
  readonly sizeBytesMax: number | undefined;
}

/** What became of a write, as threads tell each other. */
export type ThreadSettled =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: ErrorRecord };

export interface ThreadTransact extends AsyncDisposable {
  readonly transact: GroupWriterOptions['transact'];
}

const EXTENSION = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const ENTRY = fileURLToPath(new URL(`./writer-thread${EXTENSION}`, import.meta.url));

/** Starts the thread on a database that this thread has opened and migrated. Keeps the process alive only while something is written. */
export function startThread(start: ThreadStart): ThreadTransact {
  const worker = new Worker(ENTRY, { workerData: start });
  const waiting: { readonly count: number; readonly done: (settled: readonly Settled[]) => void }[] = [];
  let ended: CaseOpsError | undefined;
  const answer = (settled: (count: number) => readonly Settled[]): void => {
    const next = waiting.shift();
    next?.done(settled(next.count));
    if (waiting.length === 0) worker.unref();
  };
  const end = (cause: unknown): void => {
    ended ??= storeError(cause, start.path);
    const error = ended;
    while (waiting.length > 0) answer((count) => Array.from({ length: count }, () => ({ ok: false, error })));
  };
  worker.unref();
  worker.on('message', (settled: readonly ThreadSettled[]) => answer(() => settled.map(fromThread)));
  worker.on('error', end);
  const exited = new Promise<void>((resolve) =>
    worker.on('exit', () => {
      end(new Error('its writing thread has ended'));
      resolve();
    }),
  );
  return {
    transact: (ops, done) => {
      const error = ended;
      if (error !== undefined) return done(ops.map(() => ({ ok: false, error })));
      worker.ref();
      waiting.push({ count: ops.length, done });
      worker.postMessage(ops);
    },
    [Symbol.asyncDispose]: async () => {
      worker.ref();
      worker.postMessage('close');
      await exited;
    },
  };
}

function fromThread(settled: ThreadSettled): Settled {
  if (settled.ok) return settled;
  const { code, message, at, detail = {}, retryable } = settled.error;
  return { ok: false, error: new CaseOpsError(code, message, { at, detail, retryable }) };
}
