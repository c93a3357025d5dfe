/** Faults that come at a time of their own, armed when the world begins. */
import { RIVAL_ROLE } from './fault.ts';
import type { World } from './world.ts';

/** Returns when the last of all faults that have a time is over. */
export function scheduleFaults(world: World, start: (role: string) => void): number {
  const { time, startMs, book } = world;
  let lastMs = startMs;
  for (const fault of book.timed) {
    const atMs = startMs + fault.atMs;
    lastMs = Math.max(lastMs, atMs + ('forMs' in fault ? fault.forMs : 'downMs' in fault ? fault.downMs : 0));
    if (fault.kind !== 'partition') time.at(atMs, () => strike(world, fault, start));
  }
  return lastMs;
}

function strike(world: World, fault: World['book']['timed'][number], start: (role: string) => void): void {
  const { time, targets } = world;
  switch (fault.kind) {
    case 'kill': {
      const process = world.supervisors.get(fault.who) ?? world.teamProcesses.get(fault.who);
      if (process !== undefined) world.crash(fault.who, process.life, fault.downMs);
      return;
    }
    case 'rival':
      if (!world.supervisors.has(RIVAL_ROLE)) start(RIVAL_ROLE);
      return;
    case 'hidden':
      for (const owner of targets) owner.hiddenReadBackCount += fault.count;
      return;
    case 'move':
      for (const owner of targets) owner.move(`notice-draft:D-C-10${fault.pick}`);
      return;
    case 'jump':
      return time.jump(fault.ms);
    case 'partition':
      return;
  }
}
