import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { holdDataDirectory } from './data-directory.ts';

const root = mkdtempSync(join(tmpdir(), 'caseops-data-'));
after(() => rmSync(root, { recursive: true, force: true }));

test('a directory is made for its owner only', () => {
  const directory = join(root, 'a/b');
  using hold = holdDataDirectory(directory);
  assert.ok(hold);
  assert.equal(statSync(directory).mode & 0o777, 0o700);
});

test('one runtime has a directory; the next gets it when the first lets go', () => {
  const directory = join(root, 'one');
  {
    using hold = holdDataDirectory(directory);
    assert.ok(hold);
    assert.throws(() => holdDataDirectory(directory), { code: 'ERR_CONFIG', message: /Another runtime has/ });
  }
  holdDataDirectory(directory)[Symbol.dispose]();
});

test('a hold ends with its process, even with kill -9', () => {
  const directory = join(root, 'killed');
  const script = `
    import { holdDataDirectory } from ${JSON.stringify(join(import.meta.dirname, 'data-directory.ts'))};
    globalThis.hold = holdDataDirectory(${JSON.stringify(directory)});
    process.kill(process.pid, 'SIGKILL');`;
  const done = spawnSync(process.execPath, [...process.execArgv, '--input-type=module', '-e', script], {
    encoding: 'utf8',
  });
  assert.equal(done.signal, 'SIGKILL', done.stderr);
  holdDataDirectory(directory)[Symbol.dispose]();
});

test('a place where nothing can be written is refused in words', () => {
  const file = join(root, 'file');
  writeFileSync(file, '');
  assert.throws(() => holdDataDirectory(file), { code: 'ERR_CONFIG', message: /cannot be used: .*Make it writable/ });
  assert.throws(() => holdDataDirectory('/proc/caseops'), { code: 'ERR_CONFIG', message: /cannot be used/ });
});
