import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { DESK_CASE } from './desk-case.ts';
import { shrink } from './shrink.ts';
import { createSimulator, type Simulated } from './simulate.ts';
import { BROKEN_VARIANTS } from './variants.ts';

const variant = BROKEN_VARIANTS.find(({ breaks }) => breaks === 'INV-09')?.variant ?? {};
const simulator = createSimulator(DESK_CASE, { variant });
after(() => simulator[Symbol.asyncDispose]());
const foreignWriter = ({ violations }: Simulated): boolean => violations.some(({ property }) => property === 'INV-09');

/** Several people and faults, of which one person alone is enough to see the mistake. */
const large = (): ReturnType<typeof simulator.draw> => {
  for (let seed = 1; ; seed++) {
    const scenario = simulator.draw(seed);
    if (scenario.people.length > 1 && scenario.faults.length > 2) return scenario;
  }
};

it('cuts a failing scenario down to the one part that cannot be left out', async () => {
  const shrunk = await shrink(simulator, large(), foreignWriter);
  assert.match(shrunk?.keep.join() ?? '', /^p\d$/);
  assert.deepEqual([shrunk?.scenario.people.length, shrunk?.scenario.faults.length], [1, 0]);
  const again = await simulator.run(shrunk?.scenario ?? large());
  assert.equal(again.fingerprint, shrunk?.outcome.fingerprint);
});

it('has nothing to cut in a scenario that does not fail', async () => {
  assert.equal(await shrink(simulator, large(), () => false), undefined);
});
