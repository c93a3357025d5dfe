/** createCaseOps as a user's program has it: teams of three kinds, events, answers, cancelling, and nothing left when it is disposed. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  createCaseOps,
  defineCase,
  deploymentTrust,
  remoteTeam,
  serveTeam,
  type CaseOpsOptions,
  type RunEvent,
} from 'caseops';
import { parcelsCase, parcelTeam, parcelTeamCalled } from './parcels.ts';

const noTeams = defineCase({ ...parcelsCase, teams: {} });

function directoryFor(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'caseops-api-'));
  t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  return directory;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('a program in one file asks and prints, and after it has disposed twice it ends by itself with no process left', async (t) => {
  const child = spawn(
    process.execPath,
    ['--conditions=@caseops/source', join(import.meta.dirname, 'parcels.ts'), directoryFor(t)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const kill = AbortSignal.timeout(60_000);
  kill.addEventListener('abort', () => child.kill('SIGKILL'));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  assert.deepEqual([code, signal], [0, null], said);
  assert.match(said, /^Parcel P-7 is at_customs\. parcel:P-7@v3$/m);
  const { pids } = JSON.parse(said.trim().split('\n').at(-1) ?? '{}') as { pids: number[] };
  assert.equal(pids.length, 1);
  assert.deepEqual(pids.filter(alive), []);
});

test('a team in the same process answers under the same leases, and events tell the run from its first to its last', async (t) => {
  await using caseops = await createCaseOps({
    case: noTeams,
    inProcessTeams: [parcelTeam],
    directory: directoryFor(t),
    config: false,
  });
  const { runId } = await caseops.submit({ text: 'Where is P-7?' });
  const events: RunEvent[] = [];
  for await (const event of caseops.events(runId)) events.push(event);
  assert.deepEqual(
    events.map(({ seq }) => seq),
    events.map((_event, index) => index + 1),
  );
  assert.equal(events[0]?.kind, 'run.received');
  assert.equal(events.at(-1)?.kind, 'run.ended');
  const run = await caseops.run(runId);
  assert.equal(run.result, 'completed');
  assert.equal(run.claims[0]?.text, 'Parcel P-7 is at_customs.');
  for (const chain of await caseops.why(runId)) assert.ok(chain.holds, JSON.stringify(chain));
  const later: string[] = [];
  for await (const event of caseops.events(runId, { afterSeq: events.length - 1 })) later.push(event.kind);
  assert.deepEqual(later, ['run.ended']);
  await assert.rejects(caseops.run(runId, { as: 'requester@t8' }), { code: 'ERR_NOT_FOUND' });
});

test('a question is answered, a blocked run is cancelled, and a wait ends when the runtime is disposed', async (t) => {
  const caseops = await createCaseOps({
    case: noTeams,
    inProcessTeams: [parcelTeam],
    directory: directoryFor(t),
    config: false,
  });
  const asked = await caseops.ask({ text: 'Where is it?' });
  assert.equal(asked.blocked?.question, 'Which parcel is meant?');
  await caseops.answer(asked.runId, { parcel_id: 'P-8' });
  assert.equal((await caseops.settled(asked.runId)).claims[0]?.text, 'Parcel P-8 is at_customs.');
  await assert.rejects(caseops.cancel(asked.runId), { code: 'ERR_STATE' });
  const other = await caseops.ask({ text: 'Where is it?' });
  await caseops.cancel(other.runId, { reason: 'not needed' });
  assert.equal((await caseops.settled(other.runId)).result, 'cancelled');
  const waiting = await caseops.ask({ text: 'Where is it?' });
  const events = caseops.events(waiting.runId)[Symbol.asyncIterator]();
  const drained = (async () => {
    for (let next = await events.next(); next.done !== true; next = await events.next());
  })();
  await Promise.all([caseops[Symbol.asyncDispose](), caseops[Symbol.asyncDispose]()]);
  await drained;
});

test('a team that somebody else serves answers beside the process teams, under its pinned key and audiences', async (t) => {
  const directory = directoryFor(t);
  const port = await freePort();
  const trust = await deploymentTrust({ directory, url: `http://127.0.0.1:${port}` });
  const served = await serveTeam(parcelTeamCalled('depot'), { directory: join(directory, 'depot'), trust });
  t.after(() => served[Symbol.asyncDispose]());
  const remote = { team: 'depot', cardUrl: served.cardUrl, audiences: served.audiences };
  const options: CaseOpsOptions = { case: noTeams, directory, port, config: false };
  {
    const pinned = remoteTeam({ ...remote, publicKey: served.publicKey });
    await using caseops = await createCaseOps({ ...options, case: parcelsCase, remoteTeams: [pinned] });
    assert.deepEqual(caseops.trust, trust);
    const agents = await caseops.desk.agents(caseops.grantOf('requester@t9'), AbortSignal.timeout(5_000));
    assert.deepEqual(
      agents.map(({ team, available }) => [team, available]),
      [
        ['depot', true],
        ['parcels', true],
      ],
    );
  }
  {
    const pinned = remoteTeam({ ...remote, publicKey: served.publicKey });
    await using caseops = await createCaseOps({ ...options, remoteTeams: [pinned] });
    const run = await caseops.ask({ text: 'Where is P-7?' });
    assert.equal(run.result, 'completed', run.reason ?? '');
    assert.deepEqual([run.steps[0]?.team, run.claims[0]?.text], ['depot', 'Parcel P-7 is at_customs.']);
  }
  const foreign = remoteTeam({ ...remote, publicKey: trust.supervisorKey });
  await using caseops = await createCaseOps({ ...options, remoteTeams: [foreign] });
  const refused = await caseops.ask({ text: 'Where is P-7?' });
  assert.notEqual(refused.result, 'completed');
  const [agent] = await caseops.desk.agents(caseops.grantOf('requester@t9'), AbortSignal.timeout(5_000));
  assert.equal(agent?.available, false);
});

test('teams of one name, no team at all and a remote team over plain http are refused before anything starts', async (t) => {
  const directory = directoryFor(t);
  const start = (over: CaseOpsOptions) => createCaseOps({ case: noTeams, directory, config: false, ...over });
  await assert.rejects(start({}), { code: 'ERR_CONFIG', message: /at least one team/ });
  await assert.rejects(start({ case: parcelsCase, inProcessTeams: [parcelTeam] }), {
    code: 'ERR_CONFIG',
    message: /parcels/,
  });
  const { supervisorKey: publicKey } = await deploymentTrust({ directory, url: 'http://127.0.0.1:1' });
  const remote = { team: 'depot', publicKey, audiences: ['https://depot.example/rest'] };
  assert.throws(() => remoteTeam({ ...remote, cardUrl: 'http://depot.example/card' }), { code: 'ERR_CONFIG' });
  assert.throws(() => remoteTeam({ ...remote, cardUrl: 'https://depot.example/card', audiences: [] }), {
    code: 'ERR_CONFIG',
  });
});
