/** The child process of the driver suite's crash test: opens runs without end and says what was written, until it is killed. */
import type { DriverSubject } from './suite-world.ts';
import { openWorld } from './suite-world.ts';

const RUNS_IN_FLIGHT = 6;

/** Never resolves while the store works. Prints a run's id when it was opened, and a line for each step that was settled. */
export async function runUntilKilled(place: DriverSubject): Promise<void> {
  await using world = await openWorld(place, {
    owner: 'process-killed',
    perform: async (own, { ref, todo }, state) => {
      if (todo.kind !== 'send') return;
      await own.finish(ref, todo, state);
      process.stdout.write(`settled ${todo.stepId}\n`);
    },
  });
  const oneAfterTheOther = async (): Promise<void> => {
    for (;;) {
      const ref = await world.open();
      process.stdout.write(`${ref.runId}\n`);
      await world.driver.settled(ref);
    }
  };
  await Promise.all(Array.from({ length: RUNS_IN_FLIGHT }, oneAfterTheOther));
}
