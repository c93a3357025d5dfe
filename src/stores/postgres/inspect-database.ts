/** How a database stands, for who looks before anything starts. */
import { databaseVersion } from './migrate-database.ts';
import { placeOf } from './place.ts';
import { MIGRATIONS } from './schema.ts';

export interface PostgresState {
  /** Host, port and database. */
  readonly name: string;
  /** Of its tables; 0 when it has none. */
  readonly version: number;
  /** That this program works with. */
  readonly versionNeeded: number;
}

/** Changes nothing. Throws ERR_CONFIG for what is no Postgres URL and ERR_STORE when it cannot be reached. */
export async function inspectDatabase(url: string): Promise<PostgresState> {
  const place = placeOf(url);
  return { name: place.name, version: await databaseVersion(place), versionNeeded: MIGRATIONS.length };
}
