import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DESK_CASE } from './desk-case.ts';
import { createSimulator } from './simulate.ts';
import { BROKEN_VARIANTS } from './variants.ts';

describe('a seeded mistake', () => {
  for (const { breaks, mistake, variant, seedCountMax } of BROKEN_VARIANTS)
    it(`is caught as ${breaks} within ${seedCountMax} seeds: ${mistake}`, async () => {
      await using simulator = createSimulator(DESK_CASE, { variant });
      let caught = false;
      for (let seed = 1; seed <= seedCountMax && !caught; seed++) {
        const { violations } = await simulator.run(simulator.draw(seed));
        caught = violations.some(({ property }) => property === breaks);
      }
      assert.ok(caught);
    });

  it('is known for each invariant up to INV-15', () => {
    const invariants = Array.from({ length: 15 }, (_, index) => `INV-${String(index + 1).padStart(2, '0')}`);
    assert.deepEqual(
      BROKEN_VARIANTS.map(({ breaks }) => breaks),
      invariants,
    );
  });
});
