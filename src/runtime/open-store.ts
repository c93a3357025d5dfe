/** A process's store: its database, and beside it the place of what is too large for one. Source: DESIGN §4 "Owners". */
import { join } from 'node:path';
import type { ArtifactStore } from '#ports/artifact-store.ts';
import type { Store, StoreOpener } from '#ports/store.ts';
import { createMemoryArtifacts } from '#stores/artifacts/memory.ts';
import { createFileArtifacts } from '#stores/artifacts/files.ts';
import { withLargeArtifacts } from '#stores/artifacts/large-artifacts.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import { systemClock } from './system-clock.ts';

/** `memory` forgets everything with the process: for trials and tests, refused by the production profile. */
export type StoreChoice = 'sqlite' | 'memory' | StoreOpener;

export interface StoreOptions {
  readonly choice?: StoreChoice;
  /** Default: `<directory>/artifacts`, or memory with a store in memory. */
  readonly artifacts?: ArtifactStore | undefined;
}

/** Opens or creates `<directory>/<database>` or what was chosen, with the place of what is too large for it. Throws ERR_STORE as that does. */
export async function openStore(
  directory: string,
  database: string,
  { choice = 'sqlite', artifacts }: StoreOptions = {},
): Promise<Store> {
  if (choice === 'memory')
    return withLargeArtifacts(
      openSqliteStore({ path: ':memory:', clock: systemClock }),
      artifacts ?? createMemoryArtifacts(),
    );
  if (choice === 'sqlite') return openOwnStore(directory, database, artifacts);
  return withLargeArtifacts(await choice(systemClock), artifacts ?? artifactFiles(directory));
}

/** Opens or creates `<directory>/<database>`, a store of this process's own. Throws ERR_STORE as the database does. */
export function openOwnStore(directory: string, database: string, artifacts?: ArtifactStore): Store {
  const store = openSqliteStore({ path: join(directory, database), clock: systemClock });
  return withLargeArtifacts(store, artifacts ?? artifactFiles(directory));
}

function artifactFiles(directory: string): ArtifactStore {
  return createFileArtifacts({ root: join(directory, 'artifacts') });
}
