/** Drills in which a process dies, or two work on one database. */
import { approve, askForNotice, eventsOf, settled } from './desk-work.ts';
import { type ChildOrder, startDrillProcess } from './drill-process.ts';
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
  {
    id: 'two-writers-racing',
    title: 'Two processes on one database apply two approvals of one action at the same time.',
    effectCount: 1,
    guard: 'replayed',
    expected: { ended: '0,0', results: 'completed,completed', references: 1, receipts: 1 },
    play: playRacing,
  },
  {
    id: 'two-writers-one-run',
    title: 'Two processes on one database take up the same run while its effect is under way.',
    effectCount: 1,
    guard: 'ERR_FENCE',
    expected: { ended: '0,0', result: 'completed', effect: 'completed', attempts: 1, spent: 1 },
    play: playOneRun,
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

const SHARED_KEY = 'notice-of-the-day';

async function playRacing(stage: Stage): Promise<Told> {
  const runIds = await approveTwo(stage);
  const children = runIds.map((runId) => startDrillProcess(orderOf(stage, runId, true)));
  await Promise.all(children.map((child) => child.until('ready')));
  for (const child of children) child.go();
  const ended = await Promise.all(children.map((child) => child.ended));
  await using world = stage.open({ held: true });
  const views = await Promise.all(runIds.map((runId) => settled(world, runId)));
  const kinds = (await Promise.all(runIds.map((runId) => eventsOf(world, runId)))).flat().map(({ kind }) => kind);
  const references = views.flatMap(({ claims }) =>
    claims.flatMap(({ evidence }) => evidence.map(({ anchor }) => anchor)),
  );
  return {
    guard: kinds.includes('effect.replayed') ? 'replayed' : 'none',
    facts: {
      ended: ended.join(','),
      results: views.map(({ result }) => result ?? 'none').join(','),
      references: new Set(references).size,
      receipts: kinds.filter((kind) => kind === 'effect.confirmed').length,
    },
  };
}

/** Two runs that were approved the same action under the same key, not yet begun. */
async function approveTwo(stage: Stage): Promise<readonly string[]> {
  await using world = stage.open({ held: true, keyOf: () => SHARED_KEY });
  const rows = [await askForNotice(world, 'C-102'), await askForNotice(world, 'C-102')];
  for (const row of rows) await approve(world, row);
  return rows.map(({ runId }) => runId);
}

async function playOneRun(stage: Stage): Promise<Told> {
  const runId = await approveHeld(stage);
  const first = startDrillProcess(orderOf(stage, runId, false));
  const second = startDrillProcess(orderOf(stage, runId, false));
  const children = [first, second];
  await Promise.all(children.map((child) => child.until('ready')));
  first.go();
  await first.until('sending');
  second.go();
  const ended = await Promise.all(children.map((child) => child.ended));
  await using world = stage.open({ held: true });
  const view = await settled(world, runId);
  const events = await eventsOf(world, runId);
  const said = children.map((child) => child.said().trim().split('\n').at(-1) ?? '');
  return {
    guard: said.find((word) => word.startsWith('ERR_')) ?? 'none',
    facts: {
      ended: ended.join(','),
      result: view.result ?? 'none',
      ...effectFacts(view),
      spent: events.filter(({ kind }) => kind === 'approval.spent').length,
    },
  };
}

async function approveHeld(stage: Stage): Promise<string> {
  await using world = stage.open({ held: true });
  return (await approve(world, await askForNotice(world, 'C-102'))).runId;
}

function orderOf({ path, owner, breakName }: Stage, runId: string, shared: boolean): ChildOrder {
  return { act: 'go-on', path, origin: owner.origin, breakName, runId, shared };
}
