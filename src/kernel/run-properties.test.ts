/** Any order, repetition and interleaving of what happens to a run: it converges, breaks no invariant, and folds to what it was. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { StepId } from '#contracts/ids.ts';
import type { Join } from '#contracts/join.ts';
import type { PlanStep } from '#contracts/plan.ts';
import { outcomeOf, satisfies } from './ready-set.ts';
import type { RunState, StepState } from './run-state.ts';
import { deliverBody, failBody, type Made, type Setup, skillOf, startBody, stepOf } from './trial-contracts.test.ts';
import { plannedTrial, type TrialRun } from './trial-run.test.ts';

const LENIENT = skillOf({ skillId: 'lenient', acceptedResults: ['no_data', 'partial', 'degraded'] });

/** What a step comes to when it is asked, however often and whenever that is. */
type Fate = Made['status'] | 'denied' | 'malformed' | 'recovers';
const FATES: readonly Fate[] = [
  'completed',
  'no_data',
  'partial',
  'degraded',
  'failed',
  'denied',
  'malformed',
  'recovers',
];

interface Drawn {
  readonly steps: readonly PlanStep[];
  readonly fates: ReadonlyMap<StepId, Fate>;
}

const drawnPlan: fc.Arbitrary<Drawn> = fc
  .array(
    fc.record({
      optional: fc.boolean(),
      lenient: fc.boolean(),
      after: fc.array(fc.constantFrom('', '', '~', '+'), { minLength: 8, maxLength: 8 }),
      fate: fc.oneof({ weight: 2, arbitrary: fc.constant<Fate>('completed') }, fc.constantFrom(...FATES)),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((rows) => {
    const steps = rows.map(({ optional, lenient, after }, index) => {
      const on = after.slice(0, index).flatMap((mark, upstream) => {
        if (mark === '') return [];
        return mark === '~' ? [`~s${upstream}`] : [`s${upstream}`];
      });
      return stepOf(`s${index}${optional ? '?' : ''}`, on, { skillId: lenient ? 'lenient' : 'claim-status' });
    });
    return { steps, fates: new Map(rows.map(({ fate }, index) => [`s${index}`, fate])) };
  });

const schedule = fc.array(fc.nat(1_000), { minLength: 20, maxLength: 60 });

function setupOf(drawn: Drawn, over: Partial<Setup> = {}): Setup {
  return { steps: drawn.steps, skills: [skillOf(), LENIENT], ...over };
}

function inFlight(trial: TrialRun): readonly { readonly stepId: StepId; readonly attempt: number }[] {
  return [...trial.state.inFlight].map((stepId) => ({ stepId, attempt: trial.step(stepId).attempts.length }));
}

/** The step's attempt ends as its fate says. */
function meetFate(trial: TrialRun, drawn: Drawn, at: { readonly stepId: StepId; readonly attempt: number }): void {
  const { stepId, attempt } = at;
  const fate = drawn.fates.get(stepId) ?? 'completed';
  const skillId = trial.step(stepId).skill.skillId;
  if (fate === 'denied') trial.fail(stepId, 'ERR_DENIED', attempt);
  else if (fate === 'recovers' && attempt === 1) trial.fail(stepId, 'ERR_TEAM_UNREACHABLE', attempt);
  else if (fate === 'malformed') trial.deliver(stepId, { attempt, skillId, malformed: true });
  else trial.deliver(stepId, { attempt, skillId, status: fate === 'recovers' ? 'completed' : fate });
}

type Move = () => void;

/** What may happen next in a quiet world: nothing is lost, much is repeated or arrives where it does not belong. */
function quietMoves(trial: TrialRun, drawn: Drawn): readonly Move[] {
  const out = inFlight(trial);
  const dispatches = trial.todos().flatMap((todo) => (todo.kind === 'dispatch' ? [todo.stepId] : []));
  const settled = drawn.steps.filter(({ stepId }) => trial.step(stepId).phase === 'settled');
  return [
    ...dispatches.map((stepId) => () => trial.dispatch(stepId)),
    ...out.map(
      ({ stepId, attempt }) =>
        () =>
          void trial.decide('start', startBody(stepId, attempt)),
    ),
    ...out.map((at) => () => meetFate(trial, drawn, at)),
    ...settled.map(
      ({ stepId }) =>
        () =>
          repeat(trial, drawn, stepId),
    ),
    ...settled.map(
      ({ stepId }) =>
        () =>
          void trial.ok('fail', failBody(stepId, 'ERR_TEAM_FAILED')),
    ),
    () => void trial.ok('deliver', { ...deliverBody('s0'), planVersion: 2 }),
    () => void trial.ok('deliver', { ...deliverBody('s0'), dispatchId: 'dsp_other' }),
    () => trial.ok('tick', {}),
    () => trial.ok('recover', { pausedMs: 0, checked: [], fence: 1 }),
  ];
}

function repeat(trial: TrialRun, drawn: Drawn, stepId: StepId): void {
  const attempt = trial.step(stepId).attempts.length;
  if (attempt > 0) meetFate(trial, drawn, { stepId, attempt });
}

/** Plays a schedule, then lets what is left happen in order until the run has ended or waits for a person. */
function play(trial: TrialRun, numbers: readonly number[], moves: (trial: TrialRun) => readonly Move[]): void {
  for (const number of numbers) {
    if (trial.state.phase === 'ended') return;
    const possible = moves(trial);
    possible[number % possible.length]?.();
    trial.nowMs += 1;
    assertCounters(trial.state);
  }
}

function drain(trial: TrialRun, drawn: Drawn): void {
  for (let round = 0; round < 200 && trial.state.phase !== 'ended' && trial.state.phase !== 'blocked'; round += 1) {
    const todos = trial.todos();
    for (const todo of todos) {
      if (todo.kind === 'dispatch') trial.decide('dispatch', trial.dispatchBody(todo.stepId));
      if (todo.kind === 'cancelTask') trial.decide('settleCancel', { unresolved: [] });
      if (todo.kind === 'send') meetFate(trial, drawn, todo);
    }
    const wake = todos.find((todo) => todo.kind === 'wake');
    if (todos.length === 1 && wake !== undefined) trial.tick(Date.parse(wake.at) - Date.parse(trial.state.receivedAt));
    assertCounters(trial.state);
  }
}

/** The counters that `evolve` keeps by deltas equal what a rescan of the plan finds. */
function assertCounters(state: RunState): void {
  const steps = [...state.steps.values()];
  const open = steps.filter(({ phase }) => phase !== 'settled' && phase !== 'skipped');
  const out = open.filter(({ phase }) => phase === 'dispatched' || phase === 'waiting');
  const free = open.filter((step) => !out.includes(step) && dependenciesMet(state, step));
  assert.equal(state.openStepCount, open.length);
  assert.equal(state.openRequiredStepCount, open.filter(({ definition }) => definition.required).length);
  assert.deepEqual([...state.inFlight].toSorted(), ids(out));
  assert.deepEqual([...state.ready, ...state.delayed].toSorted(), ids(free));
  const held = steps.reduce((sum, step) => sum + step.reservedToolCallCount, 0);
  assert.equal(state.budget?.toolCallCountReserved, held);
}

function ids(steps: readonly StepState[]): readonly StepId[] {
  return steps.map(({ definition }) => definition.stepId).toSorted();
}

function dependenciesMet(state: RunState, step: StepState): boolean {
  return step.definition.dependsOn.every(({ stepId, strength }) => {
    const upstream = state.steps.get(stepId);
    const outcome = upstream === undefined ? undefined : outcomeOf(upstream);
    return outcome !== undefined && satisfies(step, strength, outcome);
  });
}

function ending(trial: TrialRun, drawn: Drawn): unknown {
  const outcomes = drawn.steps.map(({ stepId }) => [
    stepId,
    outcomeOf(trial.step(stepId)),
    trial.step(stepId).result?.resultHash,
  ]);
  return { result: trial.state.result, needsHuman: trial.state.needsHuman, outcomes };
}

test('however what happens is ordered, repeated and interleaved, the same outcomes give the same result', () => {
  fc.assert(
    fc.property(drawnPlan, schedule, schedule, (drawn, one, other) => {
      const endings = [one, other].map((numbers) => {
        const trial = plannedTrial(setupOf(drawn));
        play(trial, numbers, (run) => quietMoves(run, drawn));
        drain(trial, drawn);
        assert.equal(trial.state.phase, 'ended');
        trial.assertFold();
        return ending(trial, drawn);
      });
      assert.deepEqual(endings[0], endings[1]);
    }),
    { numRuns: 150 },
  );
});

const drawnJoin: fc.Arbitrary<Partial<Join>> = fc.record({
  completionRule: fc.constantFrom('all_terminal', 'all_required_terminal', 'quorum'),
  successRule: fc.constantFrom('all_required_completed', 'quorum_completed'),
  quorumCount: fc.integer({ min: 1, max: 4 }),
  onOptionalFailure: fc.constantFrom('degraded', 'failed', 'ignored'),
  onRequiredNoData: fc.constantFrom('no_data', 'failed'),
  onRequiredFailure: fc.constantFrom('failed', 'partial'),
  onConflict: fc.constantFrom('block', 'failed'),
});

/** What may happen next in a rough world: besides, time jumps, results contradict, someone cancels. */
function roughMoves(trial: TrialRun, drawn: Drawn): readonly Move[] {
  const asked = drawn.steps.filter(({ stepId }) => trial.step(stepId).attempts.length > 0);
  return [
    ...quietMoves(trial, drawn),
    ...asked.map(
      ({ stepId, skillId }) =>
        () =>
          void trial.deliver(stepId, { value: 'other', skillId }),
    ),
    ...asked.map(
      ({ stepId, skillId }) =>
        () =>
          void trial.deliver(stepId, { value: 'much', skillId, toolCallCount: 9 }),
    ),
    ...drawn.steps.map(
      ({ stepId }) =>
        () =>
          void trial.decide('dispatch', trial.dispatchBody(stepId)),
    ),
    () => {
      trial.nowMs += 1_500;
      trial.ok('tick', {});
    },
    () => trial.ok('recover', { pausedMs: 400, checked: [], fence: 2 }),
    () => {
      if (trial.nowMs % 3 === 0) trial.ok('cancel', { reason: 'Not needed.' });
    },
  ];
}

test('no interleaving of deadlines, conflicts, cancellation and bad results breaks an invariant or leaves a run hanging', () => {
  fc.assert(
    fc.property(
      drawnPlan,
      drawnJoin,
      schedule,
      fc.integer({ min: 1, max: 3 }),
      (drawn, join, numbers, concurrencyMax) => {
        const trial = plannedTrial(setupOf(drawn, { join, budget: { concurrencyMax, toolCallCountMax: 6 } }));
        play(trial, numbers, (run) => roughMoves(run, drawn));
        drain(trial, drawn);
        assert.ok(trial.state.phase === 'ended' || trial.state.blocked?.code === 'RESULT_CONFLICT');
        assert.equal(trial.state.phase === 'ended', trial.state.result !== undefined);
        trial.assertFold();
      },
    ),
    { numRuns: 300 },
  );
});
