/** Which code a simulation was of: digests over the kernel and over all rooms that were simulated, tests left out. */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const ROOMS = [
  'contracts',
  'kernel',
  'ports',
  'authority',
  'control',
  'execution',
  'effects',
  'stores/sqlite',
  'drivers/local',
];

export interface CodeDigests {
  readonly kernelDigest: string;
  readonly roomsDigest: string;
}

export function codeDigests(): CodeDigests {
  return { kernelDigest: digestOf(['kernel']), roomsDigest: digestOf([...ROOMS, 'testing/simulation']) };
}

function digestOf(rooms: readonly string[]): string {
  const hash = createHash('sha256');
  const files = rooms.flatMap((room) => globSync(`src/${room}/**/*.ts`, { cwd: ROOT }));
  for (const path of files.filter((name) => !name.endsWith('.test.ts')).toSorted())
    hash
      .update(`${path}\n`)
      .update(readFileSync(join(ROOT, path)))
      .update('\n');
  return `sha256:${hash.digest('hex')}`;
}
