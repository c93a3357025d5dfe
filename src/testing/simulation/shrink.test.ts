import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { DESK_CASE } from './desk-case.ts';
import { shrink } from './shrink.ts';
import { createSimulator, type Simulated } from './simulate.ts';
import { BROKEN_VARIANTS } from './variants.ts';

const SEED = 65;
const variant = BROKEN_VARIANTS.find(({ breaks }) => breaks === 'INV-05')?.variant ?? {};
const simulator = createSimulator(DESK_CASE, { variant });
after(() => simulator[Symbol.asyncDispose]());
const settledTwice = ({ violations }: Simulated): boolean => violations.some(({ property }) => property === 'INV-05');

it('cuts a failing scenario down to parts none of which can be left out', async () => {
  const whole = simulator.draw(SEED);
  const shrunk = await shrink(simulator, whole, settledTwice);
  assert.ok(shrunk !== undefined && settledTwice(shrunk.outcome));
  assert.ok(shrunk.keep.length < whole.people.length + whole.faults.length);
  assert.ok(shrunk.scenario.faults.some(({ kind }) => kind === 'again'));
  const again = await simulator.run(shrunk.scenario);
  assert.equal(again.fingerprint, shrunk.outcome.fingerprint);
});

it('has nothing to cut in a scenario that does not fail', async () => {
  assert.equal(await shrink(simulator, simulator.draw(SEED), () => false), undefined);
});
