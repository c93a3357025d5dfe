/**
 * One queue per run: its commands are decided one after the other, those of different runs side by side. What came while others were
 * waited for is handed over together, so that it can share a commit.
 */
import { CaseOpsError } from '#contracts/error.ts';

/** Commands waiting for one run at most. */
const WAITING_COUNT_MAX = 10_000;
/** Commands handed over together at most. */
const TOGETHER_COUNT_MAX = 64;

export interface Mailboxes {
  /** Runs `work` when everything queued before under `key` is over, however that ended. Refuses with ERR_STATE when too much waits. */
  enqueue<T>(key: string, work: () => Promise<T>): Promise<T>;
  /**
   * As `enqueue`, with those of the same `together` that were queued one after the other: `work` gets all of them and answers each, in
   * order. Who came first brings the work.
   */
  enqueueTogether<I, T>(key: string, item: I, work: (items: readonly I[]) => Promise<readonly T[]>): Promise<T>;
  /** Resolves when nothing waits or works any more. */
  idle(): Promise<void>;
}

interface Mailbox {
  tail: Promise<unknown>;
  waitingCount: number;
  /** The last in the queue, while others may join it. */
  open: { readonly items: unknown[]; readonly answers: Promise<readonly unknown[]> } | undefined;
}

/** Empty queues are forgotten. */
export function createMailboxes(): Mailboxes {
  const boxes = new Map<string, Mailbox>();
  const enqueue: Mailboxes['enqueue'] = (key, work) => {
    const box = boxes.get(key) ?? { tail: Promise.resolve(), waitingCount: 0, open: undefined };
    if (box.waitingCount >= WAITING_COUNT_MAX) return Promise.reject(fullError(key));
    boxes.set(key, box);
    box.open = undefined;
    box.waitingCount++;
    const done = box.tail.then(work);
    const leave = (): void => left(boxes, key, box);
    box.tail = done.then(leave, leave);
    return done;
  };
  const open = <I, T>(key: string, first: I, work: (items: readonly I[]) => Promise<readonly T[]>): Together<T> => {
    const items: I[] = [first];
    const answers = enqueue(key, () => {
      const box = boxes.get(key);
      if (box?.open?.items === items) box.open = undefined;
      return work(items);
    });
    const box = boxes.get(key);
    if (box !== undefined) box.open = { items, answers };
    return { answers, index: 0 };
  };
  return {
    enqueue,
    enqueueTogether: async <I, T>(key: string, item: I, work: (items: readonly I[]) => Promise<readonly T[]>) => {
      const joined = join<T>(boxes.get(key), item) ?? open(key, item, work);
      const answers = await joined.answers;
      return answers[joined.index] as T;
    },
    idle: async () => {
      while (boxes.size > 0) await Promise.all([...boxes.values()].map((box) => box.tail));
    },
  };
}

interface Together<T> {
  readonly answers: Promise<readonly T[]>;
  readonly index: number;
}

/** One more among those that wait together; undefined when there is nobody to join. */
function join<T>(box: Mailbox | undefined, item: unknown): Together<T> | undefined {
  if (box?.open === undefined || box.open.items.length >= TOGETHER_COUNT_MAX) return undefined;
  const index = box.open.items.push(item) - 1;
  return { answers: box.open.answers as Promise<readonly T[]>, index };
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
