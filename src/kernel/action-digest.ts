/** The identity of an action: what is approved, frozen and compared. Source: DESIGN §3.10, RFC 8785. */
import type { EffectAction } from '#contracts/effect-action.ts';
import type { Digest } from '#contracts/ids.ts';
import { canonicalText } from './canonical.ts';
import { digestOf } from './digest.ts';

/** The frozen bytes of an action, as text; undefined when it has no canonical form, so that it can never be applied. */
export function actionText(action: EffectAction): string | undefined {
  return canonicalText(action);
}

/** Over the action's canonical bytes: what an approval is bound to. */
export function actionDigest(action: EffectAction): Digest {
  return digestOf(action);
}

/** Over what is to happen, whoever asks for it in whichever run: a replay has the same, another body under the same key has not. */
export function actionContentDigest(action: EffectAction): Digest {
  const { action: verb, target, tenant, resource, expectedVersion, parameters, idempotencyKey } = action;
  return digestOf({ action: verb, target, tenant, resource, expectedVersion, parameters, idempotencyKey });
}
