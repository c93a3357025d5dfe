/** A process's store: its database, and beside it the directory of what is too large for one. Source: DESIGN §4 "Owners". */
import { join } from 'node:path';
import type { ArtifactStore } from '#ports/artifact-store.ts';
import type { Store } from '#ports/store.ts';
import { createMemoryArtifacts } from '#stores/artifacts/memory.ts';
import { createFileArtifacts } from '#stores/artifacts/files.ts';
import { withLargeArtifacts } from '#stores/artifacts/large-artifacts.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import { systemClock } from './system-clock.ts';

/** `memory` forgets everything with the process: for trials and tests, refused by the production profile. */
export type StoreKind = 'sqlite' | 'memory';

export interface StoreOptions {
  readonly kind?: StoreKind;
  /** Default: `<directory>/artifacts`, or memory with a store in memory. */
  readonly artifacts?: ArtifactStore | undefined;
}

/** Opens or creates `<directory>/<database>`, with the place of what is too large for it. Throws ERR_STORE as the database does. */
export function openStore(
  directory: string,
  database: string,
  { kind = 'sqlite', artifacts }: StoreOptions = {},
): Store {
  if (kind === 'memory')
    return withLargeArtifacts(
      openSqliteStore({ path: ':memory:', clock: systemClock }),
      artifacts ?? createMemoryArtifacts(),
    );
  return withLargeArtifacts(
    openSqliteStore({ path: join(directory, database), clock: systemClock }),
    artifacts ?? createFileArtifacts({ root: join(directory, 'artifacts') }),
  );
}
