/** The checkpoint of a run, from its state. */
import type { Digest } from '#contracts/ids.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { RunHead } from '#ports/store.ts';

/** Of a run that was received: its hash is that of its last event. */
export function runHead(state: RunState): RunHead {
  const { origin, goal } = state;
  return {
    ref: state.ref,
    level: state.level,
    seq: state.seq,
    hash: state.hash as Digest,
    phase: state.phase,
    result: state.result,
    needsHuman: state.needsHuman,
    kind: goal?.kind ?? '',
    subject: goal === undefined ? '' : goal.subject.ids.map((id) => `${goal.subject.type}:${id}`).join(','),
    requestedBy: origin.level === 'central' ? origin.requestedBy : origin.subject,
    startedAt: state.receivedAt,
    updatedAt: state.updatedAt,
  };
}
