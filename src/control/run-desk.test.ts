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
  assert.equal(a.runId, b.runId);
  assert.equal((await world.desk.submit(INQUIRY_GRANT, keyed)).runId, a.runId);
  const other = { ...keyed, text: 'Why is C-103 held?' };
  await assert.rejects(world.desk.submit(INQUIRY_GRANT, other), hasCode('ERR_IDEMPOTENCY_KEY_REUSED'));
  const foreign = await world.desk.submit(FOREIGN_GRANT, keyed);
  assert.notEqual(foreign.runId, a.runId);
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
  const { runId } = await world.desk.submit(INQUIRY_GRANT, request);
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
