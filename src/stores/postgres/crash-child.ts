/** Started by the Postgres store's crash test with the database's url; ends only by being killed. */
import { seededClock } from '#testing/seeded-clock.ts';
import { commitUntilKilled } from '../suite-crash-writer.ts';
import { START_MS } from '../suite-samples.ts';
import { openPostgresStore } from './postgres-store.ts';

await commitUntilKilled(await openPostgresStore({ url: process.argv[2] ?? '', clock: seededClock(START_MS) }));
