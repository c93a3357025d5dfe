import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runKillCampaign } from './kill.ts';

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
