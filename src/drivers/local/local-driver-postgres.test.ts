import { after } from 'node:test';
import { openPostgresStore } from '#stores/postgres/postgres-store.ts';
import { startPostgres } from '#testing/postgres-cluster.ts';
import { storeWatch } from '#testing/watched-store.ts';
import { driverSuite } from '../driver-suite.ts';
import { createLocalDriver } from './local-driver.ts';

const cluster = await startPostgres();
after(() => cluster[Symbol.asyncDispose]());

driverSuite('local on postgres', async () => {
  const database = await cluster.database();
  const { watch, quiet } = storeWatch();
  return {
    openStore: async (clock) => watch(await openPostgresStore({ url: database.url, clock })),
    quiet,
    createDriver: createLocalDriver,
    crashChild: { script: new URL('./crash-child.ts', import.meta.url), args: [database.url] },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
});
