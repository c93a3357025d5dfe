/** The machine's clock: the only place beside the seeded clock that reads time or arms a timer. */
import type { Clock } from '#ports/clock.ts';

/** Node's timers hold 31 bits of milliseconds; a longer wait is armed in legs. */
const TIMER_MS_MAX = 2_147_483_647;

/** Wall time. A timer keeps the process alive until it is called back or disarmed. */
export const systemClock: Clock = {
  now: () => new Date().toISOString(),
  nowMs: () => Date.now(),
  at: arm,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      const onAbort = (): void => {
        disarm();
        reject(signal?.reason as Error);
      };
      const disarm = arm(Date.now() + ms, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, { once: true });
    }),
};

function arm(atMs: number, callback: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const leg = (): void => {
    timer = setTimeout(fire, Math.min(Math.max(0, atMs - Date.now()), TIMER_MS_MAX));
  };
  // Node may call back up to a millisecond early, and the wall clock may have been set back.
  const fire = (): void => (Date.now() < atMs ? leg() : callback());
  leg();
  return () => clearTimeout(timer);
}
