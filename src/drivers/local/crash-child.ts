/** Started by the local driver's crash tests with the path or url of the store; ends only by being killed. */
import { openPostgresStore } from '#stores/postgres/postgres-store.ts';
import { runUntilKilled } from '../suite-crash-runner.ts';
import { localSubjectAt } from './suite-subject.ts';

const [place = ''] = process.argv.slice(2);
const subject = localSubjectAt(place);
await runUntilKilled(
  place.startsWith('postgres:')
    ? { ...subject, openStore: (clock) => openPostgresStore({ url: place, clock }) }
    : subject,
);
