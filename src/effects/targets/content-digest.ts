/**
 * What an owner keeps beside an idempotency key, so that the key cannot be used for something else. It leaves out the run that asked:
 * a replay by another run is the same effect. Source: DESIGN §3.10; INV-12.
 */
import type { EffectAction } from '#contracts/effect-action.ts';
import type { Digest } from '#contracts/ids.ts';
import { digestOf } from '#kernel/digest.ts';

/** Over action, tenant, resource, expected version and parameters. */
export function contentDigestOf(action: EffectAction): Digest {
  const { action: name, tenant, resource, expectedVersion, parameters } = action;
  return digestOf({ action: name, tenant, resource, expectedVersion, parameters });
}
