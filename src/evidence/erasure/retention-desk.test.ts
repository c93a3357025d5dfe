/** Retention and deletion on real runs: counted first, erased whole, still verified, told from tampering, open runs untouched. INV-11, INV-14. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RootGrant } from '#contracts/lease.ts';
import { runView } from '#contracts/run-view.ts';
import { verifyChain } from '#kernel/chain.ts';
import { timestampOf } from '#kernel/time.ts';
import type { RetentionDesk, RetentionPolicy } from '#ports/retention-desk.ts';
import type { Store } from '#ports/store.ts';
import { INQUIRY_GRANT } from '#testing/inquiry-case.ts';
import { FOREIGN_GRANT, type InquiryWorld, inquiryWorld } from '#testing/inquiry-world.ts';
import { seededIds } from '#testing/seeded-ids.ts';
import { createRetentionDesk } from './retention-desk.ts';
import { mentions, subjectOf } from './subject-mentions.ts';

const CUSTODIAN: RootGrant = { ...INQUIRY_GRANT, sub: 'custodian@t9', purposes: [], actions: [], roles: ['custodian'] };
const AUDITOR: RootGrant = { ...CUSTODIAN, sub: 'auditor@t9', roles: ['auditor'] };
const REQUEST = { subject: 'member:m42', reason: 'The member asked for it.', apply: true };
const DAY_MS = 86_400_000;

/** `laterMs`: how long after the world's time it is asked; the world itself need not live through it. */
function retention(
  world: InquiryWorld,
  policy: RetentionPolicy = {},
  { store = world.store, laterMs = 0 }: { readonly store?: Store; readonly laterMs?: number } = {},
): RetentionDesk {
  const nowMs = (): number => world.clock.nowMs() + laterMs;
  return createRetentionDesk({
    store,
    teams: async () => [],
    policyOf: (tenant) => (tenant === 't9' ? policy : {}),
    clock: { ...world.clock, nowMs, now: () => timestampOf(nowMs()) },
    ids: seededIds('tomb'),
  });
}

async function follow(world: InquiryWorld, sessionId: string | null) {
  const request = {
    text: 'What is missing?',
    language: undefined,
    sessionId: sessionId ?? undefined,
    idempotencyKey: undefined,
  };
  return world.settle((await world.desk.submit(INQUIRY_GRANT, request)).view.runId);
}

test('a subject is forgotten: counted first, then every body is gone, the chain verifies, and nothing of it can be read', async () => {
  await using world = await inquiryWorld();
  const run = await world.ask();
  const other = await world.ask('Why is C-999 held?');
  const desk = retention(world);
  const counted = await desk.forget(AUDITOR, { ...REQUEST, apply: false });
  assert.deepEqual([counted.applied, counted.stores[0]?.runCount, counted.stores[0]?.artifactCount], [false, 1, 4]);
  assert.deepEqual(counted.tombstones, []);
  assert.equal((await world.desk.view(INQUIRY_GRANT, run.runId)).statement.text, run.statement.text);

  const done = await desk.forget(CUSTODIAN, REQUEST);
  assert.deepEqual(
    done.tombstones.map(({ runId, scope }) => [runId, scope]),
    [[run.runId, 'run']],
  );
  const ref = { tenant: 't9', runId: run.runId };
  const events = await world.store.events(ref, 0, 1_000);
  assert.equal(verifyChain({ ref, seq: 0, hash: '' }, events).ok, true);
  assert.ok(events.slice(0, -1).every(({ kind }) => kind === 'body.erased'));
  assert.doesNotMatch(JSON.stringify([events, await world.store.head(ref)]), /m42|C-102|held/);
  const view = await world.desk.view(INQUIRY_GRANT, run.runId);
  assert.deepEqual(runView.safeParse(view).error?.issues ?? [], []);
  assert.deepEqual([view.statement.text, view.result, view.erased?.scope], ['[erased]', 'completed', 'run']);
  assert.doesNotMatch(JSON.stringify(view), /m42|C-102/);
  assert.equal((await world.desk.view(INQUIRY_GRANT, other.runId)).erased, null);
  const leases = await world.store.leasesOfRun('t9', run.runId);
  assert.ok(leases.length > 0 && leases.every(({ resources }) => resources.every((one) => one.endsWith(':erased'))));
  const again = await desk.forget(CUSTODIAN, REQUEST);
  assert.deepEqual(again.tombstones, []);
});

