import { CaseOpsError } from '#contracts/error.ts';
import type { Plan } from '#contracts/plan.ts';
import { INQUIRY_GRANT } from '#testing/inquiry-case.ts';
import { FOREIGN_GRANT, INQUIRY_TEXT, inquiryWorld } from '#testing/inquiry-world.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';

const request = { text: INQUIRY_TEXT, language: undefined, sessionId: undefined, idempotencyKey: undefined };

test('an unclear goal blocks, is answered, and then runs', async () => {
  await using world = await inquiryWorld();
  const blocked = await world.ask('Why is my claim held?');
  assert.equal(blocked.state, 'blocked');
  assert.equal(blocked.blocked?.wants, 'claim_id');
  const wrong = await world.desk.answer(INQUIRY_GRANT, blocked.runId, { claim_id: 'the first' });
  assert.equal(wrong.state, 'blocked');
  await world.desk.answer(INQUIRY_GRANT, blocked.runId, { claim_id: 'C-102' });
  assert.equal((await world.settle(blocked.runId)).result, 'completed');
  await assert.rejects(world.desk.answer(INQUIRY_GRANT, blocked.runId, { claim_id: 'C-102' }), hasCode('ERR_STATE'));
});

test('two questions are answered one after the other, and the first answer is kept', async () => {
  await using world = await inquiryWorld();
  const blocked = await world.ask('Why is my claim held? Do not bother anybody.');
  const second = await world.desk.answer(INQUIRY_GRANT, blocked.runId, { claim_id: 'C-102' });
  assert.equal(second.blocked?.wants, 'prohibition_1');
  await world.desk.answer(INQUIRY_GRANT, blocked.runId, { prohibition_1: 'notify:send' });
  assert.equal((await world.settle(blocked.runId)).result, 'completed');
});

test('the same key and request are one run; another request under the key is refused', async () => {
  await using world = await inquiryWorld();
  const keyed = { ...request, idempotencyKey: 'k1' };
  const [a, b] = await Promise.all([world.desk.submit(INQUIRY_GRANT, keyed), world.desk.submit(INQUIRY_GRANT, keyed)]);
  assert.equal(a.view.runId, b.view.runId);
  assert.deepEqual([a.replayed, b.replayed], [false, true]);
  assert.equal((await world.desk.submit(INQUIRY_GRANT, keyed)).view.runId, a.view.runId);
  const other = { ...keyed, text: 'Why is C-103 held?' };
  await assert.rejects(world.desk.submit(INQUIRY_GRANT, other), hasCode('ERR_IDEMPOTENCY_KEY_REUSED'));
  const foreign = await world.desk.submit(FOREIGN_GRANT, keyed);
  assert.notEqual(foreign.view.runId, a.view.runId);
});

test('more runs than may work at once wait in their log, have their turn, and keep their whole running time', async () => {
  await using world = await inquiryWorld({ admission: { runsInFlightMax: 1, queueLengthMax: 8 } });
  world.team('member').faults.workMs = 1_500;
  const submitted = await Promise.all([1, 2, 3, 4].map(() => world.desk.submit(INQUIRY_GRANT, request)));
  const ids = submitted.map(({ view }) => view.runId);
  const waiting = await Promise.all(ids.map((runId) => world.state(runId)));
  assert.deepEqual(
    waiting.map(({ queuedAt }) => queuedAt !== undefined),
    [false, true, true, true],
  );
  for (const runId of ids) assert.equal((await world.settle(runId)).result, 'completed');
  const last = await world.state(ids.at(-1) ?? '');
  assert.ok(Date.parse(last.admittedAt ?? '') - Date.parse(last.receivedAt) >= 4_500);
  assert.deepEqual([world.admission.inFlightCount, world.admission.waitingCount], [0, 0]);
});

test('what finds no place is refused, recorded nowhere and costs no quota; a question takes no place', async () => {
  await using world = await inquiryWorld({
    admission: { runsInFlightMax: 1, queueLengthMax: 2 },
    goalsPerMinuteMax: 60,
  });
  world.team('member').faults.workMs = 1_000;
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => world.desk.submit(INQUIRY_GRANT, request)));
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'taken' : (outcome.reason as CaseOpsError).code)),
    ['taken', 'taken', 'ERR_QUEUE_FULL'],
  );
  assert.equal((await world.store.runs({ limit: 10 })).length, 2);
  assert.equal(world.desk.quota(INQUIRY_GRANT).goalCountLeft, 58);
  const asking = await world.desk.submit(FOREIGN_GRANT, { ...request, text: 'Why is my claim held?' });
  assert.equal(asking.view.state, 'blocked');
  assert.equal(world.admission.waitingCount, 1);
  const answered = await world.desk.answer(FOREIGN_GRANT, asking.view.runId, { claim_id: 'C-102' });
  assert.deepEqual([answered.state, world.admission.waitingCount], ['received', 2]);
  assert.equal((await world.settle(asking.view.runId, FOREIGN_GRANT)).result, 'completed');
});

