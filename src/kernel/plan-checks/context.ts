/** What every plan check reads: the plan, what it is checked against, and the indexes that keep each check linear. */
import type { CapabilityCard, CapabilitySnapshot } from '#contracts/capability-snapshot.ts';
import type { GoalContract } from '#contracts/goal.ts';
import type { Digest, StepId } from '#contracts/ids.ts';
import type { FindingCode, Plan, PlanStep } from '#contracts/plan.ts';
import type { SkillContract } from '#contracts/skill.ts';
import { coverageOf, type Coverage } from './coverage.ts';
import { entityValues } from './goal-value.ts';

export interface PlanAgainst {
  readonly goal: GoalContract;
  readonly goalDigest: Digest;
  readonly snapshot: CapabilitySnapshot;
  /** When it is decided, RFC 3339 UTC. */
  readonly at: string;
  /** The version the next accepted plan of this run must have. */
  readonly planVersion: number;
}

/** A step with what the snapshot knows about it. */
export interface PlannedStep {
  readonly step: PlanStep;
  /** Pointer of the step in the plan. */
  readonly at: string;
  readonly card: CapabilityCard | undefined;
  /** The contract of exactly this team, skill and version, whether available or not. */
  readonly skill: SkillContract | undefined;
}

export interface PlanContext extends PlanAgainst {
  readonly plan: Plan;
  readonly planned: readonly PlannedStep[];
  /** The first step of each id. */
  readonly byId: ReadonlyMap<StepId, PlannedStep>;
  /** Dependencies before dependents; a step on a cycle, or behind one, is not in it. */
  readonly order: readonly PlannedStep[];
  /** Output kind → the steps whose skill produces it, in plan order. */
  readonly producers: ReadonlyMap<string, readonly PlannedStep[]>;
  /** Output kind asked for once per value of an entity → these values and the steps that speak of them. */
  readonly perValue: ReadonlyMap<string, PerValue>;
}

interface PerValue {
  readonly entity: string;
  readonly values: readonly string[];
  readonly coverage: Coverage;
}

export type Report = (
  code: FindingCode,
  pointer: string,
  said: { readonly expected: string; readonly got: string },
) => void;
export type PlanCheck = (context: PlanContext, report: Report) => void;

export function planContext(plan: Plan, against: PlanAgainst): PlanContext {
  const cards = new Map(against.snapshot.cards.map((card) => [card.team, card]));
  const skills = new Map(against.snapshot.skills.map((skill) => [skillKey(skill), skill]));
  const planned = plan.steps.map((step, index): PlannedStep => ({
    step,
    at: `/steps/${index}`,
    card: cards.get(step.team),
    skill: skills.get(skillKey({ team: step.team, skillId: step.skillId, version: step.skillVersion })),
  }));
  const byId = new Map<StepId, PlannedStep>();
  const producers = new Map<string, PlannedStep[]>();
  for (const entry of planned) {
    if (!byId.has(entry.step.stepId)) byId.set(entry.step.stepId, entry);
    for (const { kind } of entry.skill?.produces ?? []) append(producers, kind, entry);
  }
  const order = topologicalOrder(planned, byId);
  return { ...against, plan, planned, byId, producers, order, perValue: perValueOf(against.goal, order) };
}

/** Adds to the list under `key`. */
export function append<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** The known steps that a step depends on, each once. */
export function dependenciesOf(entry: PlannedStep, byId: PlanContext['byId']): ReadonlySet<PlannedStep> {
  return new Set(entry.step.dependsOn.flatMap(({ stepId }) => byId.get(stepId) ?? []));
}

function perValueOf(goal: GoalContract, order: readonly PlannedStep[]): ReadonlyMap<string, PerValue> {
  const wanted = goal.requestedOutputs.flatMap(({ kind, forEach }) =>
    forEach === undefined ? [] : [{ kind, forEach }],
  );
  const entities = new Set(wanted.map(({ forEach }) => forEach));
  const coverages = new Map([...entities].map((entity) => [entity, coverageOf(goal, order, entity)]));
  return new Map(
    wanted.map(({ kind, forEach }) => [
      kind,
      { entity: forEach, values: entityValues(goal, forEach), coverage: coverages.get(forEach) as Coverage },
    ]),
  );
}

function skillKey(skill: Pick<SkillContract, 'team' | 'skillId' | 'version'>): string {
  return `${skill.team} ${skill.skillId} ${skill.version}`;
}

function topologicalOrder(planned: readonly PlannedStep[], byId: PlanContext['byId']): readonly PlannedStep[] {
  const waiting = new Map<PlannedStep, number>();
  const dependents = new Map<PlannedStep, PlannedStep[]>();
  const order: PlannedStep[] = [];
  for (const entry of planned) {
    const dependencies = dependenciesOf(entry, byId);
    waiting.set(entry, dependencies.size);
    if (dependencies.size === 0) order.push(entry);
    for (const dependency of dependencies) append(dependents, dependency, entry);
  }
  // The list grows while it is read: each step is appended once, when its last dependency is passed.
  for (const done of order)
    for (const dependent of dependents.get(done) ?? []) {
      const left = Number(waiting.get(dependent)) - 1;
      waiting.set(dependent, left);
      if (left === 0) order.push(dependent);
    }
  return order;
}