test('why of an erased sentence says erased, by which tombstone, and is not broken; of a changed log it is broken', async () => {
  await using world = await inquiryWorld();
  const run = await world.ask();
  const { tombstones } = await retention(world).forget(CUSTODIAN, REQUEST);
  const [why] = await world.desk.why(INQUIRY_GRANT, run.runId, 'missing');
  assert.deepEqual([why?.holds, why?.brokenCount, why?.erasedCount, why?.text], [false, 0, 1, '[erased]']);
  const [link] = why?.branches[0]?.links ?? [];
  assert.deepEqual([link?.verdict, link?.detail['tombstoneId']], ['Erased', tombstones[0]?.tombstoneId]);
  assert.match(link?.note ?? '', /on the request of who it is about, by custodian@t9/);
  assert.equal((await world.desk.why(INQUIRY_GRANT, run.runId, undefined)).length, run.claims.length);
  await assert.rejects(world.desk.why(INQUIRY_GRANT, run.runId, 'unsaid'), { code: 'ERR_NOT_FOUND' });
  const { events } = world.store;
  // Somebody takes the tombstone away: then the bodies are simply missing.
  world.store.events = async (ref, afterSeq, limit) =>
    (await events(ref, afterSeq, limit)).filter(({ kind }) => kind !== 'run.erased');
  await assert.rejects(world.desk.why(INQUIRY_GRANT, run.runId, 'missing'), { code: 'ERR_NOT_FOUND' });
});

test('a follow-up whose first run is erased says so at the very link; its own tombstone is another', async () => {
  await using world = await inquiryWorld();
  const first = await world.ask();
  await world.clock.advance(600_000);
  const second = await follow(world, first.sessionId);
  assert.ok(second.steps.every(({ origin }) => origin?.runId === first.runId));
  // Only the first is a day old.
  await retention(world, { eventsDays: 1 }, { laterMs: DAY_MS - 300_000 }).enforce(CUSTODIAN, { apply: true });
  const [why] = await world.desk.why(INQUIRY_GRANT, second.runId, 'missing');
  assert.deepEqual([why?.holds, why?.brokenCount, why?.erasedCount], [false, 0, 1]);
  assert.match(JSON.stringify(why), /by the retention policy after 1 days/);
  const third = await follow(world, first.sessionId);
  assert.ok(
    third.steps.every(({ origin }) => origin === null),
    'what is erased is not taken over',
  );
});

test('by policy artifacts go first, and why says erased at the evidence; then the whole run, by its age', async () => {
  await using world = await inquiryWorld();
  const run = await world.ask();
  const after = (days: number): RetentionDesk =>
    retention(world, { artifactsDays: 30, eventsDays: 365 }, { laterMs: days * DAY_MS });
  assert.deepEqual((await after(29).enforce(CUSTODIAN, { apply: true })).tombstones, []);
  const first = await after(30).enforce(CUSTODIAN, { apply: true });
  assert.deepEqual(
    first.tombstones.map(({ scope }) => scope),
    ['artifacts'],
  );
  const view = await world.desk.view(INQUIRY_GRANT, run.runId);
  assert.deepEqual([view.erased?.scope, view.claims.length], ['artifacts', run.claims.length]);
  const [why] = await world.desk.why(INQUIRY_GRANT, run.runId, 'missing');
  assert.deepEqual([why?.holds, why?.brokenCount, why?.erasedCount], [false, 0, 1]);
  const repeated = await after(31).enforce(CUSTODIAN, { apply: true });
  assert.deepEqual(repeated.tombstones, []);
  assert.match(repeated.stores[0]?.kept[0]?.why ?? '', /erased already/);
  const last = await after(365).enforce(CUSTODIAN, { apply: true });
  assert.deepEqual(
    last.tombstones.map(({ scope }) => scope),
    ['run'],
  );
  assert.equal((await world.desk.view(INQUIRY_GRANT, run.runId)).erased?.scope, 'run');
});

test('an open run is never touched; it is erased when it has ended', async () => {
  await using world = await inquiryWorld();
  world.team('member').faults.workMs = 500;
  const request = { text: 'Why is C-102 held?', language: undefined, sessionId: undefined, idempotencyKey: undefined };
  const { runId } = (await world.desk.submit(INQUIRY_GRANT, request)).view;
  await world.untilInFlight(runId, 's1');
  const desk = retention(world);
  const report = await desk.forget(CUSTODIAN, { ...REQUEST, subject: 'claim:C-102' });
  assert.deepEqual([report.stores[0]?.openRunCount, report.tombstones.length], [1, 0]);
  const ended = await world.settle(runId);
  assert.equal(ended.result, 'completed', ended.reason ?? '');
  assert.equal((await desk.forget(CUSTODIAN, { ...REQUEST, subject: 'claim:C-102' })).tombstones.length, 1);
});

