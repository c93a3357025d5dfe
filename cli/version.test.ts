import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { VERSION as LIBRARY_VERSION } from 'caseops';
import { VERSION } from './version.ts';

test('command line, library and manifest say the same version', () => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };
  assert.deepEqual([VERSION, LIBRARY_VERSION], [manifest.version, manifest.version]);
});
