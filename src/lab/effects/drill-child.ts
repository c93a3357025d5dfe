/** A process of a drill: goes on with a run of a stage in a world of its own, or dies at the owner's commit. */
import { CaseOpsError } from '#contracts/error.ts';
import type { RunId } from '#contracts/ids.ts';
import type { EffectTarget } from '#ports/effect-target.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { SUPERVISOR_WORKLOAD } from '#runtime/workloads.ts';
import type { ChildOrder } from './drill-process.ts';
import { approve, latestApproval, settled } from './desk-work.ts';
import { REQUESTER } from './notice-teams.ts';
import { openStageWorld } from './stage.ts';

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

const { path, origin, breakName, shared, runId, act } = order;
await using world = openStageWorld({
  path,
  origin,
  breakName,
  setting: shared ? { keyOf: () => 'notice-of-the-day' } : {},
  ...(act === 'die-at-commit' ? { wrapTarget: dying } : {}),
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
  if (!taken.ok) throw new CaseOpsError(taken.error.code, taken.error.message, { at: 'lab' });
}
await settled(world, runId);
