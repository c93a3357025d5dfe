/** The store that a configuration chooses; its address is a secret, and its driver is loaded only when it is chosen. */
import { CaseOpsError } from '#contracts/error.ts';
import type { Secrets } from '#ports/secrets.ts';
import type { StoreOpener } from '#ports/store.ts';
import type { PostgresState } from '#stores/postgres/inspect-database.ts';
import type { CaseOpsConfig } from './config.ts';
import { namedSecret } from './named-secret.ts';
import type { StoreChoice } from './open-store.ts';

type PostgresConfig = Extract<CaseOpsConfig['store'], { readonly kind: 'postgres' }>;

/** `given`, or what the configuration names. Throws ERR_CONFIG when the secret is missing or holds no such address. */
export async function chosenStore(
  config: CaseOpsConfig['store'],
  { given, secrets }: { readonly given: StoreOpener | undefined; readonly secrets: Secrets | undefined },
): Promise<StoreChoice> {
  if (given !== undefined) return given;
  if (config.kind !== 'postgres') return config.kind;
  const url = await urlOf(config, secrets);
  const { postgresStore } = await withDriver(() => import('#stores/postgres/postgres-opener.ts'));
  return postgresStore({ url, migrate: config.migrate });
}

/** How the configured database stands; nothing is changed. Throws ERR_CONFIG or ERR_STORE with the next thing to do. */
export async function inspectChosen(config: PostgresConfig, secrets: Secrets | undefined): Promise<PostgresState> {
  const url = await urlOf(config, secrets);
  const { inspectDatabase } = await withDriver(() => import('#stores/postgres/inspect-database.ts'));
  return inspectDatabase(url);
}

async function urlOf({ url }: PostgresConfig, secrets: Secrets | undefined): Promise<string> {
  return (await namedSecret(url, secrets, 'the url of the Postgres store')).reveal();
}

/** `pg` is installed by who uses it. */
export async function withDriver<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
    if (!missing || !/'pg'/.test(error.message)) throw error;
    const message = 'The Postgres store needs the package pg, which is not installed; run npm install pg.';
    throw new CaseOpsError('ERR_CONFIG', message, { at: 'runtime', cause: error, retryable: false });
  }
}
