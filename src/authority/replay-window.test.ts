import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { createReplayWindow } from './replay-window.ts';

void test('a key is seen again for as long as it must be, whatever came between', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(5), fc.nat(40)), { maxLength: 60 }), (steps) => {
      const window = createReplayWindow({ keepMs: 100, entryCountMax: 1_000 });
      const taken = new Map<number, number>();
      let nowMs = 1_000;
      for (const [key, ms] of steps) {
        nowMs += ms;
        const before = taken.get(key);
        const got = window.take(String(key), nowMs);
        if (before !== undefined && nowMs - before < 100) assert.equal(got, 'seen');
        if (before === undefined || nowMs - before >= 200) assert.equal(got, 'fresh');
        if (got === 'fresh') taken.set(key, nowMs);
      }
    }),
  );
});

void test('a full window says so for an unseen key, still knows the seen ones, and empties with time', () => {
  const window = createReplayWindow({ keepMs: 100, entryCountMax: 2 });
  assert.deepEqual([window.take('a', 0), window.take('b', 0), window.take('c', 0)], ['fresh', 'fresh', 'full']);
  assert.equal(window.take('a', 50), 'seen');
  assert.equal(window.take('c', 100), 'fresh');
});

void test('a clock that jumps back forgets nothing', () => {
  const window = createReplayWindow({ keepMs: 100, entryCountMax: 10 });
  assert.equal(window.take('a', 10_000), 'fresh');
  assert.equal(window.take('a', 1_000), 'seen');
  assert.equal(window.take('b', 1_000), 'fresh');
  assert.equal(window.take('b', 10_050), 'seen');
});
