/** docs/errors.md is what the code union says, as it is now. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ERROR_CODES } from '#contracts/error.ts';
import { ERROR_MEANINGS } from '../../scripts/error-meanings.ts';
import { errorReference } from '../../scripts/error-reference.ts';

const file = readFileSync(join(import.meta.dirname, '../../docs/errors.md'), 'utf8');

test('docs/errors.md is not stale (npm run errors writes it)', () => {
  assert.equal(file, errorReference());
});

test('every code of the union has one row with its meaning and what to do next, and no other code has one', () => {
  const rows = [...file.matchAll(/^\| `(ERR_\w+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \| (\d{3}) \|$/gm)];
  assert.deepEqual(
    rows.map(([, code = '']) => code).toSorted((a, b) => (a < b ? -1 : 1)),
    Object.keys(ERROR_CODES).toSorted((a, b) => (a < b ? -1 : 1)),
  );
  assert.ok(rows.length >= 60, `only ${rows.length} codes`);
  for (const [, code, meaning = '', next = ''] of rows) {
    assert.ok(meaning.length > 15 && next.length > 10, String(code));
    assert.match(meaning, /\.$/, String(code));
  }
  assert.deepEqual(
    Object.keys(ERROR_MEANINGS).toSorted(),
    Object.keys(ERROR_CODES).toSorted((a, b) => (a < b ? -1 : 1)),
  );
});
