import { after } from 'node:test';
import { startPostgres } from '#testing/postgres-cluster.ts';
import { storeSuite } from '../store-suite.ts';
import type { StoreSubject } from '../suite-subject.ts';
import { openPostgresStore } from './postgres-store.ts';

const cluster = await startPostgres();
after(() => cluster[Symbol.asyncDispose]());

async function subject(): Promise<StoreSubject> {
  const database = await cluster.database();
  return {
    open: (clock) => openPostgresStore({ url: database.url, clock }),
    crashChild: { script: new URL('./crash-child.ts', import.meta.url), args: [database.url] },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

storeSuite('postgres', subject);
