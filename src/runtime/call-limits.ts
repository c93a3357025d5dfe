/**
 * At most so many calls at a time to one tool server: who is over waits in turn, within its own deadline, and a full queue answers that
 * it is throttled. What a server takes is a fact about that server, so it bounds all runs together.
 */
import type { Clock } from '#ports/clock.ts';
import type { ToolHost, ToolOutcome } from '#ports/tool-host.ts';

/** MCP server → calls in flight at most, in one team's process. */
export type CallLimits = Readonly<Record<string, number>>;

const QUEUE_LENGTH_MAX = 1_000;
const RETRY_AFTER_MS = 1_000;

/** The host itself where nothing is limited. Owns nothing: dispose the host. */
export function withCallLimits(host: ToolHost, limits: CallLimits, clock: Clock): ToolHost {
  if (Object.keys(limits).length === 0) return host;
  const lanes = new Map(Object.entries(limits).map(([server, max]) => [server, createLane(max)]));
  return {
    audience: (server) => host.audience(server),
    verify: (contracts, lease, signal) => host.verify(contracts, lease, signal),
    call: async (contract, args, lease, signal) => {
      const lane = lanes.get(contract.server);
      if (lane === undefined) return host.call(contract, args, lease, signal);
      if (lane.isFull()) return throttled(contract.protocolVersion, clock.now());
      using stack = new DisposableStack();
      stack.use(await lane.turn(signal));
      // A signal that was aborted meanwhile makes the host say so, in its own words.
      return await host.call(contract, args, lease, signal);
    },
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

interface Lane {
  readonly isFull: () => boolean;
  /** Resolves when it is this call's turn, or at once when the signal aborts; then it holds no place. */
  readonly turn: (signal: AbortSignal) => Promise<Disposable>;
}

function createLane(callCountMax: number): Lane {
  let inFlightCount = 0;
  const waiting = new Set<() => void>();
  const leave = (): void => {
    const [next] = waiting;
    // The place goes to who waits, and is never free in between.
    if (next === undefined) inFlightCount--;
    else next();
  };
  const held: Disposable = { [Symbol.dispose]: leave };
  const none: Disposable = { [Symbol.dispose]: () => undefined };
  return {
    isFull: () => waiting.size >= QUEUE_LENGTH_MAX,
    turn: (signal) => {
      if (inFlightCount < callCountMax) {
        inFlightCount++;
        return Promise.resolve(held);
      }
      return new Promise((resolve) => {
        const enter = (): void => {
          waiting.delete(enter);
          signal.removeEventListener('abort', giveUp);
          resolve(held);
        };
        const giveUp = (): void => {
          waiting.delete(enter);
          resolve(none);
        };
        waiting.add(enter);
        if (signal.aborted) giveUp();
        else signal.addEventListener('abort', giveUp, { once: true });
      });
    },
  };
}

function throttled(protocolRevision: string, at: string): ToolOutcome {
  const facts = { protocolRevision, serverVersion: '', startedAt: at, endedAt: at };
  return { outcome: 'throttled', retryAfterMs: RETRY_AFTER_MS, ...facts };
}
