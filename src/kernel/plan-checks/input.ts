/** Is each input of a skill mapped, from a place where a value of the right kind will be. A plan can point; it cannot make up values. */
import type { InputSource } from '#contracts/plan.ts';
import type { SkillContract } from '#contracts/skill.ts';
import { escapePointer, resolvePointer } from '../pointer.ts';
import { goalValue } from './goal-value.ts';
import type { PlanCheck, PlanContext, PlannedStep, Report } from './context.ts';

export const checkInputs: PlanCheck = (context, report) => {
  for (const entry of context.planned) {
    const { step, at, skill } = entry;
    if (skill === undefined) continue;
    const kinds = new Map(skill.requires.map(({ name, kind }) => [name, kind]));
    for (const name of kinds.keys())
      if (!Object.hasOwn(step.inputs, name))
        report('INPUT_UNMAPPED', `${at}/inputs`, { expected: `a source for ${name}`, got: 'none' });
    for (const [name, source] of Object.entries(step.inputs)) {
      const kind = kinds.get(name);
      const pointer = `${at}/inputs/${escapePointer(name)}`;
      if (kind === undefined)
        report('INPUT_UNKNOWN', pointer, { expected: `an input of skill ${skill.skillId}`, got: name });
      else if (source.from === 'goal') checkGoalSource(context, report, { name, kind, source, pointer, skill });
      else checkStepSource(context, report, { entry, kind, source, pointer });
    }
  }
};

function checkGoalSource(
  { goal }: PlanContext,
  report: Report,
  input: {
    readonly name: string;
    readonly kind: string;
    readonly source: InputSource & { from: 'goal' };
    readonly pointer: string;
    readonly skill: SkillContract;
  },
): void {
  const found = goalValue(goal, input.source.pointer);
  if (found === undefined) {
    const expected = 'a value of the goal under /entities or /subject/ids';
    return report('INPUT_SOURCE_GOAL', `${input.pointer}/pointer`, { expected, got: input.source.pointer });
  }
  const givesList = Array.isArray(found.value);
  const fits = fitsType(input.skill, input.name, givesList);
  if (found.kind !== input.kind || !fits)
    report('INPUT_KIND', `${input.pointer}/pointer`, {
      expected: `${fits === givesList ? 'a list of ' : ''}${input.kind}`,
      got: `${givesList ? 'a list of ' : ''}${found.kind}`,
    });
}

/** Where the skill's schema names one type for the input, a list must be a list; else its values decide at dispatch. */
function fitsType(skill: SkillContract, name: string, givesList: boolean): boolean {
  const type = resolvePointer(skill.input.schema, `/properties/${escapePointer(name)}/type`);
  return !type.found || (type.value === 'array') === givesList;
}

function checkStepSource(
  { byId }: PlanContext,
  report: Report,
  input: {
    readonly entry: PlannedStep;
    readonly kind: string;
    readonly source: InputSource & { from: 'step' };
    readonly pointer: string;
  },
): void {
  const { source, pointer, entry } = input;
  const dependency = entry.step.dependsOn.find(({ stepId }) => stepId === source.stepId);
  const upstream = byId.get(source.stepId);
  if (dependency === undefined || upstream === undefined) {
    const expected = 'a dependency of this step';
    return report('INPUT_SOURCE_STEP', `${pointer}/stepId`, { expected, got: source.stepId });
  }
  // A weak dependency may have failed, and then there is no value: an input cannot rest on it.
  if (dependency.strength === 'weak')
    report('INPUT_WEAK_SOURCE', `${pointer}/stepId`, {
      expected: 'a strong dependency',
      got: `${source.stepId}, weak`,
    });
  if (upstream.skill === undefined) return;
  const outputs = upstream.skill.produces.filter((output) => output.pointer === source.pointer);
  if (outputs.length === 0)
    report('INPUT_SOURCE_STEP', `${pointer}/pointer`, {
      expected: `an output of skill ${upstream.skill.skillId}`,
      got: source.pointer,
    });
  else if (!outputs.some(({ kind }) => kind === input.kind))
    report('INPUT_KIND', `${pointer}/pointer`, {
      expected: input.kind,
      got: outputs.map(({ kind }) => kind).join(' or '),
    });
}
