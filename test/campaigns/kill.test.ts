import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { runKillCampaign } from './kill.ts';
import type { CheckObject } from './check-object.ts';

/** What no kill may cause. */
const ZEROS = ['lostRunCount', 'duplicateEffectCount', 'duplicateResultCount', 'brokenChainCount'] as const;

for (const [store, kills] of [
  ['sqlite', 25],
  ['postgres', 15],
] as const)
  test(
    `INV-05 INV-12: ${kills} processes killed over ${store} lose no run and do nothing twice`,
    { timeout: 900_000 },
    async () => {
      const check = await runKillCampaign({ store, kills, seed: 20_261_201 });
      assert.deepEqual(check.failures, []);
      assert.ok((check.figures['killCount'] ?? 0) >= kills);
      assert.ok((check.figures['acknowledgedRunCount'] ?? 0) >= 8);
      for (const name of ZEROS) assert.equal(check.figures[name], 0, name);
    },
  );

test('the long campaign that is kept was long, over both stores, and clean', () => {
  const path = new URL('../../reports/kill.json', import.meta.url);
  assert.ok(existsSync(path));
  const kept = JSON.parse(readFileSync(path, 'utf8')) as readonly CheckObject[];
  assert.deepEqual(
    kept.map(({ name, ok }) => [name, ok]),
    [
      ['campaign:kill sqlite', true],
      ['campaign:kill postgres', true],
    ],
  );
  const total = kept.reduce((sum, { figures }) => sum + (figures['killCount'] ?? 0), 0);
  assert.ok(total >= 600, `${total} kills`);
  for (const { figures, seed, date } of kept) {
    for (const name of ZEROS) assert.equal(figures[name], 0, name);
    assert.ok((figures['commitPointDeathCount'] ?? 0) >= 20);
    assert.ok((figures['recoveryCount'] ?? 0) > 0);
    assert.ok((figures['resumeP99Ms'] ?? Infinity) <= 2 * (figures['lockMs'] ?? 0));
    assert.ok(Number.isSafeInteger(seed) && !Number.isNaN(Date.parse(date)));
  }
});
