import { foldGraph } from '#kernel/graph.ts';
import { nodeId, successors } from '#kernel/graph-node.ts';
import { INQUIRY_GRANT } from '#testing/inquiry-case.ts';
import { INQUIRY_TEXT, inquiryWorld } from '#testing/inquiry-world.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGraphProjection } from './graph-projection.ts';

const request = { text: INQUIRY_TEXT, language: undefined, sessionId: undefined, idempotencyKey: undefined };

test('every claim of an ended run is supported in its graph, and thrown away it folds to the same', async () => {
  await using world = await inquiryWorld();
  using projection = createGraphProjection(world.store);
  const view = await world.ask();
  const { ref } = await world.state(view.runId);
  const graph = await projection.graph(ref);
  assert.ok(graph !== undefined);
  assert.deepEqual(graph.violations, []);
  for (const { claimId, evidenceIds } of view.claims)
    assert.deepEqual(
      successors(graph, nodeId('claim', claimId), 'SUPPORTED_BY').map((node) => node.ref),
      evidenceIds,
    );
  const [claim] = view.claims;
  const trace = await projection.trace(ref, claim?.claimId ?? '');
  assert.equal(trace?.holds, true, JSON.stringify(trace));
  assert.equal(await projection.trace(ref, 'clm_none'), undefined);
  projection.reset();
  assert.deepEqual(await projection.graph(ref), graph);
  assert.deepEqual(foldGraph(await world.store.events(ref, 0, 1_000)), graph);
});

test('a graph follows the run: what was kept is folded again after a commit, and not before', async () => {
  await using world = await inquiryWorld();
  using projection = createGraphProjection(world.store, { keptCountMax: 1 });
  world.team('member').faults.workMs = 500;
  const { runId } = (await world.desk.submit(INQUIRY_GRANT, request)).view;
  const { ref } = await world.untilInFlight(runId, 's1');
  const before = await projection.graph(ref);
  assert.equal(await projection.graph(ref), before);
  await world.settle(runId);
  const after = await projection.graph(ref);
  assert.ok(before !== undefined && after !== undefined && after.nodes.size > before.nodes.size);
  const other = await world.ask('Why is C-7 held?');
  await projection.graph((await world.state(other.runId)).ref);
  assert.equal(projection.keptCount, 1);
  assert.equal(await projection.graph({ tenant: 't9', runId: 'run_none' }), undefined);
});
