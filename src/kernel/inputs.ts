/**
 * A step's input: every value is pointed at, in the frozen goal or in a dependency's settled data, or was given by a person in answer to
 * the step's question; nothing is made up. DESIGN §3.3.
 */
import type { ErrorRecord } from '#contracts/error.ts';
import type { Digest, StepId } from '#contracts/ids.ts';
import type { InputSource } from '#contracts/plan.ts';
import type { Dispatch } from '#contracts/dispatch.ts';
import { digestOf } from './digest.ts';
import { failure } from './failure.ts';
import { resolvePointer, type Resolved } from './pointer.ts';
import type { RunState, StepState } from './run-state.ts';

type Input = Dispatch['input'];

export type ResolvedInputs =
  | { readonly ok: true; readonly input: Input; readonly inputDigest: Digest; readonly resources: readonly string[] }
  | { readonly ok: false; readonly error: ErrorRecord };

/**
 * The input of a step as it is now, its digest, and the resources it names (`claim:C-102`), which bound its lease. Refuses with
 * ERR_INPUT_UNMAPPED when a value is not where the plan points, or when an input that names a resource is no text.
 */
export function resolveInputs(state: RunState, stepId: StepId): ResolvedInputs {
  const step = state.steps.get(stepId);
  if (step === undefined) return unmapped(`The accepted plan has no step ${stepId}.`, { stepId });
  const input: Input = {};
  for (const [name, source] of Object.entries(step.definition.inputs)) {
    const given = Object.hasOwn(step.given, name) ? step.given[name] : undefined;
    if (given !== undefined) {
      input[name] = given;
      continue;
    }
    const found = resolve(state, source);
    if (!found.found || found.value === undefined)
      return unmapped(`Input ${name} of step ${stepId} points at ${where(source)}, ${whyNothing(state, source)}.`, {
        stepId,
        input: name,
      });
    // Goal and settled data have been through their schemas: they are JSON.
    input[name] = found.value as Input[string];
  }
  return withResources(step, input);
}

function withResources(step: StepState, input: Input): ResolvedInputs {
  const resources: string[] = [];
  for (const { type, input: name } of step.skill.resources) {
    const value = input[name];
    const ids: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const id of ids) {
      if (typeof id !== 'string' || id === '')
        return unmapped(`Input ${name} of step ${step.definition.stepId} must name a ${type} by its id.`, {
          stepId: step.definition.stepId,
          input: name,
        });
      resources.push(`${type}:${id}`);
    }
  }
  return { ok: true, input, inputDigest: digestOf(input), resources: [...new Set(resources)] };
}

function resolve(state: RunState, source: InputSource): Resolved {
  if (source.from === 'goal') return resolvePointer(state.goal, source.pointer);
  return resolvePointer(state.steps.get(source.stepId)?.result?.data, source.pointer);
}

/** Data above the record wall stays in its artifact: what a step needs from another must be small. */
function whyNothing(state: RunState, source: InputSource): string {
  const isByDigest = source.from === 'step' && state.steps.get(source.stepId)?.result?.dataDigest !== undefined;
  return isByDigest ? 'whose data is too large for a run and is kept by its digest only' : 'where there is nothing';
}

function where(source: InputSource): string {
  return source.from === 'goal' ? `goal ${source.pointer}` : `step ${source.stepId} ${source.pointer}`;
}

function unmapped(message: string, detail: Readonly<Record<string, string>>): ResolvedInputs {
  return { ok: false, error: failure('ERR_INPUT_UNMAPPED', message, { ...detail }) };
}
