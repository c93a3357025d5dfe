/** Writes `schemas/<id>.json` from the published contracts; with `--release` also the lock against which versions are checked. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockEntry } from '../test/schema-versions.ts';
import { schemaFiles } from '../test/schema-files.ts';

const DIRECTORY = join(import.meta.dirname, '../schemas');

mkdirSync(DIRECTORY, { recursive: true });
const files = schemaFiles();
for (const name of readdirSync(DIRECTORY))
  if (name.endsWith('.json') && !files.has(name)) rmSync(join(DIRECTORY, name));
let written = 0;
for (const [name, text] of files) {
  let before = '';
  try {
    before = readFileSync(join(DIRECTORY, name), 'utf8');
  } catch {
    // A new contract has no file yet.
  }
  if (before === text) continue;
  writeFileSync(join(DIRECTORY, name), text);
  written += 1;
}
console.log(`${files.size} contracts, ${written} schema files written to schemas/`);
if (process.argv.includes('--release')) {
  const lock = Object.fromEntries([...files].map(([name, text]) => [name, lockEntry(text)]));
  writeFileSync(join(DIRECTORY, 'released.lock'), `${JSON.stringify(lock, null, 2)}\n`);
}
