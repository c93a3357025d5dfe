/** A process of a drill: goes on with a run of a stage in a world of its own, or dies at the owner's commit. */
import type { RunId } from '#contracts/ids.ts';
import type { EffectTarget } from '#ports/effect-target.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { SUPERVISOR_WORKLOAD } from '#runtime/workloads.ts';
import type { ChildOrder } from './drill-process.ts';
import { approve, latestApproval, settled } from './desk-work.ts';
import { REQUESTER } from './notice-teams.ts';
import { openStageWorld } from './stage.ts';

const SLOW_MS = 700;
const SETTLE_MS_MAX = 6_000;
const order = JSON.parse(process.argv.at(-1) ?? '') as ChildOrder;

/** Applies, and is gone before anything can be written about it. */
function dying(target: EffectTarget): EffectTarget {
  return {
    ...target,
    apply: async (request, signal) => {
      const applied = await target.apply(request, signal);
      process.kill(process.pid, 'SIGKILL');
      return applied;
    },
  };
}

/** Holds the effect under way long enough for the other process to come upon it. */
function slow(target: EffectTarget): EffectTarget {
  return {
    ...target,
    apply: async (request, signal) => {
      process.stdout.write('sending\n');
      await systemClock.sleep(SLOW_MS);
      return target.apply(request, signal);
    },
  };
}

const { path, origin, breakName, shared, runId, act } = order;
await using world = openStageWorld({
  path,
  origin,
  breakName,
  setting: shared ? { keyOf: () => 'notice-of-the-day' } : {},
  wrapTarget: act === 'die-at-commit' ? dying : slow,
});
process.stdout.write('ready\n');
if (act === 'die-at-commit') {
  await approve(world, await latestApproval(world, runId));
} else {
  await new Promise((resolve) => void process.stdin.once('data', resolve));
  process.stdin.destroy();
  // A command to the run takes it over when no other process has it.
  const taken = await world.driver.deliver(
    { tenant: REQUESTER.tenant, runId: runId as RunId },
    { kind: 'tick', at: systemClock.now(), actor: SUPERVISOR_WORKLOAD },
  );
  // Refused: another process has it, and this one waits for what becomes of it.
  if (!taken.ok) process.stdout.write(`${taken.error.code}\n`);
}
await settled(world, runId, SETTLE_MS_MAX);
