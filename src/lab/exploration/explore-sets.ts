/** Explores sets of plans, here or shared out over processes, and adds up what was seen. */
import { availableParallelism } from 'node:os';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { systemClock } from '#runtime/system-clock.ts';
import type { CheckObject } from '../check-object.ts';
import { type Counterexample, explorePlan, type Kernel } from './explore-plan.ts';
import { exploredSets } from './explored-sets.ts';
import { SHIPPED_KERNEL } from './shipped-kernel.ts';

/** A part of the plans of some sets. */
export interface ExploreOrder {
  /** All when empty. */
  readonly sets: readonly string[];
  readonly part: number;
  readonly partCount: number;
}

export interface SetTotals {
  readonly planCount: number;
  readonly stateCount: number;
  readonly transitionCount: number;
  readonly endCount: number;
  /** Moves to the state that is furthest from the beginning. */
  readonly depthMax: number;
  readonly incompletePlans: readonly string[];
  readonly counterexamples: readonly Counterexample[];
}

export type Totals = Readonly<Record<string, SetTotals>>;

export interface ExploreCheck extends CheckObject {
  /** Every reachable state of every plan was expanded. */
  readonly complete: boolean;
  readonly sets: Readonly<Record<string, Omit<SetTotals, 'counterexamples' | 'incompletePlans'>>>;
  readonly counterexamples: readonly Counterexample[];
}

const STATE_COUNT_MAX = 2_000_000;
const COUNTEREXAMPLE_COUNT_MAX = 10;
const FINDINGS_PER_PLAN = 3;

/** Explores a part here. */
export function exploreHere(order: ExploreOrder, kernel: Kernel = SHIPPED_KERNEL): Totals {
  const { sets, part, partCount } = order;
  let at = 0;
  const totals: Record<string, SetTotals> = {};
  for (const { name, plans } of exploredSets()) {
    if (sets.length > 0 && !sets.includes(name)) continue;
    let total = NOTHING;
    for (const plan of plans) {
      at += 1;
      if (at % partCount !== part) continue;
      const seen = explorePlan(kernel, plan, { stateCountMax: STATE_COUNT_MAX, findingCountMax: FINDINGS_PER_PLAN });
      total = sum(total, {
        ...seen,
        planCount: 1,
        incompletePlans: seen.complete ? [] : [seen.plan],
      });
    }
    totals[name] = total;
  }
  return totals;
}

/** Explores the sets with one process for each processor. */
export async function exploreShared(
  sets: readonly string[] = [],
  processCount: number = availableParallelism(),
): Promise<ExploreCheck> {
  const startedMs = systemClock.nowMs();
  const parts = Array.from({ length: processCount }, (_, part) =>
    exploreInChild({ sets, part, partCount: processCount }),
  );
  const totals: Record<string, SetTotals> = {};
  for (const part of await Promise.all(parts))
    for (const [name, total] of Object.entries(part)) totals[name] = sum(totals[name] ?? NOTHING, total);
  return checkOf(totals, systemClock.nowMs() - startedMs);
}

export function checkOf(totals: Totals, durationMs: number): ExploreCheck {
  const all = Object.values(totals).reduce(sum, NOTHING);
  const complete = all.incompletePlans.length === 0 && all.stateCount > 0;
  const failures = all.counterexamples.map(({ invariant, message, plan, moves }) => ({
    id: `${invariant} ${plan}`,
    expected: 'no such way',
    got: `${message} After: ${moves.join('; ')}`,
  }));
  return {
    name: 'explore',
    ok: failures.length === 0 && complete,
    complete,
    counts: { passed: all.planCount - all.incompletePlans.length, failed: failures.length, pending: 0, notTested: 0 },
    figures: {
      planCount: all.planCount,
      stateCount: all.stateCount,
      transitionCount: all.transitionCount,
      endCount: all.endCount,
      depthMax: all.depthMax,
      violationCount: failures.length,
      durationMs,
    },
    sets: Object.fromEntries(
      Object.entries(totals).map(([name, { planCount, stateCount, transitionCount, endCount, depthMax }]) => [
        name,
        { planCount, stateCount, transitionCount, endCount, depthMax },
      ]),
    ),
    failures,
    counterexamples: all.counterexamples,
    date: systemClock.now(),
  };
}

const NOTHING: SetTotals = {
  planCount: 0,
  stateCount: 0,
  transitionCount: 0,
  endCount: 0,
  depthMax: 0,
  incompletePlans: [],
  counterexamples: [],
};

function sum(one: SetTotals, other: SetTotals): SetTotals {
  return {
    planCount: one.planCount + other.planCount,
    stateCount: one.stateCount + other.stateCount,
    transitionCount: one.transitionCount + other.transitionCount,
    endCount: one.endCount + other.endCount,
    depthMax: Math.max(one.depthMax, other.depthMax),
    incompletePlans: [...one.incompletePlans, ...other.incompletePlans],
    counterexamples: [...one.counterexamples, ...other.counterexamples]
      .toSorted((a, b) => a.moves.length - b.moves.length)
      .slice(0, COUNTEREXAMPLE_COUNT_MAX),
  };
}

const EXTENSION = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const CHILD = fileURLToPath(new URL(`./explore-child${EXTENSION}`, import.meta.url));
/** From source, a process needs the condition that this one was started with. */
const CONDITIONS = process.execArgv.filter((argument) => argument.startsWith('--conditions='));

async function exploreInChild(order: ExploreOrder): Promise<Totals> {
  const child = spawn(process.execPath, [...CONDITIONS, CHILD, JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code !== 0) throw new Error(`Part ${order.part} of the exploration ended with ${String(code)}.`);
  return JSON.parse(said) as Totals;
}
