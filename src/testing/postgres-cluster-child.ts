/** Started by the cluster's test: says its server's address and waits to be killed. */
import { startPostgres } from './postgres-cluster.ts';

const cluster = await startPostgres({});
process.stdout.write(`${cluster.url}\n`);
process.stdin.resume();
