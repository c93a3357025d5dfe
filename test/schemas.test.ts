/** The published schemas are what the contracts say, and a change of one raises its version. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { schemaFiles } from './schema-files.ts';
import { lockEntry, versionFindings, type Locked } from './schema-versions.ts';

const ROOT = join(import.meta.dirname, '..');
const committed = new Map(
  readdirSync(join(ROOT, 'schemas'))
    .filter((name) => name.endsWith('.json'))
    .map((name) => [name, readFileSync(join(ROOT, 'schemas', name), 'utf8')]),
);

test('schemas/ holds exactly the published contracts, as they are now (npm run schemas writes them)', () => {
  const now = schemaFiles();
  assert.ok(now.size >= 40, `only ${now.size} contracts`);
  assert.deepEqual([...committed.keys()].toSorted(), [...now.keys()].toSorted());
  for (const [name, text] of now) assert.equal(committed.get(name), text, `${name} differs from its contract`);
});

test('a schema that changed since the last release has a higher version', () => {
  const lock = JSON.parse(readFileSync(join(ROOT, 'schemas/released.lock'), 'utf8')) as Record<string, Locked>;
  assert.deepEqual(versionFindings(committed, lock), []);
});

test('a planted change without a version raise is found', () => {
  const [name, text] = [...committed][0] ?? ['', ''];
  const lock = { [name]: lockEntry(text) };
  assert.deepEqual(versionFindings(new Map([[name, text]]), lock), []);
  assert.equal(
    versionFindings(new Map([[name, text.replace('"type"', '"description": "x", "type"')]]), lock).length,
    1,
  );
});
