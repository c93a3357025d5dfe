/** The guides, followed as a new user would: files written as they stand, commands run as they stand, output compared. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { stepsOf } from './guide.ts';

const ROOT = join(import.meta.dirname, '../..');
/** A copy of the repository as far as the guides need it: what they write does not touch this one. */
let checkout: string;

before(() => {
  checkout = mkdtempSync(join(tmpdir(), 'caseops-guide-'));
  for (const name of ['package.json', 'tsconfig.json', 'cases'])
    cpSync(join(ROOT, name), join(checkout, name), { recursive: true });
  for (const name of ['src', 'assets', 'tools', 'node_modules']) symlinkSync(join(ROOT, name), join(checkout, name));
});
after(() => rmSync(checkout, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));

for (const guide of ['how-to-add-a-team.md', 'how-to-add-a-tool.md'])
  test(`docs/${guide} works step by step`, () => {
    const steps = stepsOf(readFileSync(join(ROOT, 'docs', guide), 'utf8'));
    assert.ok(steps.filter(({ kind }) => kind === 'write').length >= 4);
    assert.ok(steps.some((step) => step.kind === 'run' && step.prints.length > 0));
    for (const step of steps)
      if (step.kind === 'write') write(step.path, step.text);
      else run(step.commands, step.prints);
  });

test('what the guides write compiles under the rules of this repository', () => {
  const config = { extends: './tsconfig.json', include: ['cases/parcels'] };
  writeFileSync(join(checkout, 'tsconfig.guide.json'), JSON.stringify(config));
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const done = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.guide.json'], { cwd: checkout, encoding: 'utf8' });
  assert.equal(done.status, 0, done.stdout);
});

test('a guide with a code block that says not what to do with it is refused', () => {
  assert.throws(() => stepsOf('Look:\n\n```ts\nx\n```\n'), /1 code blocks, 0 with an instruction/);
});

function write(path: string, text: string): void {
  const target = join(checkout, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
}

function run(commands: readonly string[], prints: readonly string[]): void {
  let printed = '';
  for (const command of commands) {
    const done = spawnSync('sh', ['-c', command], {
      cwd: checkout,
      encoding: 'utf8',
      timeout: 120_000,
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, NO_COLOR: '1' },
    });
    assert.equal(done.status, 0, `${command}\n${done.stdout}\n${done.stderr}`);
    printed += done.stdout;
  }
  const lines = printed.split('\n').map((line) => line.trim());
  for (const line of prints) assert.ok(lines.includes(line.trim()), `${line}\nis not in\n${printed}`);
}
