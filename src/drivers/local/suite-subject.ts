/** The local driver on the SQLite store, as the driver suite sees it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import type { DriverSubject } from '../suite-world.ts';
import { createLocalDriver } from './local-driver.ts';

/** On the database at `path`. */
export function localSubjectAt(path: string): DriverSubject {
  return {
    openStore: async (clock) => openSqliteStore({ path, clock }),
    createDriver: createLocalDriver,
    crashChild: { script: new URL('./crash-child.ts', import.meta.url), args: [path] },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** On a database of its own, removed at the end. */
export async function localSubject(): Promise<DriverSubject> {
  const directory = await mkdtemp(join(tmpdir(), 'caseops-driver-'));
  const subject = localSubjectAt(join(directory, 'caseops.db'));
  return { ...subject, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) };
}