test('another tenant’s runs stay, whoever asks: INV-14', async () => {
  await using world = await inquiryWorld();
  const foreign = await world.ask('Why is C-102 held?', FOREIGN_GRANT);
  const desk = retention(world, { eventsDays: 0 });
  assert.deepEqual((await desk.forget(CUSTODIAN, REQUEST)).tombstones, []);
  assert.deepEqual((await desk.enforce(CUSTODIAN, { apply: true })).tombstones, []);
  assert.equal((await world.desk.view(FOREIGN_GRANT, foreign.runId)).erased, null);
});

test('who is not entitled, names no subject or no reason, changes nothing', async () => {
  await using world = await inquiryWorld();
  await world.ask();
  const desk = retention(world, { eventsDays: 0 });
  await assert.rejects(desk.forget(AUDITOR, REQUEST), { code: 'ERR_DENIED' });
  await assert.rejects(desk.forget(INQUIRY_GRANT, { ...REQUEST, apply: false }), { code: 'ERR_DENIED' });
  await assert.rejects(desk.enforce({ ...CUSTODIAN, roles: [] }, { apply: false }), /none/);
  await assert.rejects(desk.forget(CUSTODIAN, { ...REQUEST, subject: 'm42' }), { code: 'ERR_USAGE' });
  await assert.rejects(desk.forget(CUSTODIAN, { ...REQUEST, reason: ' ' }), { code: 'ERR_USAGE' });
  assert.equal((await desk.enforce(AUDITOR, { apply: false })).stores[0]?.runCount, 1);
});

test('a log that does not verify is kept and named: a tombstone must not cover what was tampered with', async () => {
  await using world = await inquiryWorld();
  const run = await world.ask();
  const { events } = world.store;
  const tampered: Store = {
    ...world.store,
    events: async (ref, afterSeq, limit) =>
      (await events(ref, afterSeq, limit)).map((event) =>
        event.kind === 'run.ended' ? { ...event, body: { ...event.body, reason: 'rewritten' } } : event,
      ),
  };
  const report = await retention(world, {}, { store: tampered }).forget(CUSTODIAN, REQUEST);
  assert.deepEqual(report.tombstones, []);
  assert.match(report.stores[0]?.kept[0]?.why ?? '', /does not verify/);
  assert.equal((await world.desk.view(INQUIRY_GRANT, run.runId)).erased, null);
});

test('cut off at any point, each run is either whole or erased; going on finishes, also what lies outside of the database', async () => {
  await using world = await inquiryWorld();
  const runs = [await world.ask(), await world.ask(), await world.ask()];
  let left = 1;
  const dying: Store = {
    ...world.store,
    erase: async (erasure) => {
      if (left-- <= 0) throw new Error('The process died.');
      return world.store.erase(erasure);
    },
  };
  await assert.rejects(retention(world, {}, { store: dying }).forget(CUSTODIAN, REQUEST), /died/);
  const scopes = await Promise.all(runs.map(async ({ runId }) => (await world.desk.view(INQUIRY_GRANT, runId)).erased));
  assert.equal(scopes.filter((erased) => erased !== null).length, 1);
  for (const { runId } of runs) {
    const ref = { tenant: 't9', runId };
    assert.equal(verifyChain({ ref, seq: 0, hash: '' }, await world.store.events(ref, 0, 1_000)).ok, true);
  }
  const dropped: string[] = [];
  const watching: Store = {
    ...world.store,
    dropArtifacts: async (tenant, digests) => {
      dropped.push(...digests);
      return world.store.dropArtifacts(tenant, digests);
    },
  };
  const finished = await retention(world, {}, { store: watching }).forget(CUSTODIAN, REQUEST);
  assert.deepEqual([finished.tombstones.length, dropped.length], [2, 4]);
});

test('a subject is found as a word of its own, in values, anchors, names and texts; no other is', () => {
  const [m42, m4] = [subjectOf('member:m42'), subjectOf('member:m4')];
  assert.ok(m42 !== undefined && m4 !== undefined);
  const says = (body: unknown) => [{ body }] as never;
  for (const body of [{ member_id: 'm42' }, { anchor: 'member:m42@v3' }, { text: 'Tell m42.' }, { m42: 1 }, [['m42']]])
    assert.deepEqual([mentions(says(body), m42), mentions(says(body), m4)], [true, false], JSON.stringify(body));
  assert.equal(mentions(says({ a: 42, b: null, c: 'xm42 m421 m42-b' }), m42), false);
  assert.equal(subjectOf('member'), undefined);
});
