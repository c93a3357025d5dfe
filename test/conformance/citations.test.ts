/** Every requirement is cited by a test; a pending one is not claimed to hold. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { REQUIREMENTS } from './requirements.ts';

const ROOT = join(import.meta.dirname, '../..');

const tests = ['src', 'cli', 'cases', 'test'].flatMap((top) =>
  readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts') && !path.includes('conformance'))
    .map((path) => readFileSync(join(ROOT, top, path), 'utf8')),
);

/** The ids of `wanted` that occur in none of `texts`, as whole words. */
function uncited(wanted: readonly string[], texts: readonly string[]): readonly string[] {
  return wanted.filter((id) => {
    const word = new RegExp(`(?<![A-Z0-9_-])${id}(?![A-Z0-9_-])`);
    return !texts.some((text) => word.test(text));
  });
}

test('the scan sees the tests', () => {
  assert.ok(tests.length >= 40, `only ${tests.length} test files were read`);
});

test('every requirement that is not pending is cited by a test', () => {
  assert.deepEqual(
    uncited(
      REQUIREMENTS.filter((requirement) => requirement.pending === undefined).map(({ id }) => id),
      tests,
    ),
    [],
  );
});

test('ids are unique, and a planted uncited id is found', () => {
  assert.equal(new Set(REQUIREMENTS.map(({ id }) => id)).size, REQUIREMENTS.length);
  assert.deepEqual(uncited(['INV-01', 'INV-99'], ['test("INV-01 …"', 'INV-990']), ['INV-99']);
});
