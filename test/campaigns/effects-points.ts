/** Where the write path leaves something behind, and how a campaign stops a process right before or after it. */
import type { RunEvent } from '#contracts/event.ts';
import type { EffectTarget } from '#ports/effect-target.ts';
import type { Store } from '#ports/store.ts';

/** Commits of the write path by the event that they write, and the owner's own. */
export const PERSISTED_POINTS = [
  'approval.granted',
  'effect.intended',
  'owner.applied',
  'effect.sent',
  'effect.reconciled',
  'effect.retried',
  'effect.confirmed',
] as const;
export type PersistedPoint = (typeof PERSISTED_POINTS)[number];

export interface StopAt {
  readonly point: string;
  readonly when: 'before' | 'after';
}

/** Does not return when the process is to end here. */
export type Stop = () => Promise<void>;

export function stopAtCommit(store: Store, { point, when }: StopAt, stop: Stop): Store {
  const isPoint = (events: readonly RunEvent[]): boolean => events.some(({ kind }) => kind === point);
  return {
    ...store,
    commit: async (commit) => {
      const here = isPoint(commit.events);
      if (here && when === 'before') await stop();
      const outcome = await store.commit(commit);
      if (here && when === 'after') await stop();
      return outcome;
    },
  };
}

export function stopAtOwner(target: EffectTarget, { point, when }: StopAt, stop: Stop): EffectTarget {
  if (point !== 'owner.applied') return target;
  return {
    ...target,
    apply: async (request, signal) => {
      if (when === 'before') await stop();
      const applied = await target.apply(request, signal);
      if (when === 'after') await stop();
      return applied;
    },
  };
}
