/** A case of one's own in the simulator; examples/simulate.ts is what a user writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSimulator } from '#testing/simulation/simulate.ts';
import { BROKEN_VARIANTS } from '#testing/simulation/variants.ts';
import { findBroken, parcels } from '../../examples/simulate.ts';

test('a case of one’s own is simulated under faults and breaks nothing', async () => {
  await using simulator = createSimulator(parcels);
  assert.deepEqual(await findBroken(simulator, 40), []);
  const { endedCount } = await simulator.run(simulator.draw(1));
  assert.ok(endedCount > 0);
});

test('a mistake is found in it and cut down', async () => {
  const variant = BROKEN_VARIANTS.find(({ breaks }) => breaks === 'INV-09')?.variant ?? {};
  await using simulator = createSimulator(parcels, { variant });
  const [found] = await findBroken(simulator, 10);
  assert.equal(found?.property, 'INV-09');
});
