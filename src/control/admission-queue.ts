/**
 * Bounded admission: so many central runs work at the same time, the others wait in a bounded queue that is fair to tenants. The queue is
 * memory; that a run waits is in its log, and after a restart it takes its place again. Source: DESIGN §4 "Backpressure".
 */
import type { Queued, RunRef } from '#contracts/command.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { Clock } from '#ports/clock.ts';
import type { RunHead } from '#ports/store.ts';

export interface AdmissionLimits {
  /** Central runs that work at the same time. A run that waits for a person does not work. */
  readonly runsInFlightMax: number;
  readonly runsInFlightPerTenantMax: number;
  /** Tenants with a bound of their own instead. */
  readonly tenants?: Readonly<Record<string, { readonly runsInFlightMax?: number | undefined }>>;
  /** Runs that wait. One tenant may have at most as many waiting as there are places left, so that another always finds one. */
  readonly queueLengthMax: number;
}

export interface AdmissionQueue {
  /**
   * Takes a place for a run that is about to be opened or unblocked: it may begin (`queue` undefined) or must wait. Throws ERR_QUEUE_FULL
   * with `detail.retryAfterMs`. A place is given back by `leave` or when the run is noted as ended or blocked.
   */
  enter(ref: RunRef): { readonly queue: Queued | undefined };
  /** Resolves when the run's turn has come; at once if it has a place. Rejects with the signal's reason. */
  turn(ref: RunRef, signal: AbortSignal): Promise<void>;
  /** Counts a run that works already: recovered, or unblocked by people. It may exceed the bound; nobody else begins until it does not. */
  occupy(ref: RunRef): void;
  leave(ref: RunRef): void;
  /** Called with each committed head. */
  note(head: Pick<RunHead, 'ref' | 'level' | 'phase'>): void;
  /** Nobody's turn comes before: the runs that worked when an earlier process ended are counted first. */
  open(): void;
  readonly inFlightCount: number;
  readonly waitingCount: number;
}

interface Waiting {
  readonly ref: RunRef;
  /** Told when the turn comes. */
  wake: (() => void) | undefined;
}

interface Queue {
  readonly limits: AdmissionLimits;
  readonly clock: Clock;
  /** Key → tenant. */
  readonly inFlight: Map<string, string>;
  /** Tenant → key → who waits, in order of coming. The tenant whose turn was last stands last. */
  readonly waiting: Map<string, Map<string, Waiting>>;
  /** When the last runs left, in ms, oldest first. */
  readonly leftMs: number[];
  opened: boolean;
}

const LEFT_COUNT_MAX = 32;
const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 30_000;

/** Round-robin over tenants, first come first served within one. Call `open` when the runs of an earlier process are taken up. */
export function createAdmissionQueue(limits: AdmissionLimits, clock: Clock): AdmissionQueue {
  const queue: Queue = { limits, clock, inFlight: new Map(), waiting: new Map(), leftMs: [], opened: false };
  const admission: AdmissionQueue = {
    enter: (ref) => enter(queue, ref),
    turn: (ref, signal) => turn(queue, ref, signal),
    occupy: (ref) => {
      remove(queue, ref)?.wake?.();
      queue.inFlight.set(keyOf(ref), ref.tenant);
    },
    leave: (ref) => leave(queue, ref),
    note: ({ ref, level, phase }) => {
      if (level !== 'central' || phase === 'received') return;
      if (phase === 'ended' || phase === 'blocked') leave(queue, ref);
      else if (!queue.inFlight.has(keyOf(ref))) admission.occupy(ref);
    },
    open: () => {
      queue.opened = true;
      admit(queue);
    },
    get inFlightCount() {
      return queue.inFlight.size;
    },
    get waitingCount() {
      return waitingCount(queue);
    },
  };
  return admission;
}

function enter(queue: Queue, ref: RunRef): { readonly queue: Queued | undefined } {
  const { tenant } = ref;
  const own = queue.waiting.get(tenant)?.size ?? 0;
  if (own === 0 && mayBegin(queue, tenant)) {
    queue.inFlight.set(keyOf(ref), tenant);
    return { queue: undefined };
  }
  const freeCount = queue.limits.queueLengthMax - waitingCount(queue);
  if (own >= freeCount) throw full(queue, { tenant, own });
  standInLine(queue, ref, undefined);
  return { queue: { aheadCount: own } };
}

