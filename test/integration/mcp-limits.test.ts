/** How many calls reach a tool server at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerClaim, openWorld } from './mcp-world.ts';

test('a server is never called more often at once than its bound; who waits too long is told so, and nothing was sent', async () => {
  let [now, most] = [0, 0];
  const gate = Promise.withResolvers<void>();
  await using world = await openWorld({
    limits: { callsInFlightMax: 2, callsWaitingMax: 3 },
    handle: async (args, caller) => {
      now++;
      most = Math.max(most, now);
      await gate.promise;
      now--;
      return answerClaim(args, caller);
    },
  });
  const calls = Array.from({ length: 7 }, () => world.call({ claim_id: 'C-102' }));
  const first = await Promise.race(calls);
  assert.equal(first.outcome, 'throttled');
  assert.equal(first.outcome === 'throttled' && first.retryAfterMs > 0, true);
  gate.resolve();
  const outcomes = (await Promise.all(calls)).map(({ outcome }) => outcome);
  assert.deepEqual(outcomes, ['ok', 'ok', 'ok', 'ok', 'ok', 'throttled', 'throttled']);
  assert.deepEqual([most, world.entered()], [2, 5]);
  assert.equal((await world.call({ claim_id: 'C-102' })).outcome, 'ok');
});
