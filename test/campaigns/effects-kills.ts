/** Kills real processes at every persisted point of the write path, and counts at the owner what came of it. */
import { approve, askForNotice, latestApproval, settled } from '#lab/effects/desk-work.ts';
import { openStage, type Stage } from '#lab/effects/stage.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { CheckFailure } from './check-object.ts';
import type { KillOrder } from './effects-kill-child.ts';
import { PERSISTED_POINTS, type PersistedPoint, type StopAt } from './effects-points.ts';

export interface KillsResult {
  readonly killCount: number;
  readonly pointCount: number;
  readonly duplicateCount: number;
  readonly unresolvedCount: number;
  readonly failures: readonly CheckFailure[];
}

const CHILD = fileURLToPath(new URL('./effects-kill-child.ts', import.meta.url));
const LOCK_MS = 500;
/** Points that are reached only when the owner was not available at first. */
const AFTER_REFUSAL: ReadonlySet<PersistedPoint> = new Set(['effect.reconciled', 'effect.retried']);

/** `killsEach`: at each point, before and after it. */
export async function runKills(
  killsEach: number,
  points: readonly PersistedPoint[] = PERSISTED_POINTS,
): Promise<KillsResult> {
  const stops = points.flatMap((point) => [{ point, when: 'before' } as const, { point, when: 'after' } as const]);
  const failures: CheckFailure[] = [];
  let killCount = 0;
  let duplicateCount = 0;
  let unresolvedCount = 0;
  for (const stop of stops)
    for (let round = 1; round <= killsEach; round++) {
      const got = await killOnce(stop);
      if (got.ended === 'SIGKILL') killCount += 1;
      duplicateCount += Math.max(0, got.effectCount - 1);
      if (got.open) unresolvedCount += 1;
      if (got.ended === 'SIGKILL' && !got.open && got.effectCount === (got.result === 'completed' ? 1 : 0)) continue;
      failures.push({
        id: `kill:${stop.when}:${stop.point}:${round}`,
        expected: 'ended SIGKILL, then a run that completed with 1 effect or failed with none',
        got: `ended ${got.ended}, then ${got.effectCount} effects and a run that is ${got.result}`,
      });
    }
  return { killCount, pointCount: stops.length, duplicateCount, unresolvedCount, failures };
}

interface Killed {
  readonly ended: string;
  readonly effectCount: number;
  readonly open: boolean;
  readonly result: string;
}

async function killOnce(stop: StopAt & { readonly point: PersistedPoint }): Promise<Killed> {
  await using stage = await openStage();
  const runId = await askIn(stage);
  if (AFTER_REFUSAL.has(stop.point)) stage.owner.fault = 'unavailable_before';
  const ended = await runChild({ ...stop, path: stage.path, origin: stage.owner.origin, runId });
  stage.owner.fault = undefined;
  // The dead process still holds its run until it has been silent for the life of a lock.
  await systemClock.sleep(LOCK_MS);
  await using world = stage.open();
  await world.resume();
  const row = await latestApproval(world, runId);
  // Killed before the decision was durable: whoever approved sees it pending still, and says so again.
  if (row.state === 'pending') await approve(world, row);
  const view = await settled(world, runId);
  // A retry that was begun and not sent may have been the last that the skill allows: then it failed, and everybody knows.
  const open = view.state !== 'ended' || view.effects.some(({ state }) => state !== 'completed' && state !== 'failed');
  return { ended, effectCount: stage.owner.appliedTotal, open, result: view.result ?? view.state };
}

async function askIn(stage: Stage): Promise<string> {
  await using world = stage.open();
  return (await askForNotice(world, 'C-102')).runId;
}

async function runChild(order: KillOrder): Promise<string> {
  const conditions = process.execArgv.filter((argument) => argument.startsWith('--conditions='));
  const child = spawn(process.execPath, [...conditions, CHILD, JSON.stringify(order)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return signal ?? String(code);
}
