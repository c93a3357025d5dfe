/** Started by the HTTP target's tests with the owner's origin: applies one change in a process of its own. */
import { systemClock } from '#runtime/system-clock.ts';
import { runTargetChild } from '../suite-target-process.ts';
import { ticketTarget } from './suite-tickets.ts';

await runTargetChild(ticketTarget(process.argv[2] ?? '', systemClock));
