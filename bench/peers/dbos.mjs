/** plan → three side by side → join → signal → write on DBOS Transact, its system tables in Postgres. */
import { randomUUID } from 'node:crypto';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { serve } from './serve.mjs';

const parked = new Map();
const step = (name) => DBOS.runStep(async () => name, { name });

async function run(id) {
  const done = [await step('plan')];
  done.push(...(await Promise.all(['a', 'b', 'c'].map(step))));
  done.push(await step('join'));
  parked.get(id)();
  done.push(await DBOS.recv('signal', 600));
  done.push(await step('write'));
  return done.length;
}

const workflow = DBOS.registerWorkflow(run, { name: 'run' });
DBOS.setConfig({
  name: 'bench',
  systemDatabaseUrl: process.argv[2],
  runAdminServer: false,
  logLevel: 'error',
  applicationVersion: '1',
});
await DBOS.launch();

await serve(async () => {
  const id = randomUUID();
  const { promise, resolve } = Promise.withResolvers();
  parked.set(id, resolve);
  const handle = await DBOS.startWorkflow(workflow, { workflowID: id })(id);
  await promise;
  parked.delete(id);
  await DBOS.send(id, 'signal', 'signal');
  const count = await handle.getResult();
  if (count !== 7) throw new Error(`A run ended after ${count} of 7 steps.`);
});
