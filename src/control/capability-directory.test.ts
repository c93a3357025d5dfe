import { CaseOpsError } from '#contracts/error.ts';
import { digestOf } from '#kernel/digest.ts';
import type { TeamAnnouncement, TeamTransport } from '#ports/team-transport.ts';
import { announcementOf, INQUIRY_ACTIONS, INQUIRY_GRANT } from '#testing/inquiry-case.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { seededIds } from '#testing/seeded-ids.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cardChange, createCapabilityDirectory, type CapabilityDirectoryOptions } from './capability-directory.ts';

const { signal } = new AbortController();

function never(): never {
  assert.fail('nothing is sent while discovering');
}

function transport(team: string, discover: () => Promise<TeamAnnouncement>): TeamTransport {
  return { team, discover, send: never, cancel: never };
}

function directoryOf(
  discover: Readonly<Record<string, () => Promise<TeamAnnouncement>>>,
  over: Partial<CapabilityDirectoryOptions> = {},
) {
  const clock = seededClock(Date.UTC(2026, 6, 22));
  const teams = new Map(Object.entries(discover).map(([team, ask]) => [team, transport(team, ask)]));
  const options = {
    teams,
    clock,
    ids: seededIds('d'),
    workloadActions: INQUIRY_ACTIONS,
    policyDigest: digestOf('policy'),
  };
  return { clock, directory: createCapabilityDirectory({ ...options, ...over }) };
}

const refuse = (): Promise<never> =>
  Promise.reject(new CaseOpsError('ERR_TEAM_UNREACHABLE', 'Connection refused.', { at: 'a2a' }));

test('a snapshot has the verified cards, the skills and user beside workload, and expires in five minutes', async () => {
  const { directory } = directoryOf({ claims: () => Promise.resolve(announcementOf('claims')) });
  const snapshot = await directory.snapshot(INQUIRY_GRANT, signal);
  assert.deepEqual(
    snapshot.skills.map(({ skillId }) => skillId),
    ['claim-status'],
  );
  assert.equal(Date.parse(snapshot.expiresAt) - Date.parse(snapshot.takenAt), 300_000);
  assert.deepEqual(snapshot.policy.userActions, INQUIRY_GRANT.actions);
  assert.deepEqual(snapshot.policy.workloadActions, INQUIRY_ACTIONS);
  assert.deepEqual(snapshot.policy.tenants, ['t9']);
});

test('a team that does not answer is listed with the reason; one that is registered can still be planned for', async () => {
  const unknown = await directoryOf({ claims: refuse }).directory.snapshot(INQUIRY_GRANT, signal);
  assert.deepEqual(unknown.unavailable, [{ team: 'claims', reason: 'Connection refused.' }]);
  assert.deepEqual(unknown.skills, []);
  const registered = new Map([['claims', announcementOf('claims')]]);
  const known = await directoryOf({ claims: refuse }, { registered }).directory.snapshot(INQUIRY_GRANT, signal);
  assert.equal(known.unavailable.length, 1);
  assert.equal(known.skills.length, 1);
});

test('a team that is slow to show its card is given up after its time', async () => {
  const { clock, directory } = directoryOf({ claims: () => new Promise(() => undefined) }, { discoveryTimeoutMs: 200 });
  const found = directory.find('claims', signal);
  await clock.advance(200);
  const result = await found;
  assert.ok(!result.ok && result.error.message.includes('200 ms'));
  assert.equal(clock.armedCount, 0);
});

test('a team that speaks for another is not believed', async () => {
  const { directory } = directoryOf({
    claims: () => Promise.resolve(announcementOf('member')),
    member: () => Promise.resolve({ ...announcementOf('member'), skills: announcementOf('claims').skills }),
    nobody: refuse,
  });
  for (const team of ['claims', 'member', 'nobody', 'unheard-of'])
    assert.equal((await directory.find(team, signal)).ok, false, team);
});

test('a card is asked for once in 30 seconds, or again when it was forgotten', async () => {
  let count = 0;
  const { clock, directory } = directoryOf({
    claims: () => {
      count += 1;
      return Promise.resolve(announcementOf('claims'));
    },
  });
  await directory.find('claims', signal);
  await directory.find('claims', signal);
  assert.equal(count, 1);
  directory.forget('claims');
  await directory.find('claims', signal);
  await clock.advance(30_000);
  await directory.find('claims', signal);
  assert.equal(count, 3);
});

test('a changed key, audience, workload or protocol is another team; a changed text is not', () => {
  const { card } = announcementOf('claims');
  assert.equal(cardChange(card, { ...card, cardName: 'Other words', cardDigest: digestOf('other') }), undefined);
  assert.equal(cardChange(card, { ...card, verifiedBy: 'k', audience: 'https://evil.test' }), 'signing key, audience');
  assert.equal(cardChange(card, { ...card, workload: 'spiffe://evil.test' }), 'workload');
  assert.equal(cardChange(card, { ...card, protocolVersion: '0.3' }), 'protocol version');
});
