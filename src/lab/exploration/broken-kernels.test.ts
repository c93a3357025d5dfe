import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BROKEN_KERNELS } from './broken-kernels.ts';
import { explorePlan } from './explore-plan.ts';
import { exploredPlan } from './explored-plan.ts';
import { shapeOf } from './plan-shapes.ts';

const OPTIONS = { stateCountMax: 20_000, findingCountMax: 1 };

// INV-01 INV-02 INV-03 INV-04 INV-05 INV-06 INV-07 INV-08 INV-09 INV-11 INV-12 INV-13 INV-14
for (const [name, { invariant, shape, moveCount, kernel, answered = false }] of Object.entries(BROKEN_KERNELS))
  test(`a kernel that ${name} is caught by ${invariant}, by its shortest way`, () => {
    const [found] = explorePlan(
      kernel,
      exploredPlan(shapeOf(shape), { scope: 'close', answered }),
      OPTIONS,
    ).counterexamples;
    assert.equal(found?.invariant, invariant, JSON.stringify(found));
    assert.equal(found.moves.length, moveCount, found.moves.join('; '));
    for (const move of found.moves) assert.match(move, /^[a-z0-9#_ -]+$/i);
  });
