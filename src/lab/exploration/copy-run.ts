/** A copy of a run's state that the fold may change without touching the original. Contracts are shared; they never change. */
import type { RunState, StepState } from '#kernel/run-state.ts';

export function copyRun(state: RunState): RunState {
  const effects = mapped(state.effects, (effect) => ({ ...effect }));
  const approvals = mapped(state.approvals, (approval) => ({ ...approval, decisions: [...approval.decisions] }));
  const copy: RunState = { ...state, steps: copySteps(state), approvals, effects };
  // Whatever else a state holds in collections is copied one level deep.
  const fields = copy as unknown as Record<string, unknown>;
  for (const name of collectionsOf(state)) {
    const value = fields[name];
    if (value instanceof Map) fields[name] = new Map(value);
    else if (value instanceof Set) fields[name] = new Set(value);
    else if (Array.isArray(value)) fields[name] = [...value];
  }
  fields['budget'] = state.budget && { ...state.budget };
  // The same effect is in both.
  for (const effectId of state.openEffects.keys()) {
    const effect = effects.get(effectId);
    if (effect !== undefined) copy.openEffects.set(effectId, effect);
  }
  return copy;
}

let collections: readonly string[] | undefined;

/** Looked up once: all states have the same fields. */
function collectionsOf(state: RunState): readonly string[] {
  collections ??= Object.entries(state).flatMap(([name, value]) => {
    const own = name === 'steps' || name === 'approvals' || name === 'effects';
    return !own && (value instanceof Map || value instanceof Set || Array.isArray(value)) ? [name] : [];
  });
  return collections;
}

function copySteps({ steps }: RunState): RunState['steps'] {
  const copies = mapped(steps, (step): StepState => ({
    ...step,
    attempts: step.attempts.map((attempt) => ({ ...attempt })),
    dependents: [],
  }));
  for (const [stepId, { dependents }] of steps) {
    const own = copies.get(stepId);
    const linked = dependents.flatMap(({ step, strength }) => {
      const dependent = copies.get(step.definition.stepId);
      return dependent === undefined ? [] : [{ step: dependent, strength }];
    });
    if (own !== undefined) (own as { dependents: StepState['dependents'] }).dependents = linked;
  }
  return copies;
}

function mapped<K, V>(of: ReadonlyMap<K, V>, copy: (value: V) => V): Map<K, V> {
  const copies = new Map<K, V>();
  for (const [key, value] of of) copies.set(key, copy(value));
  return copies;
}
