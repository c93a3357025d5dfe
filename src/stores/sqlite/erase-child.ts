/** Started by the SQLite store's erasure test with the database's path: erases run after run, and ends only by being killed. */
import { seededClock } from '#testing/seeded-clock.ts';
import { erasureOf } from '../suite-erasure.ts';
import { START_MS } from '../suite-samples.ts';
import { openSqliteStore } from './sqlite-store.ts';

const store = openSqliteStore({ path: process.argv[2] ?? '', clock: seededClock(START_MS) });
for (const { ref, subject } of await store.runs({ tenant: 't9', limit: 1_000 })) {
  if (subject === 'erased') continue;
  await store.erase(erasureOf(ref, await store.events(ref, 0, 100), { artifacts: [ref.runId] }));
  process.stdout.write('.');
}
process.stdout.write('\n');
// It ends only by being killed.
for (;;) await store.runs({ tenant: 't9', limit: 1 });
