import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timestamp } from '#contracts/ids.ts';
import { systemClock } from './system-clock.ts';

test('now is a timestamp of the contracts and the same instant as its milliseconds', () => {
  const before = systemClock.nowMs();
  const now = timestamp.parse(systemClock.now());
  assert.ok(Date.parse(now) >= before && Date.parse(now) <= systemClock.nowMs());
});

test('a timer is never called back early, and not at all when disarmed', async () => {
  const atMs = systemClock.nowMs() + 5;
  let disarmedCalled = false;
  systemClock.at(atMs, () => (disarmedCalled = true))();
  const calledMs = await new Promise<number>((resolve) => systemClock.at(atMs, () => resolve(systemClock.nowMs())));
  assert.ok(calledMs >= atMs);
  await systemClock.sleep(2);
  assert.equal(disarmedCalled, false);
});

test('a timer beyond the reach of one timer of Node can be armed and disarmed', () => {
  let called = false;
  const disarm = systemClock.at(systemClock.nowMs() + 60 * 86_400_000, () => (called = true));
  disarm();
  assert.equal(called, false);
});

test('sleep rejects with the reason of its signal, before or while it sleeps', async () => {
  const controller = new AbortController();
  const slept = systemClock.sleep(60_000, controller.signal);
  controller.abort(new Error('enough'));
  await assert.rejects(slept, /enough/);
  await assert.rejects(systemClock.sleep(1, controller.signal), /enough/);
});
