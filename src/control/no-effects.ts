/** A deployment that applies nothing: every effect skill is unavailable, and whatever asks for one is told so. */
import { CaseOpsError } from '#contracts/error.ts';
import type { EffectWriter } from '#ports/effect-writer.ts';
import { createApprovalPolicy } from './approval-policy.ts';
import type { EffectParts } from './propose-effect.ts';

const refuse = (): Promise<never> =>
  Promise.reject(
    new CaseOpsError('ERR_EFFECT_TARGET', 'No effect target is configured here; nothing can be applied.', {
      at: 'control',
      retryable: false,
    }),
  );

const writer: EffectWriter = {
  offers: [],
  prepare: refuse,
  replay: refuse,
  apply: refuse,
  reconcile: refuse,
  compensate: refuse,
};

export const noEffects: EffectParts = { writer, policy: createApprovalPolicy('none', []) };
