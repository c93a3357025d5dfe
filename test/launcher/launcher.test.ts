/** The launcher runs the pinned Node, passes arguments, exit codes and signals through, and says plainly what is wrong without one. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { test } from 'node:test';

const LAUNCHER = join(import.meta.dirname, '../../tools/node/run.mjs');

test('it runs the pinned version and passes arguments and the exit code through', () => {
  const done = spawnSync(
    process.execPath,
    [LAUNCHER, '-e', 'console.log(process.version, process.argv[1]); process.exit(7)', 'x'],
    { encoding: 'utf8' },
  );
  assert.equal(done.stdout.trim(), 'v26.10.0 x');
  assert.equal(done.status, 7);
});

test('a signal reaches the child, and its end is the launcher’s end', async () => {
  const child = spawn(process.execPath, [
    LAUNCHER,
    '-e',
    'process.on("SIGTERM", () => process.exit(9)); process.stdout.write("up"); setInterval(() => {}, 1000)',
  ]);
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  assert.equal(code, 9);
});

test('without the pinned package an old Node is refused with the next command', () => {
  const directory = mkdtempSync(join(tmpdir(), 'launcher-'));
  mkdirSync(join(directory, 'tools'));
  cpSync(LAUNCHER, join(directory, 'tools/run.mjs'));
  const done = spawnSync(
    process.execPath,
    [
      '-e',
      `Object.defineProperty(process.versions, 'node', { value: '20.0.0' }); process.argv = ['node', 'run.mjs', '-v']; await import(${JSON.stringify(join(directory, 'tools/run.mjs'))})`,
      '--input-type=module',
    ],
    { encoding: 'utf8' },
  );
  rmSync(directory, { recursive: true });
  assert.equal(done.status, 1);
  assert.match(done.stderr, /needs Node 24 or later.*npm ci/s);
});
