/** A driver whose reports about steps may reach the run again later: as they were, or with another content under the same address. */
import type { Command, RunRef } from '#contracts/command.ts';
import { artifactDigest } from '#kernel/artifact-acceptance.ts';
import { digestOfBytes } from '#kernel/digest.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { Driver } from '#ports/driver.ts';
import type { RecordWrite } from '#ports/store.ts';
import type { ProcessLife } from './process-life.ts';
import type { World } from './world.ts';

const REPORTS: ReadonlySet<Command['kind']> = new Set(['start', 'deliver', 'fail']);

export function repeatingDriver(world: World, life: ProcessLife, driver: Driver<RunState>): Driver<RunState> {
  return {
    ...driver,
    deliver: (ref, command, records = []) => {
      const fault = REPORTS.has(command.kind) ? world.book.report() : undefined;
      if (fault !== undefined) {
        const later = fault.how === 'changed' ? changed(command, records) : { command, records };
        const atMs = world.time.nowMs() + fault.afterMs;
        world.lastMs = Math.max(world.lastMs, atMs + 1);
        life.clock(world.time).at(atMs, () => void again(driver, { ref, life, ...later }, world));
      }
      return driver.deliver(ref, command, records);
    },
    [Symbol.asyncDispose]: () => driver[Symbol.asyncDispose](),
  };
}

interface Report {
  readonly command: Command;
  readonly records: readonly RecordWrite[];
}

async function again(
  driver: Driver<RunState>,
  { ref, command, records, life }: Report & { readonly ref: RunRef; readonly life: ProcessLife },
  world: World,
): Promise<void> {
  if (life.dead) return;
  // A store that fails loses the repetition: nobody waits for it.
  await driver.deliver(ref, { ...command, at: world.time.now() }, records).catch(() => undefined);
}

/** The same address, and something else in it. */
function changed(command: Command, records: readonly RecordWrite[]): Report {
  if (command.kind !== 'deliver' || command.artifact.data === undefined) return { command, records };
  const { contentDigest: _, ...open } = command.artifact;
  const other = { ...open, status: 'partial' as const, missing: ['said later'] };
  const artifact = { ...other, contentDigest: artifactDigest(other) };
  const bytes = new TextEncoder().encode(JSON.stringify(artifact));
  const artifactRef = digestOfBytes(bytes);
  return {
    command: { ...command, artifact, artifactRef, sizeBytes: bytes.byteLength },
    records: records.map((row) => (row.table === 'artifact' ? { ...row, digest: artifactRef, bytes } : row)),
  };
}
