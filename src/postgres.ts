/** The store that several processes share. Apart from the rest, since it brings `pg`, which a deployment installs itself. */
export { postgresStore, type PostgresOptions } from '#stores/postgres/postgres-opener.ts';
export type { StoreOpener } from '#ports/store.ts';
