/** The end of a cancellation. Source: DESIGN §4 "Cancellation". */
import type { EventBody, EventDraft } from '#contracts/event.ts';
import { closeOpenSteps, type Draft, end, openDraft } from './draft.ts';
import { plannedRun } from './planned-run.ts';
import type { RunState } from './run-state.ts';

const UNRESOLVED_COUNT_MAX = 1_000;

/** Closes what is open (after the events of `begun`, which it adds to), records what nobody confirmed as stopped, and ends the run as cancelled. */
export function settleCancellation(
  state: RunState,
  at: string,
  of: { readonly unresolved: EventBody<'cancel.settled'>['unresolved']; readonly begun?: Draft },
): readonly EventDraft[] {
  const run = plannedRun(state);
  const draft = of.begun ?? (run === undefined ? undefined : openDraft(state, run, at));
  const events = draft?.events ?? [];
  if (draft !== undefined) closeOpenSteps(draft, 'The run was cancelled.');
  events.push({ kind: 'cancel.settled', body: { unresolved: of.unresolved.slice(0, UNRESOLVED_COUNT_MAX) } });
  end(
    { events },
    { result: 'cancelled', needsHuman: draft?.needsHuman ?? state.needsHuman, reason: 'Cancelled on request.' },
  );
  return events;
}
