/** The part of the fold that concerns a program's calls. Source: docs/decisions/0010. */
import { evidenceKey } from '#contracts/evidence.ts';
import type { EventKind, RunEvent } from '#contracts/event.ts';
import type { RunState } from './run-state.ts';

type EventOf<K extends EventKind> = Extract<RunEvent, { readonly kind: K }>;

/** The call is debited here, whatever comes of it. */
export function permitCall(state: RunState, { body }: EventOf<'call.permitted'>): void {
  state.phase = 'running';
  state.calls.set(body.callId, body.leaseId);
  if (state.budget !== undefined) state.budget.toolCallCountUsed += 1;
}

/** The call is over; its evidence joins the run's under its identity. */
export function settleCall(state: RunState, { body }: EventOf<'call.settled'>): void {
  state.calls.delete(body.call.callId);
  for (const item of body.evidence)
    if (!state.evidence.has(evidenceKey(item))) state.evidence.set(evidenceKey(item), item);
  if (body.error !== null) state.errors.push(body.error);
}
