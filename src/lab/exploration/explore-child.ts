/** A process of an exploration: explores its part and prints what it saw. */
import { exploreHere, type ExploreOrder } from './explore-sets.ts';

const order = JSON.parse(process.argv.at(-1) ?? '') as ExploreOrder;
process.stdout.write(JSON.stringify(exploreHere(order)));
