/** The packed tarball in an empty project: its manifest is sound, it installs, and a case runs against it, sources nowhere in sight. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const workspace = mkdtempSync(join(tmpdir(), 'caseops-package-'));
const project = join(workspace, 'project');
let tarball = '';

const bin = (name: string, args: readonly string[]): { status: number | null; text: string } => {
  const done = spawnSync(process.execPath, [join(ROOT, 'node_modules', name), ...args], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return { status: done.status, text: done.stdout + done.stderr };
};

before(() => {
  rmSync(join(ROOT, 'dist'), { recursive: true, force: true });
  execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  const packed = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--pack-destination', workspace], { cwd: ROOT, encoding: 'utf8' }),
  ) as { filename: string }[] | Record<string, { filename: string }>;
  const [first] = Object.values(packed);
  tarball = join(workspace, first?.filename ?? '');
});

after(() => rmSync(workspace, { recursive: true, force: true }));

test('publint finds nothing wrong with the package', () => {
  const checked = bin('publint/src/cli.js', ['run', '--strict', tarball]);
  assert.equal(checked.status, 0, checked.text);
});

test('the types resolve for ESM users', () => {
  const copy = join(workspace, 'attw.tgz');
  cpSync(tarball, copy);
  const checked = bin('@arethetypeswrong/cli/dist/index.js', ['--profile', 'esm-only', copy]);
  assert.equal(checked.status, 0, checked.text);
});

test('in an empty project the command line answers C-102 from the installed package', () => {
  cpSync(join(ROOT, '.npmrc'), join(project, '.npmrc'));
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ name: 'empty', version: '1.0.0', type: 'module', private: true }),
  );
  execFileSync('npm', ['install', '--no-package-lock', tarball], { cwd: project, stdio: 'pipe' });
  const manifest = JSON.parse(readFileSync(join(project, 'node_modules/caseops/package.json'), 'utf8')) as {
    bin: { caseops: string };
  };
  const done = spawnSync(
    process.execPath,
    [
      join(project, 'node_modules/caseops', manifest.bin.caseops),
      'ask',
      'Why has C-102 not been completed? Do not notify anyone.',
      '-o',
      'json',
    ],
    {
      cwd: project,
      encoding: 'utf8',
    },
  );
  assert.equal(done.status, 0, done.stderr);
  const run = JSON.parse(done.stdout) as {
    result: string;
    claims: { evidence: { ref: string }[] }[];
    effects: unknown[];
  };
  assert.equal(run.result, 'completed');
  assert.ok(run.claims.flatMap((claim) => claim.evidence.map((item) => item.ref)).includes('claim:C-102@v17'));
  assert.deepEqual(run.effects, []);
});
