/** The events of a run as they are committed: first those already there, then live. Source: SURFACES "SSE per run". */
import type { RunRef } from '#contracts/command.ts';
import type { RunEvent } from '#contracts/event.ts';
import type { Clock } from '#ports/clock.ts';
import type { Store } from '#ports/store.ts';

const PAGE_COUNT = 256;
/** Another process may commit too, and it tells nobody here. */
const POLL_MS = 1_000;

/** Ends after `run.ended`, at once when that lies before `afterSeq`, and when the signal aborts. Misses and repeats no event. */
export async function* followRun(
  options: { readonly store: Store; readonly clock: Clock },
  from: { readonly ref: RunRef; readonly afterSeq: number },
  signal: AbortSignal,
): AsyncGenerator<RunEvent, void, undefined> {
  const { store, clock } = options;
  let wake: (() => void) | undefined;
  const stop = store.onCommit((_events, { ref }) => {
    if (ref.runId === from.ref.runId && ref.tenant === from.ref.tenant) wake?.();
  });
  try {
    let { afterSeq } = from;
    while (!signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      const head = await store.head(from.ref);
      const page = await store.events(from.ref, afterSeq, PAGE_COUNT);
      for (const event of page) {
        yield event;
        afterSeq = event.seq;
        if (event.kind === 'run.ended') return;
      }
      if (page.length > 0) continue;
      if (head === undefined || head.phase === 'ended') return;
      const turn = new AbortController();
      const either = AbortSignal.any([signal, turn.signal]);
      await Promise.race([promise, clock.sleep(POLL_MS, either).catch(() => undefined)]);
      turn.abort();
    }
  } finally {
    stop();
  }
}
