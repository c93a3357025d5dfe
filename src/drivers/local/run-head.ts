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
    kind: goal?.kind ?? (origin.level === 'governed' ? 'governed-calls' : ''),
    subject: subjectOf(state),
    requestedBy: origin.level === 'team' ? origin.subject : origin.requestedBy,
    startedAt: state.receivedAt,
    updatedAt: state.updatedAt,
  };
}

function subjectOf({ goal, origin }: RunState): string {
  if (goal !== undefined) return goal.subject.ids.map((id) => `${goal.subject.type}:${id}`).join(',');
  return origin.level === 'governed' ? origin.purpose : '';
}
