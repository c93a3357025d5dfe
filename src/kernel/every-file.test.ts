/** Coverage counts only files that some test loaded; here every kernel file is loaded, so that none can be left out of the figure. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' }).filter(
  (entry) => entry.endsWith('.ts') && !entry.endsWith('.test.ts'),
);

test('every kernel file loads on its own', async () => {
  const loaded = new Set<unknown>();
  for (const file of files) loaded.add(await import(pathToFileURL(join(import.meta.dirname, file)).href));
  assert.equal(loaded.size, files.length);
});

test('the listing sees the kernel and its subfolder', () => {
  assert.ok(files.length >= 80, `only ${files.length} kernel files were found`);
  assert.ok(files.some((file) => file.startsWith('plan-checks')));
});
