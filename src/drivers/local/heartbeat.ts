/** The sign of life of this process: as long as it comes, nobody else may take its runs. */
import type { Clock } from '#ports/clock.ts';
import type { Store } from '#ports/store.ts';

/** Signs of life within one life: two may be missed. */
const BEATS_PER_LIFE = 3;

export interface HeartbeatOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly owner: string;
  readonly ttlMs: number;
  /** Called after each sign of life; also when it failed. */
  readonly onBeat: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}

export interface Heartbeat {
  /** Resolves when the first sign is durable; undefined once it is. */
  start(): Promise<void> | undefined;
  /** Gives all runs of this process up. */
  stop(): Promise<void>;
}

/** Beats by the clock, never two at a time. */
export function createHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { store, clock, owner, ttlMs, onError } = options;
  let started: Promise<void> | undefined;
  let disarm: (() => void) | undefined;
  let beating: Promise<void> = Promise.resolve();
  let stopped = false;
  let alive = false;

  const arm = (): void => {
    alive = true;
    if (stopped) return;
    disarm = clock.at(clock.nowMs() + Math.max(1, Math.floor(ttlMs / BEATS_PER_LIFE)), () => {
      beating = beat().then(arm);
    });
  };
  const beat = async (): Promise<void> => {
    try {
      await store.heartbeat(owner, ttlMs);
      if (!stopped) await options.onBeat();
    } catch (error) {
      onError(error);
    }
  };

  return {
    start: () => {
      if (alive) return undefined;
      started ??= store.heartbeat(owner, ttlMs).then(arm, (error: unknown) => {
        started = undefined;
        throw error;
      });
      return started;
    },
    stop: async () => {
      stopped = true;
      disarm?.();
      await beating;
      if (started !== undefined) await store.heartbeat(owner, 0);
    },
  };
}
