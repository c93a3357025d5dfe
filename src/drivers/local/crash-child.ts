/** Started by the local driver's crash test with the database's path; ends only by being killed. */
import { runUntilKilled } from '../suite-crash-runner.ts';
import { localSubjectAt } from './suite-subject.ts';

await runUntilKilled(localSubjectAt(process.argv[2] ?? ''));
