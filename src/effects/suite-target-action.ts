/** Actions and requests of the target suite, made the way a proposal makes them. */
import type { EffectAction } from '#contracts/effect-action.ts';
import { EFFECT_ACTION_VERSION } from '#contracts/effect-action.ts';
import { canonicalText } from '#kernel/canonical.ts';
import type { ApplyRequest, EffectParameters } from '#ports/effect-target.ts';
import assert from 'node:assert/strict';
import type { TargetSubject } from './suite-target-subject.ts';

export interface ActionOverrides {
  readonly parameters?: EffectParameters;
  readonly idempotencyKey?: string;
  /** Undefined: as it is now. */
  readonly expectedVersion?: string | null;
  readonly run?: string;
}

const unending = new AbortController().signal;

/** Validated, without what is only shown, at the version as it is now. */
export async function actionOf(subject: TargetSubject, overrides: ActionOverrides = {}): Promise<EffectAction> {
  const { target, tenant, resource } = subject;
  const parsed = target.validate(overrides.parameters ?? subject.parameters);
  assert.ok(parsed.ok, `the sample parameters of ${target.name} were refused`);
  const parameters = Object.fromEntries(
    Object.entries(parsed.value).filter(([name]) => !target.presentational.includes(name)),
  );
  const live = await target.read(resource, tenant, unending);
  const expectedVersion =
    overrides.expectedVersion === undefined
      ? (target.expectedVersion?.(parameters) ?? live.version)
      : overrides.expectedVersion;
  const facts = { tenant, resource, expectedVersion, parameters, runId: 'run_suite', stepId: 's1' };
  return {
    contractVersion: EFFECT_ACTION_VERSION,
    action: target.action,
    target: target.name,
    tenant,
    resource,
    expectedVersion,
    parameters,
    idempotencyKey: overrides.idempotencyKey ?? target.idempotencyKey?.(facts) ?? 'run_suite/s1',
    runId: `run_${overrides.run ?? 'suite'}`,
    stepId: 's1',
    requestedBy: 'requester@suite',
  };
}

export function requestOf(action: EffectAction): ApplyRequest {
  const { idempotencyKey, expectedVersion } = action;
  return { action, bytes: bytesOf(action), idempotencyKey, expectedVersion };
}

export function bytesOf(action: EffectAction): Uint8Array {
  return new TextEncoder().encode(canonicalText(action));
}
