import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededClock } from './seeded-clock.ts';

const START_MS = Date.UTC(2026, 6, 22);

test('time stands still until it is advanced', async () => {
  const clock = seededClock(START_MS);
  assert.equal(clock.now(), '2026-07-22T00:00:00.000Z');
  await clock.advance(1_500);
  assert.equal(clock.now(), '2026-07-22T00:00:01.500Z');
  assert.equal(clock.nowMs(), START_MS + 1_500);
});

test('timers are called back in order of time, then of arming, at their own time, and none before it', async () => {
  const clock = seededClock(START_MS);
  const called: string[] = [];
  const note = (name: string) => () => void called.push(`${name} ${clock.nowMs() - START_MS}`);
  clock.at(START_MS + 20, note('c'));
  clock.at(START_MS + 10, note('a'));
  clock.at(START_MS + 10, note('b'));
  clock.at(START_MS + 31, note('never'));
  clock.at(START_MS + 15, note('disarmed'))();
  await clock.advance(30);
  assert.deepEqual(called, ['a 10', 'b 10', 'c 20']);
  assert.equal(clock.armedCount, 1);
});

test('a timer armed by a timer inside the span is called back as well', async () => {
  const clock = seededClock(START_MS);
  let count = 0;
  const again = (): void => {
    count++;
    clock.at(clock.nowMs() + 10, again);
  };
  clock.at(START_MS + 10, again);
  await clock.advance(100);
  assert.equal(count, 10);
});

test('sleep ends at its time, or with the reason of its signal', async () => {
  const clock = seededClock(START_MS);
  const controller = new AbortController();
  const slept = clock.sleep(50);
  const aborted = clock.sleep(50, controller.signal);
  controller.abort(new Error('no more'));
  await assert.rejects(aborted, /no more/);
  await assert.rejects(clock.sleep(50, controller.signal), /no more/);
  assert.equal(clock.armedCount, 1);
  await clock.advance(50);
  await slept;
});

test('a jump moves time and calls nothing back', () => {
  const clock = seededClock(START_MS);
  let called = false;
  clock.at(START_MS + 10, () => (called = true));
  clock.jump(3_600_000);
  assert.equal(clock.nowMs(), START_MS + 3_600_000);
  clock.jump(-7_200_000);
  assert.equal(clock.nowMs(), START_MS - 3_600_000);
  assert.equal(called, false);
});
