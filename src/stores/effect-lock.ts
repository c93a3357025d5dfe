import type { EffectRow } from '#contracts/effect-row.ts';
import { holdsResource } from '#kernel/effect-state.ts';

/** What an open effect holds: at most one row per tenant has it. */
export function resourceLock({ state, target, resource }: EffectRow): string | null {
  return holdsResource(state) ? `${target} ${resource}` : null;
}
