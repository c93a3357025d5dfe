/** Each gate is tried on a planted violation in a small tree with this repository's own configuration: a gate that finds nothing is red. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '..');
const CONFIGURATION = ['package.json', 'tsconfig.json', 'knip.json', '.oxlintrc.json', '.oxfmtrc.json'];

interface Tree extends Disposable {
  readonly run: (script: string, args?: readonly string[]) => { readonly status: number | null; readonly text: string };
}

/** The configuration, `files`, and scripts of package.json run as npm would run them. */
function tree(files: Readonly<Record<string, string>>): Tree {
  const directory = mkdtempSync(join(tmpdir(), 'caseops-gates-'));
  for (const file of CONFIGURATION) cpSync(join(ROOT, file), join(directory, file));
  cpSync(join(ROOT, 'tools/node/run.mjs'), join(directory, 'tools/node/run.mjs'));
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  for (const top of ['src', 'cli', 'cases', 'test', 'scripts', 'bench', 'examples'])
    mkdirSync(join(directory, top), { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  // The child must not take itself for a part of this test run.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return {
    run: (script, args = []) => {
      const done = spawnSync('npm', ['run', '-s', script, ...(args.length === 0 ? [] : ['--', ...args])], {
        cwd: directory,
        encoding: 'utf8',
        env,
      });
      return { status: done.status, text: done.stdout + done.stderr };
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

const CALLED = 'export const called = (): number => 1;\n';

test('lint finds a cycle between two files, also one that goes through a room', () => {
  using straight = tree({
    'src/kernel/one.ts': "import { two } from '#kernel/two.ts';\nexport const one = (): number => two();\n",
    'src/kernel/two.ts': CALLED.replace('called', 'two'),
  });
  const passed = straight.run('lint');
  assert.equal(passed.status, 0, passed.text);
  using planted = tree({
    'src/kernel/one.ts': "import { two } from '#kernel/two.ts';\nexport const one = (): number => two();\n",
    'src/kernel/two.ts': "import { one } from '#kernel/one.ts';\nexport const two = (): number => one();\n",
  });
  const refused = planted.run('lint');
  assert.notEqual(refused.status, 0);
  assert.match(refused.text, /no-cycle/);
});

test('lint knows types: a forgotten promise is found', () => {
  using planted = tree({ 'src/runtime/one.ts': 'const later = async (): Promise<void> => {};\nlater();\n' });
  const refused = planted.run('lint');
  assert.notEqual(refused.status, 0);
  assert.match(refused.text, /no-floating-promises/);
});

test('the format check finds a badly formatted file', () => {
  using planted = tree({ 'src/one.ts': 'export const  one = "1"\n' });
  const refused = planted.run('format:check');
  assert.notEqual(refused.status, 0);
  assert.match(refused.text, /src\/one\.ts/);
});

test('the type check finds a wrong type, also through a room', () => {
  using planted = tree({
    'src/kernel/called.ts': CALLED,
    'src/control/one.ts': "import { called } from '#kernel/called.ts';\nexport const one: string = called();\n",
  });
  const refused = planted.run('types');
  assert.notEqual(refused.status, 0);
  assert.match(refused.text, /src\/control\/one\.ts/);
});

test('the unused-code check finds an orphan file and an unused export, and follows imports through rooms', () => {
  using planted = tree({
    'cli/main.ts': "import { called } from '#kernel/called.ts';\nprocess.exitCode = called();\n",
    'src/kernel/called.ts': `${CALLED}export const forgotten = 2;\n`,
    'src/kernel/orphan.ts': 'export const orphan = 1;\n',
  });
  const refused = planted.run('knip', ['--include', 'files,exports']);
  assert.notEqual(refused.status, 0);
  assert.match(refused.text, /src\/kernel\/orphan\.ts/);
  assert.match(refused.text, /forgotten/);
  assert.doesNotMatch(refused.text, /^called\b/m);
});

test('coverage finds an untested branch, and a kernel file that no test imports', () => {
  const everyFile = readFileSync(join(ROOT, 'src/kernel/every-file.test.ts'), 'utf8').replace(/>= \d+/, '>= 1');
  const branch = 'export const pick = (yes: boolean): number => (yes ? 1 : 2);\n';
  const tested = (cases: string): string =>
    `import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { pick } from './pick.ts';\ntest('picks', () => {\n${cases}\n});\n`;
  const one = 'assert.equal(pick(true), 1);';
  const both = `${one}\nassert.equal(pick(false), 2);`;
  using whole = tree({
    'src/kernel/plan-checks/pick.ts': branch,
    'src/kernel/plan-checks/pick.test.ts': tested(both),
    'src/kernel/every-file.test.ts': everyFile,
  });
  const passed = whole.run('test:kernel');
  assert.equal(passed.status, 0, passed.text);
  using half = tree({
    'src/kernel/plan-checks/pick.ts': branch,
    'src/kernel/plan-checks/pick.test.ts': tested(one),
    'src/kernel/every-file.test.ts': everyFile,
  });
  assert.match(half.run('test:kernel').text, /branch coverage does not meet threshold/);
  using unseen = tree({
    'src/kernel/plan-checks/pick.ts': branch,
    'src/kernel/plan-checks/pick.test.ts': tested(both),
    'src/kernel/every-file.test.ts': everyFile,
    'src/kernel/unseen.ts': 'export function unseen(): number {\n  return 1;\n}\n',
  });
  const refused = unseen.run('test:kernel');
  assert.notEqual(refused.status, 0);
  assert.match(refused.text, /line coverage does not meet threshold/);
});