async function turn(queue: Queue, ref: RunRef, signal: AbortSignal): Promise<void> {
  const key = keyOf(ref);
  signal.throwIfAborted();
  if (queue.inFlight.has(key)) return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onAbort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  const known = queue.waiting.get(ref.tenant)?.get(key);
  // A run of an earlier process has its place by its log: no bound refuses it.
  if (known === undefined) standInLine(queue, ref, resolve);
  else known.wake = resolve;
  admit(queue);
  try {
    await promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function leave(queue: Queue, ref: RunRef): void {
  remove(queue, ref);
  if (!queue.inFlight.delete(keyOf(ref))) return;
  queue.leftMs.push(queue.clock.nowMs());
  if (queue.leftMs.length > LEFT_COUNT_MAX) queue.leftMs.shift();
  admit(queue);
}

/** Gives free places away, one tenant after the other. */
function admit(queue: Queue): void {
  for (;;) {
    const [tenant, first] = nextTenant(queue) ?? [];
    if (tenant === undefined || first === undefined) return;
    const rest = queue.waiting.get(tenant);
    remove(queue, first.ref);
    // It had its turn: the others come first.
    if (rest !== undefined && rest.size > 0) {
      queue.waiting.delete(tenant);
      queue.waiting.set(tenant, rest);
    }
    queue.inFlight.set(keyOf(first.ref), tenant);
    first.wake?.();
  }
}

function nextTenant(queue: Queue): readonly [string, Waiting] | undefined {
  for (const [tenant, line] of queue.waiting) {
    const [first] = line.values();
    if (first !== undefined && mayBegin(queue, tenant)) return [tenant, first];
  }
  return undefined;
}

function mayBegin({ opened, inFlight, limits }: Queue, tenant: string): boolean {
  if (!opened || inFlight.size >= limits.runsInFlightMax) return false;
  let ownCount = 0;
  for (const other of inFlight.values()) if (other === tenant) ownCount++;
  const own =
    limits.tenants !== undefined && Object.hasOwn(limits.tenants, tenant) ? limits.tenants[tenant] : undefined;
  return ownCount < (own?.runsInFlightMax ?? limits.runsInFlightPerTenantMax);
}

function standInLine({ waiting }: Queue, ref: RunRef, wake: (() => void) | undefined): void {
  const own = waiting.get(ref.tenant) ?? new Map<string, Waiting>();
  own.set(keyOf(ref), { ref, wake });
  waiting.set(ref.tenant, own);
}

function remove({ waiting }: Queue, ref: RunRef): Waiting | undefined {
  const own = waiting.get(ref.tenant);
  const found = own?.get(keyOf(ref));
  own?.delete(keyOf(ref));
  if (own?.size === 0) waiting.delete(ref.tenant);
  return found;
}

function waitingCount({ waiting }: Queue): number {
  let count = 0;
  for (const own of waiting.values()) count += own.size;
  return count;
}

function full(queue: Queue, { tenant, own }: { readonly tenant: string; readonly own: number }): CaseOpsError {
  const { runsInFlightMax, queueLengthMax } = queue.limits;
  const retryAfterMs = retryAfter(queue, own);
  return new CaseOpsError(
    'ERR_QUEUE_FULL',
    `${queue.inFlight.size} of ${runsInFlightMax} runs work and ${waitingCount(queue)} of ${queueLengthMax} wait, ${own} of them of tenant ${tenant}; try again in ${Math.ceil(retryAfterMs / 1_000)} s.`,
    { at: 'control', retryable: true, detail: { retryAfterMs } },
  );
}

/** When about half of a tenant's waiting runs will have begun, going by how fast the last runs left and who shares the turns. */
function retryAfter({ leftMs, clock, waiting }: Queue, own: number): number {
  const [oldest = 0] = leftMs;
  const intervalMs = leftMs.length === 0 ? 0 : (clock.nowMs() - oldest) / leftMs.length;
  const turnMs = intervalMs * Math.max(1, waiting.size);
  return Math.round(Math.min(RETRY_MS_MAX, Math.max(RETRY_MS_MIN, (turnMs * own) / 2)));
}

const keyOf = ({ tenant, runId }: RunRef): string => `${tenant}/${runId}`;
