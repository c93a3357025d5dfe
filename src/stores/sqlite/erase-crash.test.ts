/** A process that is killed while it erases leaves no half-erased run. INV-11. Decision 0022. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { verifyChain } from '#kernel/chain.ts';
import { digestOfBytes } from '#kernel/digest.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { artifactOf, commitOf, committed, refOf, START_MS } from '../suite-samples.ts';
import { openSqliteStore } from './sqlite-store.ts';

const RUN_COUNT = 300;
const EVENT_COUNT = 20;

/** Erases until `dots` runs are reported erased, then is killed with whatever it does. */
async function killedAfter(path: string, dots: number): Promise<void> {
  const child = spawn(
    process.execPath,
    ['--conditions=@caseops/source', fileURLToPath(new URL('./erase-child.ts', import.meta.url)), path],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = once(child, 'close');
  let said = '';
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.length >= dots || said.endsWith('\n')) resolve();
    });
  });
  child.kill('SIGKILL');
  await ended;
}

test('killed in the middle of erasing, each run is whole or erased, and nothing erased is in the file', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'caseops-erase-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'runs.db');
  const refs = Array.from({ length: RUN_COUNT }, (_, index) => refOf(`erase-${index}`));
  {
    await using store = openSqliteStore({ path, clock: seededClock(START_MS) });
    await Promise.all(
      refs.map((ref) =>
        committed(
          store,
          commitOf(ref, { eventCount: EVENT_COUNT, phase: 'ended', records: [artifactOf(ref, ref.runId)] }),
        ),
      ),
    );
  }
  for (const dots of [1, 40, 40]) await killedAfter(path, dots);
  let erasedCount = 0;
  {
    await using store = openSqliteStore({ path, clock: seededClock(START_MS) });
    for (const ref of refs) {
      const events = await store.events(ref, 0, 100);
      assert.equal(verifyChain({ ref, seq: 0, hash: '' }, events).ok, true, ref.runId);
      const goneCount = events.filter(({ kind }) => kind === 'body.erased').length;
      const isErased = events.at(-1)?.kind === 'run.erased';
      assert.equal(goneCount, isErased ? events.filter(({ kind }) => kind !== 'run.erased').length : 0, ref.runId);
      assert.equal((await store.artifact('t9', digestOfBytes(ref.runId))) === undefined, isErased, ref.runId);
      assert.equal((await store.head(ref))?.subject, isErased ? 'erased' : 'claim:C-102');
      if (isErased) erasedCount += 1;
    }
    assert.ok(erasedCount > 40 && erasedCount < RUN_COUNT, `${erasedCount} of ${RUN_COUNT}`);
  }
  await killedAfter(path, Infinity);
  assert.doesNotMatch(readFileSync(path, 'latin1'), /Why is C-102 open|round \d+/);
});
