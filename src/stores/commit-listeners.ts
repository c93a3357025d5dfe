/** Who hears of each durable commit. */
import type { RunEvent } from '#contracts/event.ts';
import type { RunHead } from '#ports/store.ts';

type Listener = (events: readonly RunEvent[], head: RunHead) => void;

export interface Listeners {
  /** Returns the function that stops it. */
  readonly add: (listener: Listener) => () => void;
  readonly tell: Listener;
}

/** A listener's failure is its own: the commit stands, the others are told, and the process is warned. */
export function createListeners(): Listeners {
  const listeners = new Set<Listener>();
  return {
    add: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    tell: (events, head) => {
      for (const listener of listeners) {
        try {
          listener(events, head);
        } catch (error) {
          process.emitWarning(error instanceof Error ? error : String(error), { code: 'CASEOPS_COMMIT_LISTENER' });
        }
      }
    },
  };
}
