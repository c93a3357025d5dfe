/** What is explored. Source: issue 5 "Exhaustive exploration"; docs/how-to-explore.md says what is in and what is out. */
import type { Plan } from '#contracts/plan.ts';
import { type ExploredPlan, exploredPlan } from './explored-plan.ts';
import { planShapes, shapeOf } from './plan-shapes.ts';

export interface ExploredSet {
  readonly name: string;
  readonly plans: readonly ExploredPlan[];
}

/** Shapes of four steps: chains, fans, diamonds, and effects after, before and beside reads. */
const FOUR_STEP_SHAPES = [
  'r1 r2(r1) r3(r2) r4(r3)',
  'r1 r2(r1) r3(r1) r4(r2,r3)',
  'r1 r2(r1) r3?(r1) r4(r2,~r3)',
  'r1 r2(r1) r3(r1) e4(r2,r3)',
  'r1 r2(r1) e3(r2) r4(e3)',
  'r1 r2(~r1) r3(~r1) r4(~r2,~r3)',
  'r1 e2(r1) r3(e2) e4(r3)',
  'e1 r2(e1) r3(e1) r4(r2,r3)',
  'r1 e2(r1) e3(r1) r4(e2,e3)',
  'r1 r2 r3(r1,r2) r4(r3)',
  'r1 r2(r1) r3(r1) r4(r1)',
  'r1 r2 r3 r4(r1,r2,r3)',
] as const;

/** Runs whose goal declares a sentence. */
const ANSWERED_SHAPES = ['r1', 'r1?', 'r1 r2(r1)', 'r1 r2?(~r1)', 'r1 r2'] as const;

/** Of all shapes up to two steps. */
const JOINS: Readonly<Record<string, Partial<Plan['join']>>> = {
  'required only': { completionRule: 'all_required_terminal' },
  quorum: { completionRule: 'quorum', successRule: 'quorum_completed', quorumCount: 1 },
  'conflict fails': { onConflict: 'failed' },
};

export function exploredSets(): readonly ExploredSet[] {
  const small = [...planShapes(1), ...planShapes(2)];
  return [
    { name: 'one step, close', plans: planShapes(1).map((shape) => exploredPlan(shape, { scope: 'close' })) },
    { name: 'two steps, close', plans: planShapes(2).map((shape) => exploredPlan(shape, { scope: 'close' })) },
    {
      name: 'answered, close',
      plans: ANSWERED_SHAPES.map((name) => exploredPlan(shapeOf(name), { scope: 'close', answered: true })),
    },
    { name: 'two steps, wide', plans: small.map((shape) => exploredPlan(shape, { scope: 'wide' })) },
    ...Object.entries(JOINS).map(([name, join]) => ({
      name: `two steps, ${name}`,
      plans: small.map((shape) => exploredPlan(shape, { scope: 'wide', join })),
    })),
    { name: 'three steps, wide', plans: planShapes(3).map((shape) => exploredPlan(shape, { scope: 'wide' })) },
    {
      name: 'four steps, listed',
      plans: FOUR_STEP_SHAPES.map((name) => exploredPlan(shapeOf(name), { scope: 'wide' })),
    },
  ];
}
