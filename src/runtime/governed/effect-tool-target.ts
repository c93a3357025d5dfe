/** A program's tool as an effect target: what it takes, what it did, and what its owner shows. Source: `ports/effect-target.ts`. */
import { CaseOpsError } from '#contracts/error.ts';
import { canonicalText } from '#kernel/canonical.ts';
import { digestOf } from '#kernel/digest.ts';
import type { Clock } from '#ports/clock.ts';
import type { Applied, EffectJson, EffectTarget, ReadBack } from '#ports/effect-target.ts';
import type { JsonArguments } from './call-arguments.ts';
import type { GivenArguments } from './given-arguments.ts';
import { EFFECT_ANCHOR, type EffectToolFacts } from './effect-tool-case.ts';
import type { GovernedEffectOptions, ShownEffect } from './effect-tool-options.ts';
import { jsonOutput } from './record-mapping.ts';

/** Runs the tool; `observed` is its result as JSON can say it. */
export type RunTool = (
  args: JsonArguments,
  signal: AbortSignal,
) => Promise<{ readonly returned: unknown; readonly observed: unknown }>;

export interface EffectCalls {
  readonly given: GivenArguments;
  /** By idempotency key: how the framework entered the tool, while a call of it waits. */
  readonly entered: Map<string, RunTool>;
  /** By idempotency key: what the tool returned in this process. */
  readonly returned: Map<string, unknown>;
}

interface ToolTargetOptions {
  readonly facts: EffectToolFacts;
  readonly options: GovernedEffectOptions;
  readonly calls: EffectCalls;
  /** When no call waits: after a restart. */
  readonly plainRun: RunTool;
  readonly clock: Clock;
}

/** The key of these arguments: the same arguments on the same occasion have the same effect, in whatever run. */
export function effectKey({ name }: Pick<EffectToolFacts, 'name'>, args: JsonArguments, occasion: string): string {
  return `${name}:${digestOf({ args, occasion }).slice('sha256:'.length)}`;
}

export function createToolTarget(parts: ToolTargetOptions): EffectTarget {
  const { facts, options, calls, plainRun } = parts;
  const shown = new Map<string, ShownEffect>();
  return {
    name: facts.name,
    action: facts.action,
    resourceType: facts.resourceType,
    evidenceType: EFFECT_ANCHOR,
    presentational: [],
    precondition: 'none',
    authoritativeAbsence: options.readBack !== undefined && options.absenceIsFinal === true,
    validate: (value) => {
      const callId = (value as { readonly call_id?: unknown } | null)?.call_id;
      const args = typeof callId === 'string' ? calls.given.find(callId) : undefined;
      return args === undefined
        ? { ok: false, issues: [{ pointer: '/call_id', message: 'no arguments are kept under this call' }] }
        : { ok: true, value: { ...args } };
    },
    idempotencyKey: ({ parameters }) => effectKey(facts, parameters, options.occasion?.(parameters) ?? ''),
    read: async (resource, _tenant, signal) => ({
      version: (await options.version?.(resource.slice(resource.indexOf(':') + 1), signal)) ?? null,
      record: null,
    }),
    apply: async ({ action, idempotencyKey }, signal): Promise<Applied> => {
      const run = calls.entered.get(idempotencyKey) ?? plainRun;
      const { keyArgument } = options;
      const args =
        keyArgument === undefined ? action.parameters : { ...action.parameters, [keyArgument]: idempotencyKey };
      const { returned, observed } = await run(structuredClone(args), signal);
      calls.returned.set(idempotencyKey, returned);
      const record = jsonOutput(facts.name, observed);
      shown.set(idempotencyKey, { reference: idempotencyKey, record });
      return { outcome: 'applied' };
    },
    readBack: (key, { parameters }, signal) => readBack(parts, { key, args: parameters, own: shown.get(key) }, signal),
    postcondition: () => [],
  };
}

interface Asked {
  readonly key: string;
  readonly args: JsonArguments;
  /** What the tool said in this process. */
  readonly own: ShownEffect | undefined;
}

/** The owner's word; without a way to ask it, the tool's own, as long as the process lives. */
async function readBack(
  { options, clock, facts }: ToolTargetOptions,
  { key, args, own }: Asked,
  signal: AbortSignal,
): Promise<ReadBack> {
  if (options.readBack === undefined && own === undefined)
    return { found: 'hidden', message: `There is no way to ask the owner of ${facts.name}.` };
  const effect = options.readBack === undefined ? own : await options.readBack(key, args, signal);
  if (effect === undefined) return { found: 'absent' };
  const record = jsonOutput(facts.name, effect.record);
  if (canonicalText(record) === undefined)
    throw new CaseOpsError('ERR_SCHEMA', `The owner of ${facts.name} shows no JSON.`, { at: 'runtime' });
  const json = record as EffectJson;
  const { reference, appliedAt = clock.now() } = effect;
  return { found: 'applied', reference, version: null, appliedAt, record: json, data: { result: json } };
}
