/** The shape of the repository as a test: who may import whom, the walls, the banned words. Each rule is tried on planted violations. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkSources, type SourceFile } from './tidy-rules.ts';

const ROOT = join(import.meta.dirname, '..');
const TOP = ['src', 'cli', 'cases', 'test', 'bench', 'scripts', 'examples'];

function sources(): readonly SourceFile[] {
  const seen: SourceFile[] = [];
  for (const top of TOP) {
    let entries: string[];
    try {
      entries = readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' });
    } catch {
      continue;
    }
    for (const entry of entries) {
      if (!/\.(ts|tsx|mjs)$/.test(entry) || entry.includes('node_modules') || entry.startsWith('peers')) continue;
      const path = `${top}/${entry}`;
      seen.push({ path, text: readFileSync(join(ROOT, path), 'utf8') });
    }
  }
  return seen;
}

const all = sources();

test('the scan sees the source tree', () => {
  assert.ok(all.length >= 60, `only ${all.length} files were read under ${ROOT}`);
  for (const room of ['contracts', 'kernel', 'ports']) {
    assert.ok(
      all.filter((file) => file.path.startsWith(`src/${room}/`)).length >= 5,
      `hardly a file of src/${room} was read`,
    );
  }
});

test('every file keeps the import table, the walls and the banned list', () => {
  assert.deepEqual(checkSources(all), []);
});

const plant = (path: string, text: string): readonly string[] =>
  checkSources([{ path, text }]).map((violation) => violation.rule);

test('planted violations are found, each by its own rule', () => {
  assert.deepEqual(plant('src/kernel/a.ts', "import { x } from '#control/x.ts';"), ['import']);
  assert.deepEqual(plant('src/kernel/a.ts', "import { x } from 'node:fs';"), ['import']);
  assert.deepEqual(plant('src/kernel/a.ts', "import x from 'jose';"), ['import']);
  assert.deepEqual(plant('src/control/a.ts', "import { x } from '#execution/x.ts';"), ['import']);
  assert.deepEqual(plant('src/execution/a.ts', "import { x } from '#control/x.ts';"), ['import']);
  assert.deepEqual(plant('src/control/a.ts', "import { x } from '../kernel/x.ts';"), ['import']);
  assert.deepEqual(plant('src/stores/a.ts', "const x = await import('#runtime/x.ts');"), ['import']);
  assert.deepEqual(plant('src/stores/a.ts', "import { x } from '#testing/x.ts';"), ['import']);
  assert.deepEqual(plant('src/stores/a-suite.ts', "import { x } from '#testing/x.ts';"), []);
  assert.deepEqual(plant('src/protocols/http/a.ts', "import express from 'express';"), ['import']);
  assert.deepEqual(plant('src/protocols/a2a/a.ts', "import { Hono } from 'hono';"), ['import']);
  assert.deepEqual(plant('cases/claims/a.ts', "import { x } from '#kernel/digest.ts';"), ['import']);
  assert.deepEqual(plant('cli/a.ts', "import { x } from '../src/kernel/digest.ts';"), ['import']);
  assert.deepEqual(plant('src/helpers/a.ts', 'export const x = 1;'), ['room']);
  assert.deepEqual(plant('src/kernel/index.ts', 'export const x = 1;'), ['name']);
  assert.deepEqual(plant('src/kernel/BadName.ts', 'export const x = 1;'), ['name']);
  assert.deepEqual(plant('src/kernel/a.ts', 'const x = Date.now();'), ['global']);
  assert.deepEqual(plant('src/control/a.ts', 'const x = Math.random();'), ['global']);
  assert.deepEqual(plant('src/control/a.ts', 'setTimeout(() => {}, 1);'), ['global']);
  assert.deepEqual(plant('src/control/a.ts', 'const x: any = 1;'), ['ban']);
  assert.deepEqual(plant('src/control/a.ts', '// @ts-ignore'), ['ban']);
  assert.deepEqual(plant('src/control/a.ts', '// TODO later'), ['ban']);
  assert.deepEqual(plant('src/control/a.ts', 'export default 1;'), ['ban']);
  assert.deepEqual(plant('src/control/a.ts', "export * from './b.ts';"), ['ban']);
  assert.deepEqual(plant('src/control/a.ts', 'enum X { A }'), ['ban']);
  assert.deepEqual(plant('src/control/a.test.ts', 'test.skip("x", () => {});'), ['ban']);
  assert.deepEqual(plant('src/control/a.ts', 'x\n'.repeat(401)), ['file-wall']);
  assert.deepEqual(plant('src/control/a.ts', `function f() {\n${'  x();\n'.repeat(61)}}\n`), ['function-wall']);
  assert.deepEqual(plant('src/control/a.ts', 'function f(a: 1, b: 2, c: 3, d: 4) {}'), ['parameters']);
});
