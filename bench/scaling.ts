/**
 * What a step costs the kernel as plans grow from 10² to 10⁵ steps: validator, decider, seal, reducer and ready set, each timed alone
 * over a whole run, of a chain and of layers a hundred wide. Flat means that the fitted exponent of the whole cost is at most 1.1.
 * DESIGN §9.
 *
 *     npm run -s bench:scaling -- [--json] [--most 100000]
 */
import { parseArgs } from 'node:util';
import type { Command, RunRef, Todo } from '#contracts/command.ts';
import type { StepId } from '#contracts/ids.ts';
import { hashNatively } from '#drivers/local/native-sha256.ts';
import { sealEvent } from '#kernel/chain.ts';
import { decide } from '#kernel/decide.ts';
import { evolveFrom } from '#kernel/evolve.ts';
import { next } from '#kernel/next.ts';
import { validatePlan } from '#kernel/plan-validator.ts';
import type { RunState } from '#kernel/run-state.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { seededIds } from '#testing/seeded-ids.ts';
import { trivialDeliver, trivialDispatch, trivialPlan, trivialPropose, trivialReceive } from '#testing/trivial-run.ts';
import { round } from './measure.ts';
import { reportOf, type Target } from './report.ts';

const SIZES = [100, 1_000, 10_000, 100_000];
const LAYER_WIDTH = 100;
const EXPONENT_MAX = 1.1;
/** Small plans are run again until so many steps were counted. */
const STEP_COUNT_MIN = 20_000;
const ROUND_COUNT = 3;
const AT = '2026-07-22T15:00:00.000Z';

type Part = 'validate' | 'decide' | 'seal' | 'evolve' | 'next';
const PARTS: readonly Part[] = ['validate', 'decide', 'seal', 'evolve', 'next'];
type Spent = Record<Part, number>;
type Shape = Readonly<Record<StepId, readonly StepId[]>>;

const SHAPES: Readonly<Record<string, (stepCount: number) => Shape>> = {
  chain: (stepCount) => shapeOf(stepCount, (index) => [index - 1]),
  layers: (stepCount) => shapeOf(stepCount, (index) => [index - LAYER_WIDTH, index - LAYER_WIDTH - 7]),
};

function shapeOf(stepCount: number, before: (index: number) => readonly number[]): Shape {
  const after = (index: number): StepId[] => before(index).flatMap((other) => (other >= 0 ? [`s${other}`] : []));
  return Object.fromEntries(Array.from({ length: stepCount }, (_, index) => [`s${index}`, after(index)]));
}

/** One whole run in the kernel alone; adds what each part took to `spent`, in ms. */
function runOnce(shape: Shape, spent: Spent): void {
  const ids = seededIds(1);
  const ref: RunRef = { tenant: 't9', runId: 'run_scaling' };
  let state: RunState | undefined;
  const timed = <T>(part: Part, work: () => T): T => {
    // Of this thread alone: what else the machine does is not the kernel's cost.
    const from = process.threadCpuUsage();
    const value = work();
    const { user, system } = process.threadCpuUsage(from);
    spent[part] += (user + system) / 1_000;
    return value;
  };
  const give = (command: Command): void => {
    const decision = timed('decide', () => decide(state, command, ref));
    if (!decision.ok) throw new Error(decision.error.message);
    const head = { ref, seq: state?.seq ?? 0, hash: state?.hash ?? ('' as const) };
    const events = timed('seal', () => {
      let at = head;
      return decision.events.map((draft) => {
        const event = sealEvent(at, draft, command);
        at = { ref, seq: event.seq, hash: event.hash };
        return event;
      });
    });
    timed('evolve', () => {
      for (const event of events) state = evolveFrom(state, event);
    });
  };
  give(trivialReceive(AT));
  const { snapshot, plan, ...rest } = trivialPropose(AT, trivialPlan(shape));
  const { goal, goalDigest } = state ?? {};
  if (goal === undefined || goalDigest === undefined) throw new Error('The run has no goal.');
  const { findings } = timed('validate', () =>
    validatePlan(plan, { goal, goalDigest, snapshot, at: AT, planVersion: 1 }),
  );
  if (findings.length > 0) throw new Error(JSON.stringify(findings[0]));
  give({ ...rest, snapshot, plan });
  for (;;) {
    const now: RunState | undefined = state;
    if (now === undefined || now.phase === 'ended') return;
    const todos: readonly Todo[] = timed('next', () => next(now, AT));
    for (const todo of todos) {
      if (todo.kind === 'dispatch') give(trivialDispatch(ref, todo, { at: AT, ids }).command);
      if (todo.kind === 'send') give(trivialDeliver(now, todo, { at: AT, ids }));
    }
  }
}

/** µs a step of each part: the least of some rounds, since a round in which the heap grew says more about the heap. */
function measureShape(shape: Shape): Spent {
  const least: Spent = { validate: Infinity, decide: Infinity, seal: Infinity, evolve: Infinity, next: Infinity };
  const stepCount = Object.keys(shape).length;
  const times = Math.max(1, Math.ceil(STEP_COUNT_MIN / stepCount));
  for (let round = 0; round < ROUND_COUNT; round += 1) {
    const spent: Spent = { validate: 0, decide: 0, seal: 0, evolve: 0, next: 0 };
    for (let time = 0; time < times; time += 1) runOnce(shape, spent);
    for (const part of PARTS) least[part] = Math.min(least[part], (spent[part] * 1_000) / (times * stepCount));
  }
  return least;
}

/** Of cost = c × steps^exponent, by least squares on logarithms. */
function exponentOf(points: readonly { readonly stepCount: number; readonly usPerStep: number }[]): number {
  const logs = points.map(
    ({ stepCount, usPerStep }) => [Math.log(stepCount), Math.log(usPerStep * stepCount)] as const,
  );
  const mean = (of: (log: readonly [number, number]) => number): number =>
    logs.reduce((sum, log) => sum + of(log), 0) / logs.length;
  const [x, y] = [mean(([steps]) => steps), mean(([, cost]) => cost)];
  return mean(([steps, cost]) => (steps - x) * (cost - y)) / mean(([steps]) => (steps - x) ** 2);
}

const { values } = parseArgs({ options: { json: { type: 'boolean' }, most: { type: 'string', default: '100000' } } });
hashNatively();
const sizes = SIZES.filter((size) => size <= Number(values.most));
const figures: Record<string, number> = {};
const targets: Target[] = [];
for (const [name, shapeBy] of Object.entries(SHAPES)) {
  measureShape(shapeBy(1_000));
  const measured = sizes.map((stepCount) => ({ stepCount, spent: measureShape(shapeBy(stepCount)) }));
  for (const part of PARTS) {
    const points = measured.map(({ stepCount, spent }) => ({ stepCount, usPerStep: spent[part] }));
    for (const { stepCount, usPerStep } of points)
      figures[`${name}_${part}_usPerStepAt${stepCount}`] = round(usPerStep);
    const exponent = exponentOf(points);
    figures[`${name}_${part}_exponent`] = round(exponent);
    targets.push({ id: `${name}-${part}`, got: exponent, most: EXPONENT_MAX, unit: 'as the fitted exponent' });
  }
}
const report = reportOf('bench:scaling', { targets, figures, date: systemClock.now() });
console.log(values.json === true ? JSON.stringify(report) : report);
process.exitCode = report.ok ? 0 : 1;
