/** For tests of users: seeded time and ids. */
export { seededClock } from './testing/seeded-clock.ts';
export { seededIds } from './testing/seeded-ids.ts';
