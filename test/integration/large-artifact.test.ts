/** An artifact of 5 MB from a tool to the answer: the team's half over real A2A, the supervisor's half in the inquiry. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Artifact } from '#contracts/artifact.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { RunId } from '#contracts/ids.ts';
import { digestOf } from '#kernel/digest.ts';
import type { ArtifactStore } from '#ports/artifact-store.ts';
import type { TeamUpdate } from '#ports/team-transport.ts';
import type { ToolRecord } from '#ports/team-definition.ts';
import { createFileArtifacts } from '#stores/artifacts/files.ts';
import type { Claim } from '../../src/testing/claim-desk.ts';
import { pending } from '../../src/testing/claim-desk.ts';
import { inquiryWorld } from '../../src/testing/inquiry-world.ts';
import { a2aWorld } from './a2a-world.ts';

const MARKER = 'marker-of-five-megabytes ';
const LONG = MARKER.repeat(210_000);

interface Place extends AsyncDisposable {
  readonly path: string;
  readonly artifacts: ReturnType<typeof createFileArtifacts>;
  /** Names of database files that hold the marker. */
  databasesWithMarker(): Promise<readonly string[]>;
}

async function place(): Promise<Place> {
  const root = await mkdtemp(join(tmpdir(), 'caseops-large-'));
  return {
    path: join(root, 'runs.db'),
    artifacts: createFileArtifacts({ root: join(root, 'artifacts') }),
    databasesWithMarker: async () => {
      const found: string[] = [];
      const names = (await readdir(root)).filter((name) => name.startsWith('runs.db'));
      assert.ok(names.length > 0);
      for (const name of names) if ((await readFile(join(root, name))).includes(MARKER.repeat(2))) found.push(name);
      return found;
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  };
}

async function collect(updates: AsyncIterable<TeamUpdate>): Promise<TeamUpdate[]> {
  const all: TeamUpdate[] = [];
  for await (const update of updates) all.push(update);
  return all;
}

for (const binding of ['HTTP+JSON', 'JSONRPC'] as const)
  test(`${binding}: a tool's 5 MB record goes through a team run and over A2A, and the team's database never holds it`, async () => {
    await using at = await place();
    const large: ToolRecord<Claim> = { ...pending, data: { status: 'pending_documents', missing: [LONG] } };
    await using world = await a2aWorld({ binding, records: [large], path: at.path, artifacts: at.artifacts });
    const dispatch = world.dispatch();
    const [started, delivered] = await collect(
      world.transport.send(dispatch, await world.work(dispatch), new AbortController().signal),
    );
    assert.ok(delivered?.kind === 'artifact', JSON.stringify(delivered)?.slice(0, 500));
    assert.ok(delivered.bytes.byteLength > 5_000_000);
    assert.deepEqual(delivered.artifact.data, large.data);
    assert.deepEqual(await at.databasesWithMarker(), []);
    const runId = (started?.kind === 'started' ? started.taskId : '') as RunId;
    for (const event of await world.store.events({ tenant: 't9', runId }, 0, 100))
      assert.ok(JSON.stringify(event).length < 100_000, event.kind);
  });

test('the supervisor answers from a step of 5 MB: its log and database hold digests, the answer is bound as ever', async () => {
  await using at = await place();
  await using world = await inquiryWorld({ path: at.path, artifacts: at.artifacts });
  world.team('claims').faults = { edit: withLongRecord };
  const view = await world.ask();
  assert.equal(view.result, 'completed', JSON.stringify(view.steps.flatMap(({ errors }) => errors)));
  assert.ok(view.claims.some(({ text }) => text === 'Claim C-102 has the status pending_documents.'));
  assert.deepEqual(await at.databasesWithMarker(), []);
  const { steps, ref } = await world.state(view.runId);
  for (const event of await world.store.events(ref, 0, 1_000))
    assert.ok(JSON.stringify(event).length < 100_000, event.kind);
  const refs = [...steps.values()].flatMap(({ result }) => result?.artifactRef ?? []);
  const sizes = await Promise.all(refs.map(async (digest) => (await at.artifacts.get('t9', digest))?.byteLength ?? 0));
  assert.equal(sizes.filter((size) => size > 5_000_000).length, 1, sizes.join(', '));
});

test('an artifact store that fails at first costs another attempt, and no event names what was not stored', async () => {
  await using at = await place();
  let putCount = 0;
  const down = new CaseOpsError('ERR_STORE', 'The artifact store is down.', { at: 'store' });
  const put: ArtifactStore['put'] = (tenant, bytes) =>
    (putCount += 1) === 1 ? Promise.reject(down) : at.artifacts.put(tenant, bytes);
  await using world = await inquiryWorld({ path: at.path, artifacts: { ...at.artifacts, put } });
  world.team('claims').faults = { edit: withLongRecord };
  const view = await world.ask();
  assert.equal(putCount, 2);
  assert.equal(view.result, 'completed', JSON.stringify(view.steps.flatMap(({ errors }) => errors)));
  const { steps, ref } = await world.state(view.runId);
  const named = [...steps.values()].flatMap(({ result }) => result?.artifactRef ?? []);
  assert.equal(named.length, 4);
  for (const digest of named) assert.notEqual(await world.store.artifact('t9', digest), undefined);
  const failed = (await world.store.events(ref, 0, 1_000)).filter(({ kind }) => kind === 'step.attempt_failed');
  assert.match(JSON.stringify(failed), /"code":"ERR_STORE"/);
});

/** The observed claim has a long history; what is reported of it stays small. */
function withLongRecord(open: Omit<Artifact, 'contentDigest'>): Omit<Artifact, 'contentDigest'> {
  const [item] = open.evidence;
  if (item === undefined) return open;
  const record = { ...(open.records[item.evidenceId] as Readonly<Record<string, string>>), history: LONG };
  return {
    ...open,
    records: { ...open.records, [item.evidenceId]: record },
    evidence: [{ ...item, digest: digestOf(record) }, ...open.evidence.slice(1)],
  };
}
