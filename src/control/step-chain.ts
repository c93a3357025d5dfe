/**
 * Backward chaining: from a wanted output to the skill that produces it, and from that skill's inputs to what produces those, until the
 * goal's own entities are reached. Source: DESIGN §3.3.
 */
import type { GoalContract } from '#contracts/goal.ts';
import type { InputSource } from '#contracts/plan.ts';
import type { SkillContract } from '#contracts/skill.ts';
import { escapePointer, resolvePointer } from '#kernel/pointer.ts';

/** A step that a plan needs: one skill on one set of inputs. */
export interface ChainStep {
  readonly skill: SkillContract;
  /** By input name: a value of the goal, or an output of another step. */
  readonly inputs: Readonly<Record<string, ChainSource>>;
}

type ChainSource =
  | { readonly from: 'goal'; readonly source: InputSource }
  | { readonly from: 'step'; readonly step: ChainStep; readonly pointer: string };

/** One value of an entity that an output is wanted for. */
export interface Focus {
  readonly entity: string;
  readonly index: number;
}

export interface ChainBuilder {
  /** The step that produces `kind`, with all it needs; undefined when no skill can. Asking again returns the same step. */
  produce(kind: string, focus: Focus | undefined): ChainStep | undefined;
}

/** `skills` in the order of preference; the first that can be fed wins. */
export function chainBuilder(goal: GoalContract, skills: readonly SkillContract[]): ChainBuilder {
  const producers = producersOf(goal, skills);
  const steps = new Map<string, ChainStep>();
  const names = new Map<ChainStep, string>();
  const built = new Map<string, ChainStep>();
  const build = (kind: string, focus: Focus | undefined, open: ReadonlySet<SkillContract>): ChainStep | undefined => {
    const wanted = `${kind} ${focus?.entity ?? ''} ${focus?.index ?? ''}`;
    const known = built.get(wanted);
    if (known !== undefined) return known;
    for (const skill of producers.get(kind) ?? []) {
      const step = open.has(skill) ? undefined : feed(skill, focus, new Set([...open, skill]));
      if (step === undefined) continue;
      built.set(wanted, step);
      return step;
    }
    return undefined;
  };
  const feed = (
    skill: SkillContract,
    focus: Focus | undefined,
    open: ReadonlySet<SkillContract>,
  ): ChainStep | undefined => {
    const inputs: Record<string, ChainSource> = {};
    for (const { name, kind } of skill.requires) {
      const source = fromGoal(goal, skill, { name, kind, focus }) ?? fromStep(kind, build(kind, focus, open));
      if (source === undefined) return undefined;
      inputs[name] = source;
    }
    // One step per distinct (skill, inputs).
    const key = JSON.stringify([
      [skill.team, skill.skillId, skill.version],
      Object.entries(inputs).map(([name, input]) =>
        input.from === 'goal' ? [name, input.source] : [name, names.get(input.step), input.pointer],
      ),
    ]);
    const step = steps.get(key) ?? { skill, inputs };
    steps.set(key, step);
    names.set(step, names.get(step) ?? `${names.size}`);
    return step;
  };
  return { produce: (kind, focus) => build(kind, focus, new Set()) };
}

/**
 * By output kind: the skills that can be fed at all from the goal's entities, so that no dead end is searched. Found forwards: a skill counts
 * when all it requires can be had.
 */
function producersOf(
  goal: GoalContract,
  skills: readonly SkillContract[],
): ReadonlyMap<string, readonly SkillContract[]> {
  const had = new Set(Object.keys(goal.entities));
  let fed: readonly SkillContract[] = [];
  for (;;) {
    const next = skills.filter((skill) => skill.requires.every(({ kind }) => had.has(kind)));
    if (next.length === fed.length) break;
    fed = next;
    for (const skill of fed) for (const { kind } of skill.produces) had.add(kind);
  }
  const producers = new Map<string, SkillContract[]>();
  for (const skill of fed)
    for (const { kind } of skill.produces) {
      const list = producers.get(kind) ?? [];
      if (!list.includes(skill)) list.push(skill);
      producers.set(kind, list);
    }
  return producers;
}

function fromStep(kind: string, step: ChainStep | undefined): ChainSource | undefined {
  const output = step?.skill.produces.find((candidate) => candidate.kind === kind);
  return step === undefined || output === undefined ? undefined : { from: 'step', step, pointer: output.pointer };
}

/** A single value for an input that takes one, a list for an input that takes a list; the focused value of an entity with several. */
function fromGoal(
  goal: GoalContract,
  skill: SkillContract,
  wanted: { readonly name: string; readonly kind: string; readonly focus: Focus | undefined },
): ChainSource | undefined {
  const { name, kind, focus } = wanted;
  const value = Object.hasOwn(goal.entities, kind) ? goal.entities[kind] : undefined;
  if (value === undefined) return undefined;
  const type = resolvePointer(skill.input.schema, `/properties/${escapePointer(name)}/type`);
  const takesList = type.found && type.value === 'array';
  const pointer = `/entities/${escapePointer(kind)}`;
  if (typeof value === 'string') return takesList ? undefined : goalSource(pointer);
  if (takesList) return goalSource(pointer);
  if (focus?.entity === kind) return goalSource(`${pointer}/${focus.index}`);
  return value.length === 1 ? goalSource(`${pointer}/0`) : undefined;
}

function goalSource(pointer: string): ChainSource {
  return { from: 'goal', source: { from: 'goal', pointer } };
}
