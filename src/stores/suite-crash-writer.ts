/**
 * The child process of the store suite's crash test: commits without end and says each acknowledged commit on its output, until it
 * is killed. Each commit holds two events, one job and one lease, so that half a commit would be seen.
 */
import type { RunEvent } from '#contracts/event.ts';
import type { Store } from '#ports/store.ts';
import { commitOf, jobOf, leaseOf, refOf } from './suite-samples.ts';

const RUN_COUNT = 8;
export const EVENTS_PER_COMMIT = 2;

/** Never resolves while the store works. Prints `RUN COUNT` after the nth acknowledged commit of a run. */
export async function commitUntilKilled(store: Store): Promise<void> {
  await Promise.all(Array.from({ length: RUN_COUNT }, (_, run) => commitOneRun(store, `crash-${run}`)));
}

async function commitOneRun(store: Store, name: string): Promise<void> {
  const ref = refOf(name);
  let after: readonly RunEvent[] = [];
  for (let count = 1; ; count++) {
    const commit = commitOf(ref, {
      after,
      eventCount: EVENTS_PER_COMMIT,
      addJobs: [jobOf(ref, count)],
      records: [{ table: 'lease', row: leaseOf(ref, `lse_${name}-${count}`) }],
    });
    const outcome = await store.commit(commit);
    if (!outcome.ok) throw new Error(`commit ${count} of ${name} was refused: ${outcome.conflict}`);
    process.stdout.write(`${name} ${count}\n`);
    after = commit.events;
  }
}
