/** Started by the flag file target's tests: applies one promotion in a process of its own. */
import { systemClock } from '#runtime/system-clock.ts';
import { runTargetChild } from '../suite-target-process.ts';
import { createFlagFileTarget } from './flag-file-target.ts';

await runTargetChild(createFlagFileTarget({ directory: process.argv[2] ?? '', clock: systemClock }));
