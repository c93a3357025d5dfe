/** What applies a promotion in a running deployment. Loaded in the supervisor's process alone. */
import type { EffectContext } from 'caseops';
import type { EffectTarget } from 'caseops/effects';
import { join } from 'node:path';
import { promotionTarget } from './promotion-target.ts';

/** The flags of a tenant are in `flags/<tenant>.flagd.json` of the writer's folder. */
export function effectTargets({ directory, clock }: EffectContext): readonly EffectTarget[] {
  return [promotionTarget({ directory: join(directory, 'flags'), clock })];
}
