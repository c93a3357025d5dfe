/** Started by the SQLite store's crash test with the database's path; ends only by being killed. */
import { seededClock } from '#testing/seeded-clock.ts';
import { commitUntilKilled } from '../suite-crash-writer.ts';
import { START_MS } from '../suite-samples.ts';
import { openSqliteStore } from './sqlite-store.ts';

await commitUntilKilled(openSqliteStore({ path: process.argv[2] ?? '', clock: seededClock(START_MS) }));
