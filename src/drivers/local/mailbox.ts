/** One queue per run: its commands are decided one after the other, those of different runs side by side. */
import { CaseOpsError } from '#contracts/error.ts';

/** Commands waiting for one run at most. */
const WAITING_COUNT_MAX = 10_000;

export interface Mailboxes {
  /** Runs `work` when everything queued before under `key` is over, however that ended. Refuses with ERR_STATE when too much waits. */
  enqueue<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Resolves when nothing waits or works any more. */
  idle(): Promise<void>;
}

interface Mailbox {
  tail: Promise<unknown>;
  waitingCount: number;
}

/** Empty queues are forgotten. */
export function createMailboxes(): Mailboxes {
  const boxes = new Map<string, Mailbox>();
  return {
    enqueue: (key, work) => {
      const box = boxes.get(key) ?? { tail: Promise.resolve(), waitingCount: 0 };
      if (box.waitingCount >= WAITING_COUNT_MAX) return Promise.reject(fullError(key));
      boxes.set(key, box);
      box.waitingCount++;
      const done = box.tail.then(work);
      box.tail = done.then(
        () => left(boxes, key, box),
        () => left(boxes, key, box),
      );
      return done;
    },
    idle: async () => {
      while (boxes.size > 0) await Promise.all([...boxes.values()].map((box) => box.tail));
    },
  };
}

function left(boxes: Map<string, Mailbox>, key: string, box: Mailbox): void {
  if (--box.waitingCount === 0) boxes.delete(key);
}

function fullError(key: string): CaseOpsError {
  return new CaseOpsError('ERR_STATE', `Run ${key} has ${WAITING_COUNT_MAX} commands waiting, which is its limit.`, {
    at: 'driver',
    retryable: true,
  });
}
