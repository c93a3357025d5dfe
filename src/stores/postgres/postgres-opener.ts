/** The Postgres store as an option of a runtime. */
import type { StoreOpener } from '#ports/store.ts';
import { placeOf } from './place.ts';
import { openPostgresStore, type PostgresStoreOptions } from './postgres-store.ts';

export type PostgresOptions = Omit<PostgresStoreOptions, 'clock'>;

/** Throws ERR_CONFIG for what is no Postgres URL; everything else is said when it is opened. */
export function postgresStore(options: PostgresOptions): StoreOpener {
  placeOf(options.url);
  return (clock) => openPostgresStore({ ...options, clock });
}