test('a tenant over its rate is refused, a replay is not', async () => {
  await using world = await inquiryWorld({ goalsPerMinuteMax: 1 });
  const keyed = { ...request, idempotencyKey: 'k' };
  await world.desk.submit(INQUIRY_GRANT, keyed);
  assert.equal((await world.desk.submit(INQUIRY_GRANT, keyed)).replayed, true);
  await assert.rejects(world.desk.submit(INQUIRY_GRANT, request), hasCode('ERR_RATE_LIMITED'));
  await world.desk.submit(FOREIGN_GRANT, request);
});

test('another tenant cannot see, cancel, answer or explain a run, and cannot tell that it exists', async () => {
  await using world = await inquiryWorld();
  const { runId } = await world.ask();
  const { desk } = world;
  for (const id of [runId, 'run_none', 'nonsense']) {
    await assert.rejects(desk.view(FOREIGN_GRANT, id), hasCode('ERR_NOT_FOUND'));
    await assert.rejects(desk.cancel(FOREIGN_GRANT, id, 'x'), hasCode('ERR_NOT_FOUND'));
    await assert.rejects(desk.answer(FOREIGN_GRANT, id, {}), hasCode('ERR_NOT_FOUND'));
    await assert.rejects(desk.why(FOREIGN_GRANT, id, undefined), hasCode('ERR_NOT_FOUND'));
  }
  const query = { limit: 10, before: undefined, result: undefined, state: undefined };
  assert.deepEqual(await desk.list(FOREIGN_GRANT, query), []);
  assert.equal((await desk.list(INQUIRY_GRANT, { ...query, result: 'completed' })).length, 1);
  assert.equal((await desk.list(INQUIRY_GRANT, { ...query, result: 'failed' })).length, 0);
});

test('the events of a run can be followed from any point to its end', async () => {
  await using world = await inquiryWorld();
  const { runId } = (await world.desk.submit(INQUIRY_GRANT, request)).view;
  const seen: number[] = [];
  const following = (async () => {
    for await (const event of world.desk.follow(INQUIRY_GRANT, { runId, afterSeq: 1 }, new AbortController().signal))
      seen.push(event.seq);
  })();
  const view = await world.settle(runId);
  await following;
  assert.deepEqual(
    seen,
    Array.from({ length: view.lastSeq - 1 }, (_, index) => index + 2),
  );
});

test('a plan can be previewed and checked without a run', async () => {
  await using world = await inquiryWorld();
  const { signal } = new AbortController();
  const preview = await world.desk.preview(INQUIRY_GRANT, request, signal);
  assert.deepEqual(preview.findings, []);
  const again = await world.desk.validate(INQUIRY_GRANT, { ...request, plan: preview.plan }, signal);
  assert.deepEqual(again.findings, []);
  const broken = { ...(preview.plan as Plan), steps: [] };
  const refused = await world.desk.validate(INQUIRY_GRANT, { ...request, plan: broken }, signal);
  assert.ok(refused.findings.length > 0);
  const unclear = await world.desk.preview(INQUIRY_GRANT, { ...request, text: 'Why?' }, signal);
  assert.equal(unclear.blocked?.wants, 'claim_id');
  assert.equal(
    (await world.desk.list(INQUIRY_GRANT, { limit: 9, before: undefined, result: undefined, state: undefined })).length,
    0,
  );
});

test('agents are listed with what they announce, or with why they do not answer', async () => {
  await using world = await inquiryWorld();
  world.team('knowledge').faults.down = true;
  const agents = await world.desk.agents(INQUIRY_GRANT, new AbortController().signal);
  assert.deepEqual(
    agents.map(({ team, available, skills }) => [team, available, skills.length]),
    [
      ['claims', true, 1],
      ['knowledge', false, 0],
      ['member', true, 1],
      ['notification', true, 2],
    ],
  );
});

function hasCode(code: string): (error: unknown) => boolean {
  return (error) => error instanceof CaseOpsError && error.code === code;
}
