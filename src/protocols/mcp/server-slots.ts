/**
 * How many calls a host has in flight at one tool server. Who comes too many waits in order of coming; who would wait too long is told that
 * the server is busy, before anything is sent. Source: DESIGN §4 "Backpressure".
 */
import type { Clock } from '#ports/clock.ts';

export interface ServerLimits {
  /** Of each server that is not named in `perServer`. */
  readonly callsInFlightMax: number;
  /** What a server takes is a fact about that server: it bounds all runs together. */
  readonly perServer: Readonly<Record<string, number>>;
  /** Of each server. */
  readonly callsWaitingMax: number;
}

export interface ServerSlots {
  /** True with a slot, to be given back; false when the line is too long or the wait was. Rejects with the signal's reason. */
  take(server: string, wait: { readonly msMax: number; readonly signal: AbortSignal }): Promise<boolean>;
  give(server: string): void;
}

interface Line {
  inFlightCount: number;
  readonly waiting: Set<(taken: boolean) => void>;
}

export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  callsInFlightMax: 32,
  perServer: {},
  callsWaitingMax: 256,
};

/** Servers do not hold each other up. */
export function createServerSlots(limits: ServerLimits, clock: Clock): ServerSlots {
  const lines = new Map<string, Line>();
  const lineOf = (server: string): Line => {
    const line = lines.get(server) ?? { inFlightCount: 0, waiting: new Set() };
    lines.set(server, line);
    return line;
  };
  return {
    take: async (server, { msMax, signal }) => {
      signal.throwIfAborted();
      const line = lineOf(server);
      const { perServer, callsInFlightMax } = limits;
      const countMax = Object.hasOwn(perServer, server) ? (perServer[server] ?? callsInFlightMax) : callsInFlightMax;
      if (line.inFlightCount < countMax) {
        line.inFlightCount++;
        return true;
      }
      if (line.waiting.size >= limits.callsWaitingMax) return false;
      return waitIn(line, { untilMs: clock.nowMs() + msMax, clock, signal });
    },
    give: (server) => {
      const line = lineOf(server);
      const [next] = line.waiting;
      // The slot goes to who waits, and is never free in between.
      if (next === undefined) line.inFlightCount--;
      else next(true);
    },
  };
}

async function waitIn(
  line: Line,
  by: { readonly untilMs: number; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const settle = (taken: boolean): void => {
    line.waiting.delete(settle);
    resolve(taken);
  };
  const onAbort = (): void => {
    line.waiting.delete(settle);
    reject(by.signal.reason as Error);
  };
  line.waiting.add(settle);
  by.signal.addEventListener('abort', onAbort, { once: true });
  const disarm = by.clock.at(by.untilMs, () => settle(false));
  try {
    return await promise;
  } finally {
    disarm();
    by.signal.removeEventListener('abort', onAbort);
  }
}
