import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runId } from '#contracts/ids.ts';
import { systemClock } from './system-clock.ts';
import { systemIds } from './system-ids.ts';

test('an id is of its kind, 26 characters long, and no two are the same', () => {
  const ids = Array.from({ length: 2_000 }, () => runId.parse(systemIds.next('run')));
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) assert.match(id, /^run_[0-9a-hjkmnp-tv-z]{26}$/);
});

test('ids sort by the time at which they were made', async () => {
  const earlier = systemIds.next('run');
  await systemClock.sleep(2);
  assert.ok(earlier < systemIds.next('run'));
});
