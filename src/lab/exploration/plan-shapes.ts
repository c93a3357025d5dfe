/**
 * All shapes of plans up to a size, up to isomorphism: two plans that differ in the names or the order of their steps alone are one.
 * Source: issue 5 "Exhaustive exploration".
 */

export type Edge = 'none' | 'strong' | 'weak';

export interface ShapeStep {
  readonly required: boolean;
  readonly effect: boolean;
}

export interface PlanShape {
  readonly steps: readonly ShapeStep[];
  /** `edges[to][from]`: what step `to` waits for; only earlier steps, so that there is no cycle. */
  readonly edges: readonly (readonly Edge[])[];
}

const EFFECT_COUNT_MAX = 2;
const EDGES: readonly Edge[] = ['none', 'strong', 'weak'];
const STEPS: readonly ShapeStep[] = [
  { required: true, effect: false },
  { required: false, effect: false },
  { required: true, effect: true },
  { required: false, effect: true },
];

/** Each shape of exactly `stepCount` steps once, with at most two effects. */
export function planShapes(stepCount: number): readonly PlanShape[] {
  const seen = new Set<string>();
  const found: PlanShape[] = [];
  const pairCount = (stepCount * (stepCount - 1)) / 2;
  for (const steps of words(STEPS, stepCount)) {
    if (steps.filter(({ effect }) => effect).length > EFFECT_COUNT_MAX) continue;
    for (const edges of words(EDGES, pairCount)) {
      const shape = { steps, edges: lowerTriangle(edges, stepCount) };
      const key = canonicalName(shape);
      if (seen.has(key)) continue;
      seen.add(key);
      found.push(shape);
    }
  }
  return found;
}

/** `r` or `e` for each step, `?` for an optional one, then what it waits for: `r1 e2?(1,~1)`, `~` weakly. */
export function shapeName({ steps, edges }: PlanShape): string {
  const names = steps.map(({ effect }, index) => `${effect ? 'e' : 'r'}${index + 1}`);
  return steps
    .map(({ required }, to) => {
      const after = (edges[to] ?? []).flatMap((edge, from) => {
        if (edge === 'none') return [];
        return [edge === 'weak' ? `~${names[from]}` : `${names[from]}`];
      });
      const waits = after.length === 0 ? '' : `(${after.join(',')})`;
      return `${names[to]}${required ? '' : '?'}${waits}`;
    })
    .join(' ');
}

/** The shape of a name, as `shapeName` writes it; what it names must come before. */
export function shapeOf(name: string): PlanShape {
  const parts = name.split(' ').map((word) => /^([re])(\d+)(\??)(?:\((.*)\))?$/.exec(word) ?? []);
  const places = new Map(parts.map(([, kind, number], index) => [`${kind}${number}`, index]));
  return {
    steps: parts.map(([, kind, , mark]) => ({ required: mark !== '?', effect: kind === 'e' })),
    edges: parts.map(([, , , , after = ''], to) => {
      const row: Edge[] = Array.from({ length: to }, () => 'none');
      for (const on of after.split(',').filter(Boolean)) {
        const weak = on.startsWith('~');
        row[places.get(weak ? on.slice(1) : on) ?? to] = weak ? 'weak' : 'strong';
      }
      return row;
    }),
  };
}

/** The renamings of a shape's steps that change nothing about it, the identity first: `by[i]` is the step in whose place `i` stands. */
export function symmetriesOf(shape: PlanShape): readonly (readonly number[])[] {
  const own = nameUnder(
    shape,
    shape.steps.map((_, index) => index),
  );
  return permutations(shape.steps.length).filter((by) => nameUnder(shape, by) === own);
}

function canonicalName(shape: PlanShape): string {
  const names = permutations(shape.steps.length).map((by) => nameUnder(shape, by));
  return names.reduce((least, name) => (name < least ? name : least));
}

function nameUnder({ steps, edges }: PlanShape, by: readonly number[]): string {
  const labels = by.map(
    (old) => `${steps[old]?.required === true ? 'R' : 'o'}${steps[old]?.effect === true ? 'E' : 'r'}`,
  );
  const lines = by.map((to) => by.map((from) => letterOf(edges[to]?.[from])).join(''));
  return `${labels.join(' ')} ${lines.join(' ')}`;
}

function letterOf(edge: Edge | undefined): string {
  if (edge === 'strong') return 's';
  return edge === 'weak' ? 'w' : '.';
}

function lowerTriangle(edges: readonly Edge[], stepCount: number): readonly (readonly Edge[])[] {
  let at = 0;
  return Array.from({ length: stepCount }, (_, to) => {
    const row = edges.slice(at, at + to);
    at += to;
    return row;
  });
}

/** All words of a length over an alphabet. */
function words<T>(alphabet: readonly T[], length: number): readonly (readonly T[])[] {
  let all: readonly (readonly T[])[] = [[]];
  for (let at = 0; at < length; at += 1) all = all.flatMap((word) => alphabet.map((letter) => [...word, letter]));
  return all;
}

/** The identity comes first. */
function permutations(count: number): readonly (readonly number[])[] {
  if (count === 0) return [[]];
  return permutations(count - 1)
    .flatMap((rest) => Array.from({ length: count }, (_, at) => rest.toSpliced(count - 1 - at, 0, count - 1)))
    .toSorted((one, other) => (one.join() < other.join() ? -1 : 1));
}
