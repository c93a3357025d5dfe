/** Drills in which a process dies, or two work on one database. */
import { askForNotice, eventsOf, settled } from './desk-work.ts';
import { startDrillProcess } from './drill-process.ts';
import type { Stage } from './stage.ts';
import { effectFacts } from './stories-owner.ts';
import type { Story, Told } from './story.ts';

export const PROCESS_STORIES: readonly Story[] = [
  {
    id: 'writer-killed-after-commit',
    title: 'The writer is killed between the commit at the owner and its own record.',
    effectCount: 1,
    guard: 'look_up',
    expected: { ended: 'SIGKILL', result: 'completed', effect: 'completed', attempts: 1, sendsAfter: 0 },
    play: playKilled,
  },
];

async function playKilled(stage: Stage): Promise<Told> {
  const runId = await askIn(stage);
  const { ended } = startDrillProcess({
    act: 'die-at-commit',
    path: stage.path,
    origin: stage.owner.origin,
    breakName: stage.breakName,
    runId,
    shared: false,
  });
  const how = await ended;
  await using world = stage.open();
  await world.resume();
  const view = await settled(world, runId);
  const kinds = (await eventsOf(world, runId)).map(({ kind }) => kind);
  // The intention is in the log, the answer is not: what was begun was looked up, not begun again.
  const lookedUp =
    kinds.includes('effect.intended') && !kinds.includes('effect.sent') && kinds.includes('run.recovered');
  return {
    guard: lookedUp && kinds.includes('effect.confirmed') ? 'look_up' : 'none',
    facts: { ended: how, result: view.result ?? 'none', ...effectFacts(view), sendsAfter: stage.sendCount },
  };
}

async function askIn(stage: Stage): Promise<string> {
  await using world = stage.open();
  return (await askForNotice(world, 'C-102')).runId;
}
