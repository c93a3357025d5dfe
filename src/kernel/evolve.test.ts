import assert from 'node:assert/strict';
import { test } from 'node:test';
import { artifact } from '#contracts/artifact.ts';
import type { EventDraft } from '#contracts/event.ts';
import { goalContract } from '#contracts/goal.ts';
import { plan } from '#contracts/plan.ts';
import { skillContract } from '#contracts/skill.ts';
import { digestOf } from './digest.ts';
import { evolveFrom, foldRun } from './evolve.ts';
import { stepsOf } from './ready-set.ts';
import { acceptedBody, plannedTrial, TrialRun } from './trial-run.test.ts';
import { artifactOf, atMs, goalOf, planOf, skillOf, stepOf } from './trial-contracts.test.ts';

test('the synthetic goal, skill, plan and artifact of these tests fit their contracts', () => {
  const setup = { steps: [stepOf('s1'), stepOf('s2?', ['~s1'])] };
  assert.ok(goalContract.safeParse(goalOf()).success);
  assert.ok(skillContract.safeParse(skillOf()).success);
  assert.ok(plan.safeParse(planOf(setup)).success);
  assert.ok(artifact.safeParse(artifactOf('s1')).success);
});

test('the log folds to the live state; without its first event it folds to nothing', () => {
  const trial = plannedTrial({ steps: [stepOf('s1'), stepOf('s2', ['s1'])] });
  trial.dispatch('s1');
  trial.start('s1');
  trial.deliver('s1');
  trial.assertFold();
  assert.equal(foldRun([]), undefined);
  assert.equal(foldRun(trial.log.slice(1)), undefined);
});

test('a first event opens a run, later ones change that very state in place', () => {
  const trial = plannedTrial({ steps: [stepOf('s1')] });
  const [first, second] = trial.log;
  assert.ok(first !== undefined && second !== undefined);
  const state = evolveFrom(undefined, first);
  assert.equal(state?.phase, 'received');
  assert.equal(evolveFrom(state, second), state);
  assert.equal(state?.seq, 2);
});

test('roots are ready at once, in plan order; what waits counts its dependencies', () => {
  const trial = plannedTrial({ steps: [stepOf('a'), stepOf('b', ['a', '~c']), stepOf('c')] });
  assert.deepEqual([...trial.state.ready], ['a', 'c']);
  assert.equal(trial.step('b').unsatisfiedCount, 2);
  assert.equal(trial.state.openStepCount, 3);
});

test('weak dependents are unlocked by any end of what they wait for, a skip too', () => {
  const trial = plannedTrial({ steps: [stepOf('a?'), stepOf('b?', ['a']), stepOf('c', ['~b'])] });
  trial.dispatch('a');
  trial.fail('a', 'ERR_DENIED');
  assert.equal(trial.step('b').phase, 'skipped');
  assert.deepEqual([...trial.state.ready], ['c']);
  trial.dispatch('c');
  trial.deliver('c');
  assert.equal(trial.state.result, 'degraded');
});

test('a step whose skill contract the plan does not bring, and a dependency that is no step, are left out', () => {
  const trial = plannedTrial({ steps: [stepOf('a', ['ghost']), stepOf('b', [], { skillId: 'unknown' })] });
  assert.deepEqual([...trial.state.steps.keys()], ['a']);
  assert.deepEqual([...stepsOf(trial.state, ['ghost', 'a'])].length, 1);
});

const DISPATCHED = {
  stepId: 's1',
  attempt: 1,
  planVersion: 1,
  dispatchId: 'dsp_s1-1',
  leaseId: 'lse_s1-1',
  audience: 'http://127.0.0.1:9000/claims',
  inputDigest: digestOf({}),
  deadlineAt: atMs(1_000),
} as const;

test('an event about a step, attempt or account that the run does not have changes nothing but the position', () => {
  const error = { code: 'ERR_DENIED', kind: 'denied', message: 'No.', at: 'a2a', retryable: false } as const;
  const at = { planVersion: 1, attempt: 2, dispatchId: 'dsp_s1-2' } as const;
  const strays: readonly EventDraft[] = [
    { kind: 'step.dispatched', body: { ...DISPATCHED, stepId: 'ghost' } },
    { kind: 'step.started', body: { ...at, stepId: 's1', taskId: 'task', contextId: 'ctx' } },
    { kind: 'step.attempt_failed', body: { ...at, stepId: 's1', error } },
    { kind: 'budget.reserved', body: { stepId: 'ghost', attempt: 1, toolCallCount: 1, modelTokenCount: 1 } },
  ];
  const trial = plannedTrial({ steps: [stepOf('s1')] });
  const before = structuredClone({ ...trial.state, seq: 0, hash: '' });
  trial.append(...strays);
  assert.deepEqual({ ...trial.state, seq: 0, hash: '' }, before);
});

test('a plan, a proposal or a dispatch before a goal leaves no account behind', () => {
  const trial = new TrialRun();
  const blocked = { code: 'GOAL_UNCLEAR' as const, question: 'Which?', wants: 'claim_id', options: [] };
  trial.receive({ kind: 'question', blocked });
  const head = { planId: 'plan_1', version: 1, planDigest: digestOf(1), round: 0 };
  trial.append(
    { kind: 'plan.proposed', body: { ...head, proposer: { kind: 'rules', name: 'rules' } } },
    { kind: 'plan.accepted', body: acceptedBody({ steps: [stepOf('s1')] }) },
    { kind: 'step.dispatched', body: DISPATCHED },
  );
  assert.equal(trial.state.budget, undefined);
  assert.equal(trial.state.inFlight.size, 0);
});

test('an unblocking of a run that is not blocked leaves its phase', () => {
  const trial = plannedTrial({ steps: [stepOf('s1')] });
  trial.append({ kind: 'run.unblocked', body: { code: 'RECOVERY', by: 'tester', input: {} } });
  assert.equal(trial.state.phase, 'planned');
});

test('planning is paid from the account of the run, never beyond what is left', () => {
  const trial = plannedTrial({ steps: [stepOf('s1')] });
  const head = { planId: 'plan_2', version: 2, planDigest: digestOf(2), round: 1 };
  const proposer = { kind: 'model', name: 'm', modelTokenCount: 5_000 } as const;
  trial.append({ kind: 'plan.proposed', body: { ...head, proposer } });
  assert.equal(trial.state.budget?.modelTokenCountUsed, 1_000);
});

const lookups = (stepCount: number): number => {
  const steps = Array.from({ length: stepCount }, (_, i) => stepOf(`s${i}`, i === 0 ? [] : [`s${i - 1}`]));
  const trial = plannedTrial({ steps, budget: { toolCallCountMax: 5_000, modelTokenCountMax: 50_000 } });
  const get = trial.state.steps.get.bind(trial.state.steps);
  let count = 0;
  trial.state.steps.get = (stepId) => {
    count += 1;
    return get(stepId);
  };
  for (let i = 0; i < 10; i += 1) {
    trial.dispatch(`s${i}`);
    trial.deliver(`s${i}`);
    trial.todos();
  }
  return count;
};

test('a run of 2,000 chained steps costs as many step look-ups per event as one of 20', () => {
  assert.equal(lookups(2_000), lookups(20));
});
