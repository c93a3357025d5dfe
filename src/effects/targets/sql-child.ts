/** Started by the SQL target's tests with the database's path: applies one change in a process of its own. */
import { systemClock } from '#runtime/system-clock.ts';
import { runTargetChild } from '../suite-target-process.ts';
import { openOrders, orderTarget } from './suite-orders.ts';

await runTargetChild(orderTarget(openOrders(process.argv[2] ?? ''), systemClock));
