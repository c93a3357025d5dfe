import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explorePlan } from './explore-plan.ts';
import { exploreHere } from './explore-sets.ts';
import { exploredPlan } from './explored-plan.ts';
import { planShapes, shapeName, shapeOf, symmetriesOf } from './plan-shapes.ts';
import { SHIPPED_KERNEL } from './shipped-kernel.ts';

test('no two shapes are the same but for the names of their steps, and each name is read back', () => {
  assert.deepEqual(
    [1, 2, 3].map((stepCount) => planShapes(stepCount).length),
    [4, 42, 1048],
  );
  for (const shape of planShapes(2)) assert.deepEqual(shapeOf(shapeName(shape)), shape);
  assert.equal(symmetriesOf(shapeOf('r1 r2 r3')).length, 6);
  assert.equal(symmetriesOf(shapeOf('r1 r2(r1) r3(r1)')).length, 2);
  assert.equal(symmetriesOf(shapeOf('r1 r2? r3(r1)')).length, 1);
});

test('every state of a plan of one step is reached, and none breaks an invariant or leads nowhere', () => {
  const totals = exploreHere({ sets: ['one step, close'], part: 0, partCount: 1 });
  const [seen] = Object.values(totals);
  assert.deepEqual(seen?.counterexamples, []);
  assert.deepEqual(seen.incompletePlans, []);
  assert.equal(seen.planCount, 4);
  assert.ok(seen.stateCount > 500 && seen.endCount > 50, `${seen.stateCount} states, ${seen.endCount} ends`);
});

test('every state of runs that end with an answer is reached', () => {
  const [seen] = Object.values(exploreHere({ sets: ['answered, close'], part: 0, partCount: 2 }));
  assert.deepEqual([seen?.counterexamples, seen?.incompletePlans], [[], []]);
  assert.ok((seen?.stateCount ?? 0) > 300, `${seen?.stateCount} states`);
});

test('every state of all plans of two steps is reached in the wide scope', () => {
  const totals = exploreHere({ sets: ['two steps, wide'], part: 0, partCount: 1 });
  const [seen] = Object.values(totals);
  assert.deepEqual(seen?.counterexamples, []);
  assert.deepEqual([seen.planCount, seen.incompletePlans], [46, []]);
  assert.ok(seen.stateCount > 15_000, `${seen.stateCount} states`);
});

test('an exploration that is cut off does not call itself complete', () => {
  const plan = exploredPlan(shapeOf('r1 r2'), { scope: 'wide' });
  assert.equal(explorePlan(SHIPPED_KERNEL, plan, { stateCountMax: 20, findingCountMax: 1 }).complete, false);
  assert.equal(
    explorePlan(SHIPPED_KERNEL, plan, { stateCountMax: 9_999, findingCountMax: 1, depthMax: 2 }).complete,
    false,
  );
  assert.equal(explorePlan(SHIPPED_KERNEL, plan, { stateCountMax: 9_999, findingCountMax: 1 }).complete, true);
});
