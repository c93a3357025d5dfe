/**
 * Runs whose last write ended in an error: it may be durable all the same. Each is looked at again soon, so that what was written goes on
 * here, whether or not somebody else sends it a command. DESIGN §4 (the store is the only memory that counts).
 */
import type { RunRef } from '#contracts/command.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { Clock } from '#ports/clock.ts';
import type { Driver } from '#ports/driver.ts';
import { runKey } from './run-table.ts';

const LOOK_MS = 1_000;

export interface SecondLook {
  /** Looks at the run after a second, and again until the store answers. */
  at(ref: RunRef): void;
  stop(): void;
}

export function createSecondLook(parts: {
  readonly clock: Clock;
  readonly actor: string;
  readonly report: (error: unknown, at: { readonly ref: RunRef }) => void;
  readonly deliver: Driver<RunState>['deliver'];
}): SecondLook {
  const { clock, actor, report, deliver } = parts;
  const waiting = new Map<string, () => void>();
  let stopped = false;
  const look = (ref: RunRef): void => {
    const key = runKey(ref);
    if (stopped || waiting.has(key)) return;
    const disarm = clock.at(clock.nowMs() + LOOK_MS, () => {
      waiting.delete(key);
      // A run that was never written has nothing to go on with: it is refused, and that is an answer.
      deliver(ref, { kind: 'tick', at: clock.now(), actor }).catch((error: unknown) => {
        report(error, { ref });
        look(ref);
      });
    });
    waiting.set(key, disarm);
  };
  return {
    at: look,
    stop: () => {
      stopped = true;
      for (const disarm of waiting.values()) disarm();
      waiting.clear();
    },
  };
}
