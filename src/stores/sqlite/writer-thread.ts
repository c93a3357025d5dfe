/**
 * The thread that writes: it opens the database once more and does what it is sent, all that has come meanwhile in one transaction. So the
 * event loop decides while the disk works. Source: ENGINE "A worker thread if fsync stalls hurt the event loop".
 */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { toErrorRecord } from '#contracts/error.ts';
import { openDatabase } from './open-database.ts';
import { createTransact, type Settled } from './transaction.ts';
import type { WriteOp } from './write-op.ts';
import type { ThreadSettled, ThreadStart } from './thread-transact.ts';

/** Writes in one transaction at most, besides those that came in one message. */
const TOGETHER_OP_COUNT_MAX = 1_024;

const { path, sizeBytesMax } = workerData as ThreadStart;
const db = openDatabase({ path, sizeBytesMax, asItIs: true });
const transact = createTransact(db, path);
const port = parentPort;

port?.on('message', (first: readonly WriteOp[] | 'close') => {
  let message: unknown = first;
  const messages: (readonly WriteOp[])[] = [];
  let count = 0;
  while (Array.isArray(message)) {
    messages.push(message as readonly WriteOp[]);
    count += message.length;
    message = count < TOGETHER_OP_COUNT_MAX ? receiveMessageOnPort(port)?.message : undefined;
  }
  const settled = messages.length === 0 ? [] : transact(messages.flat());
  let from = 0;
  for (const ops of messages) {
    port.postMessage(settled.slice(from, from + ops.length).map(toThread));
    from += ops.length;
  }
  if (message === 'close') {
    db.close();
    port.close();
  }
});

function toThread(settled: Settled): ThreadSettled {
  return settled.ok ? settled : { ok: false, error: toErrorRecord(settled.error, { code: 'ERR_STORE', at: 'store' }) };
}
