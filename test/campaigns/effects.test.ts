import { systemClock } from '#runtime/system-clock.ts';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { runCrashes } from './effects-crashes.ts';
import { runEffectsCampaign } from './effects.ts';

test('a process killed or dropped anywhere along the write path leaves one effect at most, and a known one', async () => {
  const check = await runEffectsCampaign({
    killsEach: 1,
    crashCount: 40,
    seed: 20_260_722,
    durationMsMax: 60_000,
    killPoints: ['owner.applied'],
  });
  assert.deepEqual(check.failures, []);
  assert.equal(check.figures['killCount'], 2);
  assert.ok((check.figures['crashCount'] ?? 0) >= 40);
  assert.ok((check.figures['redeliveryCount'] ?? 0) >= 40);
  assert.deepEqual([check.figures['duplicateCount'], check.figures['unresolvedCount']], [0, 0]);
});

test('a writer to whom the owner shows nothing, said to be final, is found to apply twice', async () => {
  const crashes = await runCrashes({
    crashCount: 25,
    seed: 7,
    durationMsMax: 60_000,
    nowMs: systemClock.nowMs,
    breakTarget: (target) => ({ ...target, readBack: () => Promise.resolve({ found: 'absent' }) }),
  });
  assert.ok(crashes.duplicateCount > 0);
  assert.ok(crashes.failures.length > 0);
});

test('the same seed crashes at the same points', async () => {
  const options = { crashCount: 10, seed: 11, durationMsMax: 60_000, nowMs: systemClock.nowMs };
  assert.deepEqual(await runCrashes(options), await runCrashes(options));
});

test('the long campaign that is kept was long, whole and clean', () => {
  const kept = JSON.parse(readFileSync(new URL('../../reports/effects.json', import.meta.url), 'utf8')) as {
    readonly ok: boolean;
    readonly figures: Readonly<Record<string, number>>;
    readonly seed: number;
    readonly date: string;
  };
  const { killCount, killPointCount, crashCount, duplicateCount, missingCount, unresolvedCount } = kept.figures;
  assert.equal(kept.ok, true);
  assert.equal(killCount, 10 * (killPointCount ?? 0));
  assert.ok((crashCount ?? 0) >= 10_000);
  assert.deepEqual([duplicateCount, missingCount, unresolvedCount], [0, 0, 0]);
  assert.ok(Number.isSafeInteger(kept.seed) && !Number.isNaN(Date.parse(kept.date)));
});
