/** Kills and crashes along the write path, together: no second effect, and none that stays unknown. Source: issue 4, INV-12. */
import { systemClock } from '#runtime/system-clock.ts';
import { type CheckObject, checkObject } from './check-object.ts';
import { runCrashes } from './effects-crashes.ts';
import { runKills } from './effects-kills.ts';
import type { PersistedPoint } from './effects-points.ts';

export interface EffectsCampaignOptions {
  /** At each persisted point, before and after it. */
  readonly killsEach: number;
  readonly crashCount: number;
  readonly seed: number;
  readonly durationMsMax: number;
  /** All when left out. */
  readonly killPoints?: readonly PersistedPoint[];
}

export async function runEffectsCampaign(options: EffectsCampaignOptions): Promise<CheckObject> {
  const { killsEach, crashCount, seed, durationMsMax, killPoints } = options;
  const startedMs = systemClock.nowMs();
  const crashes = await runCrashes({ crashCount, seed, durationMsMax, nowMs: systemClock.nowMs });
  const kills = await runKills(killsEach, killPoints);
  const expectedKillCount = kills.pointCount * killsEach;
  const failures = [...crashes.failures, ...kills.failures];
  if (crashes.crashCount < crashCount)
    failures.push({ id: 'crashes', expected: `${crashCount} crashes`, got: `${crashes.crashCount} in the time given` });
  return checkObject('campaign effects', {
    passed: crashes.runCount - crashes.failures.length + expectedKillCount - kills.failures.length,
    failures,
    seed,
    figures: {
      killCount: kills.killCount,
      killPointCount: kills.pointCount,
      crashCount: crashes.crashCount,
      crashedRunCount: crashes.runCount,
      redeliveryCount: crashes.redeliveryCount,
      reconciledByHandCount: crashes.reconciledCount,
      duplicateCount: crashes.duplicateCount + kills.duplicateCount,
      missingCount: crashes.missingCount,
      unresolvedCount: crashes.unresolvedCount + kills.unresolvedCount,
      durationMs: systemClock.nowMs() - startedMs,
    },
  });
}
