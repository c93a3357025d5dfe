/** From what a step asks for to a canonical action: validated and defaulted by the target, on the live version. Applies nothing. */
import { EFFECT_ACTION_VERSION, effectAction, type EffectAction } from '#contracts/effect-action.ts';
import { type ErrorCode, ERROR_CODES, toErrorRecord } from '#contracts/error.ts';
import type { EffectParameters, EffectTarget, LiveRecord } from '#ports/effect-target.ts';
import type { ActionRequest, PreparedAction } from '#ports/effect-writer.ts';
import type { WriterParts } from './writer-options.ts';

export async function prepareAction(
  parts: Pick<WriterParts, 'targetOf'>,
  request: ActionRequest,
  signal: AbortSignal,
): Promise<PreparedAction> {
  const { action, resource, stepId, ref } = request;
  const target = parts.targetOf({ action, resource });
  if (target === undefined)
    return refused('ERR_EFFECT_TARGET', `No target applies ${action} to ${resource} (step ${stepId}).`, false);
  const parsed = target.validate(request.parameters);
  if (!parsed.ok) {
    const issues = parsed.issues.slice(0, 8).map(({ pointer, message }) => `${pointer || '/'}: ${message}`);
    return refused('ERR_EFFECT_PARAMETERS', `Step ${stepId}, target ${target.name}: ${issues.join('; ')}.`, false);
  }
  let live: LiveRecord;
  try {
    live = await target.read(resource, ref.tenant, signal);
  } catch (error) {
    return { ok: false, error: toErrorRecord(error, { code: 'ERR_EFFECT_TARGET', at: target.name }) };
  }
  const { shown, bound } = split(parsed.value, target.presentational);
  const built = actionOf(target, request, { parameters: bound, live });
  if (built === undefined)
    return refused('ERR_EFFECT_PARAMETERS', `Step ${stepId} makes no lawful action for target ${target.name}.`, false);
  return { ok: true, action: built, presentational: shown, before: live.record, liveVersion: live.version };
}

function actionOf(
  target: EffectTarget,
  { ref, stepId, requestedBy, action, resource }: ActionRequest,
  of: { readonly parameters: EffectParameters; readonly live: LiveRecord },
): EffectAction | undefined {
  const { tenant, runId } = ref;
  const { parameters, live } = of;
  const expectedVersion = target.expectedVersion?.(parameters) ?? live.version;
  const facts = { tenant, resource, expectedVersion, parameters, runId, stepId };
  const idempotencyKey = target.idempotencyKey?.(facts) ?? `${action}:${runId}:${stepId}`;
  const parsed = effectAction.safeParse({
    contractVersion: EFFECT_ACTION_VERSION,
    action,
    target: target.name,
    tenant,
    resource,
    expectedVersion,
    parameters,
    idempotencyKey,
    runId,
    stepId,
    requestedBy,
  });
  return parsed.success ? parsed.data : undefined;
}

/** Presentational parameters apart from those that are approved and applied. */
function split(
  parameters: EffectParameters,
  presentational: readonly string[],
): { readonly shown: EffectParameters; readonly bound: EffectParameters } {
  const entries = Object.entries(parameters);
  return {
    shown: Object.fromEntries(entries.filter(([name]) => presentational.includes(name))),
    bound: Object.fromEntries(entries.filter(([name]) => !presentational.includes(name))),
  };
}

function refused(code: ErrorCode, message: string, retryable: boolean): PreparedAction {
  return {
    ok: false,
    error: { code, kind: ERROR_CODES[code], message: message.slice(0, 2_000), at: 'writer', retryable },
  };
}
