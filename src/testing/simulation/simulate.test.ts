import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { DESK_CASE } from './desk-case.ts';
import type { Person } from './person.ts';
import type { Scenario } from './scenario.ts';
import { createSimulator } from './simulate.ts';

const simulator = createSimulator(DESK_CASE);
after(() => simulator[Symbol.asyncDispose]());

const NOTICE_ASK = DESK_CASE.asks.findIndex(({ text }) => text.includes('after approval'));

const asking = (ask: number, over: Partial<Person> = {}): Person => ({
  kind: 'ask',
  ask,
  atMs: 0,
  twice: false,
  decides: 'approve',
  decideAfterMs: 50,
  cancelAfterMs: undefined,
  replanAfterMs: undefined,
  ...over,
});
const quiet = (seed: number, person: Person): Scenario => ({ seed, lockTtlMs: 5_000, people: [person], faults: [] });

describe('a simulated world in which nothing goes wrong', () => {
  it('ends every run that its people ask for, and breaks nothing', async () => {
    for (const [ask] of DESK_CASE.asks.entries()) {
      const { violations, endedCount } = await simulator.run(quiet(ask, asking(ask)));
      assert.deepEqual([violations, endedCount], [[], 1]);
    }
  });

  it('applies an approved effect once, and none that was rejected', async () => {
    const approved = await simulator.run(quiet(1, asking(NOTICE_ASK, { decides: 'approve_twice' })));
    const rejected = await simulator.run(quiet(1, asking(NOTICE_ASK, { decides: 'reject' })));
    assert.deepEqual([approved.effectCount, rejected.effectCount], [1, 0]);
  });

  it('leaves a run whose approver never comes blocked, which is an end that is allowed', async () => {
    const { violations, blockedCount } = await simulator.run(quiet(3, asking(NOTICE_ASK, { decides: 'never' })));
    assert.deepEqual([violations, blockedCount], [[], 1]);
  });
});

describe('a seed', () => {
  it('gives the same logs when it is run again, in another simulator and under real keys', async () => {
    await using other = createSimulator(DESK_CASE, { signing: 'real' });
    for (const seed of [3, 14, 15, 54]) {
      const first = await simulator.run(simulator.draw(seed));
      const again = await simulator.run(simulator.draw(seed));
      const elsewhere = await other.run(other.draw(seed));
      assert.equal(again.fingerprint, first.fingerprint);
      assert.equal(elsewhere.fingerprint, first.fingerprint);
      assert.ok(first.eventCount > 0);
    }
  });

  it('draws faults and people of its own', () => {
    assert.notDeepEqual(simulator.draw(1), { ...simulator.draw(2), seed: 1 });
    assert.deepEqual(simulator.draw(1), simulator.draw(1));
  });
});
