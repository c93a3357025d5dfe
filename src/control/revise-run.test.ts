/** Deciding between two results, and planning again, as people ask for it of the desk. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { artifact as artifactContract, type Artifact } from '#contracts/artifact.ts';
import type { RunView } from '#contracts/run-view.ts';
import { artifactDigest } from '#kernel/artifact-acceptance.ts';
import { digestOf } from '#kernel/digest.ts';
import { FOREIGN_GRANT, INQUIRY_TEXT, inquiryWorld, type InquiryWorld } from '#testing/inquiry-world.ts';
import { INQUIRY_GRANT } from '#testing/inquiry-case.ts';

const REASON = 'The claims desk confirmed it by telephone.';
const signal = new AbortController().signal;

function submit({ desk }: InquiryWorld) {
  return desk.submit(INQUIRY_GRANT, {
    text: INQUIRY_TEXT,
    language: 'en',
    sessionId: undefined,
    idempotencyKey: undefined,
  });
}

/** Waits until `stepId` is settled while later ones are out, then delivers a second, different result of it. */
async function contradicted(world: InquiryWorld, stepId: string, during: string): Promise<string> {
  world.team('knowledge').faults.workMs = 500;
  const { view } = await submit(world);
  const state = await world.untilInFlight(view.runId, during);
  const step = state.steps.get(stepId);
  const attempt = step?.attempts.at(-1);
  assert.ok(step?.result?.artifactRef !== undefined && attempt !== undefined);
  const bytes = await world.store.artifact('t9', step.result.artifactRef);
  const { contentDigest: _, ...first } = artifactContract.parse(JSON.parse(new TextDecoder().decode(bytes)));
  const open: Omit<Artifact, 'contentDigest'> = {
    ...first,
    artifactId: 'art_other',
    data: { ...(first.data as object), cause: 'under_review' },
  };
  const other: Artifact = { ...open, contentDigest: artifactDigest(open) };
  const told = await world.driver.deliver(state.ref, {
    kind: 'deliver',
    at: world.clock.now(),
    actor: 'spiffe://caseops.test/team/claims',
    stepId,
    planVersion: 1,
    attempt: attempt.attempt,
    dispatchId: attempt.dispatchId,
    artifact: other,
    artifactRef: digestOf(other),
    sizeBytes: 1_000,
    usage: { toolCallCount: 1, modelTokenCount: 0, durationMs: 1 },
  });
  assert.ok(told.ok, told.ok ? '' : told.error.message);
  assert.equal(told.state.phase, 'blocked');
  return view.runId;
}

const hashes = ({ blocked }: RunView): readonly string[] => blocked?.options ?? [];

test('a person says that the settled result holds: the run completes, and the view tells of both', async () => {
  await using world = await inquiryWorld();
  const runId = await contradicted(world, 's2', 's3');
  const blocked = await world.desk.view(INQUIRY_GRANT, runId);
  assert.equal(blocked.needsHuman, true);
  assert.deepEqual(
    [blocked.arrivalCount, blocked.arrivals[0]?.kind, blocked.arrivals[0]?.stepId],
    [1, 'conflicted', 's2'],
  );
  const [first = '', second = ''] = hashes(blocked);
  assert.equal(blocked.arrivals[0]?.resultHash, second);
  const of = { runId, stepId: 's2', held: first, reason: REASON };
  await assert.rejects(world.desk.resolve(FOREIGN_GRANT, of), { code: 'ERR_NOT_FOUND' });
  const stranger = { ...INQUIRY_GRANT, sub: 'somebody@t9', roles: [] };
  await assert.rejects(world.desk.resolve(stranger, of), { code: 'ERR_DENIED', message: /by who asked for it/ });
  await assert.rejects(world.desk.resolve(INQUIRY_GRANT, { ...of, held: 'v17' }), { code: 'ERR_USAGE' });
  await world.desk.resolve(INQUIRY_GRANT, of);
  const done = await world.settle(runId);
  assert.deepEqual([done.result, done.needsHuman, done.revisions.length], ['completed', false, 0]);
});

test('a person says that the other one holds: what rested on the first is done again, and the answer says the other', async () => {
  await using world = await inquiryWorld();
  const runId = await contradicted(world, 's2', 's3');
  const [, second = ''] = hashes(await world.desk.view(INQUIRY_GRANT, runId));
  const of = { runId, stepId: 's2', held: second, reason: REASON };
  await assert.rejects(world.desk.resolve(INQUIRY_GRANT, of), { code: 'ERR_STATE', message: /under way/ });
  await world.clock.advance(1_000);
  const revised = await world.desk.resolve(INQUIRY_GRANT, of);
  assert.deepEqual(revised.revisions[0]?.kept, ['s1', 's2']);
  assert.equal(revised.plan?.version, 2);
  const done = await world.settle(runId);
  assert.equal(done.result, 'completed', done.reason ?? '');
  assert.deepEqual(
    done.steps.map(({ stepId, attempts }) => [stepId, attempts.length]),
    [
      ['s1', 1],
      ['s2', 1],
      ['s3', 2],
      ['s4', 1],
    ],
  );
  const links = await world.desk.why(INQUIRY_GRANT, runId, undefined);
  assert.ok(
    links.every(({ holds }) => holds),
    JSON.stringify(links, undefined, 1).slice(0, 2_000),
  );
});

test('another plan while running: the planner proposes it from what is offered now, and what is unchanged stands', async () => {
  await using world = await inquiryWorld();
  world.team('knowledge').faults.workMs = 500;
  const { view } = await submit(world);
  await world.untilInFlight(view.runId, 's3');
  const again = { runId: view.runId, reason: 'The knowledge team is slow.' };
  await assert.rejects(world.desk.replan(INQUIRY_GRANT, { ...again, plan: { steps: [] } }, signal), {
    code: 'ERR_PLAN_REFUSED',
  });
  const revised = await world.desk.replan(INQUIRY_GRANT, again, signal);
  assert.deepEqual([revised.plan?.version, revised.revisions[0]?.by], [2, INQUIRY_GRANT.sub]);
  assert.deepEqual(revised.revisions[0]?.kept, ['s1', 's2']);
  const done = await world.settle(view.runId);
  assert.equal(done.result, 'completed', done.reason ?? '');
  await assert.rejects(world.desk.replan(INQUIRY_GRANT, again, signal), { code: 'ERR_STATE' });
});
