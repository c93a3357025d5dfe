/** The kernel as the driver uses it. Simulation gives a broken one, to see that its violation is caught. */
import type { Command, RunRef, Todo } from '#contracts/command.ts';
import type { RunEvent } from '#contracts/event.ts';
import { type Decision, decide } from '#kernel/decide.ts';
import { evolveFrom } from '#kernel/evolve.ts';
import { next } from '#kernel/next.ts';
import type { RunState } from '#kernel/run-state.ts';

/** Pure and synchronous; `evolve` changes the state in place. */
export interface RunKernel {
  decide(state: RunState | undefined, command: Command, ref: RunRef): Decision;
  evolve(state: RunState | undefined, event: RunEvent): RunState | undefined;
  next(state: RunState, at: string): readonly Todo[];
}

/** The kernel that is shipped. */
export const shippedKernel: RunKernel = { decide, evolve: evolveFrom, next };
