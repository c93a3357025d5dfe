/** Faults that come at a time of their own, armed when the world begins. */
import { RIVAL_ROLE } from './fault.ts';
import type { World } from './world.ts';

/** The world lasts until the last of them is over. */
export function scheduleFaults(world: World, start: (role: string) => void): void {
  const { time, startMs, book } = world;
  for (const fault of book.timed) {
    const atMs = startMs + fault.atMs;
    const lengthMs = 'forMs' in fault ? fault.forMs : 'downMs' in fault ? fault.downMs : 0;
    world.lastMs = Math.max(world.lastMs, atMs + lengthMs);
    if (fault.kind !== 'partition') time.at(atMs, () => strike(world, fault, start));
  }
}

function strike(world: World, fault: World['book']['timed'][number], start: (role: string) => void): void {
  const { time, targets } = world;
  switch (fault.kind) {
    case 'kill': {
      const process = world.supervisors.get(fault.who) ?? world.teamProcesses.get(fault.who);
      if (process !== undefined) world.crash(fault.who, process.life, fault.downMs);
      return;
    }
    case 'blackout': {
      const all = [...world.teamProcesses, ...world.supervisors];
      for (const [role, { life }] of all) world.crash(role, life, fault.downMs);
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
      world.lastMs += fault.ms;
      return time.jump(fault.ms);
    case 'partition':
      return;
  }
}
