/** A question that follows: answered from what the session has settled, looked up again where that is not lawful. INV-11, INV-14. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runView, type RunView } from '#contracts/run-view.ts';
import { digestOf } from '#kernel/digest.ts';
import { announcementOf, INQUIRY_GRANT } from '#testing/inquiry-case.ts';
import { FOREIGN_GRANT, type InquiryWorld, inquiryWorld } from '#testing/inquiry-world.ts';
import { readFollowing } from './earlier-runs.ts';
import { wantsFreshLook } from './fresh-wish.ts';

const FOLLOW_UP = 'What is missing?';

async function follow(
  world: InquiryWorld,
  first: Pick<RunView, 'sessionId'>,
  asked: { readonly text?: string; readonly grant?: typeof INQUIRY_GRANT } = {},
): Promise<RunView> {
  const { text = FOLLOW_UP, grant = INQUIRY_GRANT } = asked;
  const request = { text, language: undefined, sessionId: first.sessionId ?? undefined, idempotencyKey: undefined };
  return world.settle((await world.desk.submit(grant, request)).view.runId, grant);
}

const sentCount = (world: InquiryWorld): number => Object.values(world.teams).flatMap(({ sent }) => sent).length;

test('a follow-up is answered from the first run: no team is asked, no tool called, and every claim leads through to it', async () => {
  await using world = await inquiryWorld();
  const first = await world.ask();
  const before = sentCount(world);
  const second = await follow(world, first);
  assert.equal(second.result, 'completed', second.reason ?? '');
  assert.deepEqual(runView.safeParse(second).error?.issues ?? [], []);
  assert.equal(sentCount(world), before);
  assert.equal(second.used.toolCallCount, 0);
  assert.ok(second.steps.every(({ attempts }) => attempts.length === 0));
  assert.deepEqual(await world.store.leasesOfRun('t9', second.runId), []);
  assert.deepEqual(
    second.steps.map(({ skillId, status, origin }) => [skillId, status, origin?.runId, origin?.stepId]),
    [
      ['resolve-member', 'completed', first.runId, 's1'],
      ['claim-status', 'completed', first.runId, 's2'],
      ['policy-guidance', 'completed', first.runId, 's3'],
    ],
  );
  const missing = second.claims.find(({ key }) => key === 'missing');
  assert.equal(missing?.text, 'Missing: accident_report.');
  assert.deepEqual(missing.evidence[0]?.observedIn, { runId: first.runId, stepId: 's2' });
  const chains = await world.desk.why(INQUIRY_GRANT, second.runId, undefined);
  for (const chain of chains) assert.ok(chain.holds, JSON.stringify(chain));
  const [branch] = chains.find(({ key }) => key === 'missing')?.branches ?? [];
  const kinds = branch?.links.map(({ kind }) => kind) ?? [];
  for (const kind of ['earlier_run', 'tool_call', 'lease', 'task'] as const) assert.ok(kinds.includes(kind), kind);
});

test('a follow-up of a follow-up rests on the run that observed, not on the one in between', async () => {
  await using world = await inquiryWorld();
  const first = await world.ask();
  const second = await follow(world, first);
  const third = await follow(world, second, { text: 'Why is it held?' });
  assert.deepEqual(new Set(third.steps.map(({ origin }) => origin?.runId)), new Set([first.runId]));
});

test('in Japanese, and whatever the first was asked in', async () => {
  await using world = await inquiryWorld();
  const first = await world.ask('C-102が止まっている理由は？まず下書きを作成し、送らないでください。');
  const before = sentCount(world);
  const second = await follow(world, first, { text: '不足しているものは何ですか。' });
  assert.equal(second.claims.find(({ key }) => key === 'missing')?.text, '不足：accident_report。');
  const third = await follow(world, first);
  assert.equal(third.claims.find(({ key }) => key === 'missing')?.text, 'Missing: accident_report.');
  assert.equal(sentCount(world), before);
});

test('a draft is made again; what it is made of is not read again', async () => {
  await using world = await inquiryWorld();
  const first = await world.ask();
  const before = sentCount(world);
  const second = await follow(world, first, { text: 'Why? Draft the notice again, do not send it.' });
  assert.equal(second.result, 'completed', second.reason ?? '');
  assert.equal(sentCount(world), before + 1);
  const drafted = second.steps.find(({ skillId }) => skillId === 'draft-notice');
  assert.deepEqual([drafted?.origin, drafted?.attempts.length], [null, 1]);
});

test('who asks for a fresh look gets one, in both languages', async () => {
  await using world = await inquiryWorld();
  const first = await world.ask();
  for (const text of ['Check again what is missing.', '不足しているものをもう一度確認してください。']) {
    const before = sentCount(world);
    const again = await follow(world, first, { text });
    assert.equal(again.result, 'completed', again.reason ?? '');
    assert.equal(sentCount(world), before + 3, text);
    assert.ok(again.goal?.constraints.includes('fresh-evidence'));
    assert.ok(again.steps.every(({ origin }) => origin === null));
  }
});

test('a wish for a fresh look is read from its words', () => {
  for (const text of ['recheck it', 'Please look it up again', 'the latest state', 'as of now?', '最新の状態は？'])
    assert.equal(wantsFreshLook(text), true, text);
  for (const text of ['what is missing?', 'draft it again', 'not known now', '不足は？'])
    assert.equal(wantsFreshLook(text), false, text);
});

test('evidence that is too old is looked up again', async () => {
  await using world = await inquiryWorld();
  const first = await world.ask();
  await world.clock.advance(901_000);
  const before = sentCount(world);
  const second = await follow(world, first);
  assert.equal(second.result, 'completed', second.reason ?? '');
  assert.equal(sentCount(world), before + 3);
});

test('another subject is looked up; what depends only on what was found is taken over', async () => {
  await using world = await inquiryWorld();
  const first = await world.ask();
  const second = await follow(world, first, { text: 'What is missing for C-103?' });
  assert.equal(second.result, 'completed', second.reason ?? '');
  assert.deepEqual(
    second.steps.map(({ skillId, origin }) => [skillId, origin === null]),
    [
      ['resolve-member', true],
      ['claim-status', true],
      ['policy-guidance', false],
    ],
  );
});

test('another person’s and another tenant’s follow-up in the same session takes nothing over: INV-14', async () => {
  await using world = await inquiryWorld();
  const first = await world.ask();
  const before = sentCount(world);
  const foreign = await follow(world, first, { text: 'What is missing for C-102?', grant: FOREIGN_GRANT });
  assert.ok(foreign.steps.every(({ origin }) => origin === null));
  assert.ok(foreign.sessionId === first.sessionId);
  assert.equal(sentCount(world), before + 3);
  const unclear = await follow(world, first, { grant: FOREIGN_GRANT, text: 'What is missing? For C-104.' });
  assert.equal(unclear.goal?.entities['claim_id'], 'C-104');
});

test('under another policy of its team a step is asked again, and only that one', async () => {
  await using world = await inquiryWorld({ cardKeptMs: 0 });
  const first = await world.ask();
  const announced = announcementOf('claims');
  world.team('claims').faults.announcement = { ...announced, policyDigest: digestOf('stricter') };
  const before = sentCount(world);
  const second = await follow(world, first);
  assert.equal(second.result, 'completed', second.reason ?? '');
  assert.equal(sentCount(world), before + 1);
  assert.deepEqual(
    second.steps.map(({ origin }) => origin === null),
    [false, true, false],
  );
});

test('a log that was changed is not relied on; one that is changed later breaks the proof: INV-11', async () => {
  await using world = await inquiryWorld();
  const first = await world.ask();
  const second = await follow(world, first);
  const { events } = world.store;
  // As if somebody had written into the database: one event of the first run reads back with another body.
  world.store.events = async (ref, afterSeq, limit) =>
    (await events(ref, afterSeq, limit)).map((event) =>
      ref.runId === first.runId && event.kind === 'run.ended'
        ? { ...event, body: { ...event.body, reason: 'rewritten' } }
        : event,
    );
  const chains = await world.desk.why(INQUIRY_GRANT, second.runId, 'missing');
  assert.equal(chains[0]?.holds, false);
  const broken = chains[0].branches.flatMap(({ links }) => links).filter(({ verdict }) => verdict === 'Broken');
  assert.deepEqual(
    broken.map(({ kind }) => kind),
    ['earlier_run'],
  );
  assert.match(broken[0]?.note ?? '', /does not verify/);
  const before = sentCount(world);
  const third = await follow(world, first);
  assert.equal(third.result, 'completed', third.reason ?? '');
  // What the second run took over is not its own, and the first is no longer whole.
  assert.equal(sentCount(world), before + 3);
});

test('a run that was taken over and is gone, or settled something else, breaks the proof', async () => {
  await using world = await inquiryWorld();
  const first = await world.ask();
  const second = await follow(world, first);
  const { events } = world.store;
  world.store.events = async (ref, afterSeq, limit) =>
    ref.runId === first.runId ? [] : await events(ref, afterSeq, limit);
  const [gone] = await world.desk.why(INQUIRY_GRANT, second.runId, 'missing');
  assert.match(JSON.stringify(gone), /There is no run/);
  assert.equal(gone?.holds, false);
  const other = await world.ask('Why is C-103 held?');
  world.store.events = (ref, afterSeq, limit) =>
    events(ref.runId === first.runId ? { ...ref, runId: other.runId } : ref, afterSeq, limit);
  const [swapped] = await world.desk.why(INQUIRY_GRANT, second.runId, 'missing');
  assert.equal(swapped?.holds, false);
});

test('an artifact that does not read back settles nothing', async () => {
  await using world = await inquiryWorld();
  const first = await world.ask();
  const { artifact } = world.store;
  const steps = (await world.state(first.runId)).steps.values();
  const lost = new Set([...steps].map(({ result }) => result?.artifactRef));
  world.store.artifact = async (tenant, digest) => (lost.has(digest) ? undefined : await artifact(tenant, digest));
  const before = sentCount(world);
  const second = await follow(world, first);
  assert.equal(second.result, 'completed', second.reason ?? '');
  assert.equal(sentCount(world), before + 3);
});

test('an answer to a question is assumed once, and only what the earlier goal named', async () => {
  const asked: Readonly<Record<string, string>>[] = [];
  const read = (given: Readonly<Record<string, string>>) => {
    asked.push(given);
    const blocked = {
      code: 'GOAL_UNCLEAR',
      question: 'Which claim?',
      wants: 'claim_id',
      options: [] as string[],
    } as const;
    return Promise.resolve({ kind: 'question', language: 'en', blocked } as const);
  };
  await readFollowing([], read);
  assert.deepEqual(asked, [{}]);
});
