/** Started by the campaign: approves what waits in a database, and kills itself at a point of the write path. */
import { approve, latestApproval, settled } from '#lab/effects/desk-work.ts';
import { openNoticeWorld } from '#lab/effects/open-world.ts';
import { policyOf } from '#lab/effects/stage.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { systemIds } from '#runtime/system-ids.ts';
import { noticeService } from '#testing/notice-service.ts';
import { stopAtCommit, stopAtOwner, type StopAt } from './effects-points.ts';

export interface KillOrder extends StopAt {
  readonly path: string;
  readonly origin: string;
  readonly runId: string;
}

const order = JSON.parse(process.argv.at(-1) ?? '') as KillOrder;
const die = (): Promise<void> => {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
};
await using world = openNoticeWorld({
  path: order.path,
  clock: systemClock,
  ids: systemIds,
  policy: policyOf(),
  target: stopAtOwner(noticeService(order.origin, systemClock), order, die),
  wrapStore: (store) => stopAtCommit(store, order, die),
});
await approve(world, await latestApproval(world, order.runId));
await settled(world, order.runId);
