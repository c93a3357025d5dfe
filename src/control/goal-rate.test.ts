import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CaseOpsError } from '#contracts/error.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { createGoalRate } from './goal-rate.ts';

test('a burst is taken, then a stream is held to its rate, each tenant for itself', async () => {
  const clock = seededClock(0);
  const rate = createGoalRate(() => 60, clock);
  for (let goal = 0; goal < 60; goal++) rate.take('t9');
  assert.throws(
    () => rate.take('t9'),
    (error) => {
      assert.ok(error instanceof CaseOpsError);
      return error.code === 'ERR_RATE_LIMITED' && error.retryable && error.detail['retryAfterMs'] === 1_000;
    },
  );
  rate.take('t8');
  await clock.advance(1_000);
  rate.take('t9');
  assert.throws(() => rate.take('t9'), CaseOpsError);
  rate.giveBack('t9');
  rate.take('t9');
});

test('the quota says what is left and when it is full again', async () => {
  const clock = seededClock(0);
  const rate = createGoalRate(() => 30, clock);
  assert.deepEqual(rate.quota('t9'), { goalCountMax: 30, windowS: 60, goalCountLeft: 30, resetS: 0 });
  for (let goal = 0; goal < 3; goal++) rate.take('t9');
  assert.deepEqual(rate.quota('t9'), { goalCountMax: 30, windowS: 60, goalCountLeft: 27, resetS: 6 });
  await clock.advance(60_000);
  rate.take('t8');
  assert.equal(rate.quota('t9').goalCountLeft, 30);
  rate.giveBack('t8');
  assert.equal(rate.quota('t8').goalCountLeft, 30);
});

test('tenants differ in what they may submit', () => {
  const rate = createGoalRate((tenant) => (tenant === 't8' ? 1 : 2), seededClock(0));
  rate.take('t8');
  assert.throws(() => rate.take('t8'), { code: 'ERR_RATE_LIMITED', message: /t8 may submit 1 goals a minute/ });
  rate.take('t9');
  rate.take('t9');
  assert.throws(() => rate.take('t9'), { code: 'ERR_RATE_LIMITED', message: /t9 may submit 2 goals a minute/ });
  assert.deepEqual([rate.quota('t8').goalCountMax, rate.quota('t9').goalCountMax], [1, 2]);
});
