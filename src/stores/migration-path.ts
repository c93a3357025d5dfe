/** From one version of the tables to another: which migrations, in which order and direction. */
import { CaseOpsError } from '#contracts/error.ts';
import type { Migration } from './migration.ts';

export interface MigrationStep {
  readonly direction: 'up' | 'down';
  readonly migration: Migration;
}

export interface MigrationPlace {
  /** The database as messages name it. */
  readonly place: string;
  readonly known: readonly Migration[];
  /** Going back may throw rows away. */
  readonly lossAllowed?: boolean;
}

/**
 * Throws ERR_STORE when the database is newer than this program, the version asked for does not exist, or going back would throw rows
 * away and nobody allowed it.
 */
export function migrationPath(at: MigrationPlace, from: number, to: number): readonly MigrationStep[] {
  const { place, known } = at;
  if (from > known.length)
    throw refusal(
      `The store ${place} has version ${from} and this program knows up to ${known.length}; start the newer program.`,
    );
  if (!Number.isInteger(to) || to < 0 || to > known.length)
    throw refusal(`The store ${place} can be brought to a version from 0 to ${known.length}, not to ${to}.`);
  if (to >= from) return known.slice(from, to).map((migration) => ({ direction: 'up', migration }));
  const back = known.slice(to, from).toReversed();
  const lossy = back.find(({ downLoses }) => downLoses !== undefined);
  if (lossy !== undefined && at.lossAllowed !== true)
    throw refusal(
      `Going back from version ${lossy.version} of the store ${place} throws away ${lossy.downLoses}; make a backup, then say --lose-data.`,
    );
  return back.map((migration) => ({ direction: 'down', migration }));
}

export interface MigrationWish {
  readonly to: number;
  /** Says what would be done and does nothing. */
  readonly dryRun?: boolean;
  readonly lossAllowed?: boolean;
}

/** What a step executes. */
export function statementsOf({ direction, migration }: MigrationStep): string {
  return migration[direction];
}

function refusal(message: string): CaseOpsError {
  return new CaseOpsError('ERR_STORE', message, { at: 'store', retryable: false });
}
