/** The release case's goal through the real intake: what a text asks for, forbids, and leaves open; and the plan it gets. */
import { releasePromotion } from '../../cases/release/goal.ts';
import { createRulesIntake } from '#control/intake.ts';
import { seededIds } from '#testing/seeded-ids.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';

async function read(text: string) {
  const intake = createRulesIntake({ kinds: [releasePromotion], ids: seededIds(1) });
  const identity = { tenant: 'tenant-7', subject: 'requester@tenant-7', sessionId: 'ses_1' };
  const request = { text, language: undefined, given: {}, identity, at: '2026-07-23T09:00:00.000Z' };
  return intake.read(request, { signal: new AbortController().signal, modelTokenCountMax: 0 });
}

const ASKED =
  'Promote reranker-v17 to 25% traffic. Cite its eval regressions and tell me whether its canary burned error budget in the last hour.';

for (const [text, expected] of [
  [ASKED, { release_name: 'reranker-v17', traffic_percent: '25' }],
  ['Promote reranker-canary to 10 percent of the traffic.', { release_name: 'reranker-canary', traffic_percent: '10' }],
  [
    'Promote version 3 of reranker-v17 to 25 % traffic.',
    { release_name: 'reranker-v17', traffic_percent: '25', release_version: '3' },
  ],
  [
    'Roll out reranker-v17 version v4 to 50%.',
    { release_name: 'reranker-v17', traffic_percent: '50', release_version: '4' },
  ],
  ['reranker-v17 を 25% に昇格してください。', { release_name: 'reranker-v17', traffic_percent: '25' }],
] as const) {
  test(`${JSON.stringify(text.slice(0, 60))} names ${Object.values(expected).join(', ')}`, async () => {
    const intake = await read(text);
    assert.ok(intake.kind === 'goal', JSON.stringify(intake));
    assert.deepEqual(intake.goal.entities, expected);
    assert.deepEqual(intake.goal.prohibitedActions, []);
  });
}

for (const [text, wants] of [
  ['Promote the reranker to 25% traffic.', 'release_name'],
  ['Promote reranker-v17 and reranker-v18 to 25% traffic.', 'release_name'],
  ['Promote reranker-v17 to more traffic.', 'traffic_percent'],
  ['Promote reranker-v17 to 25% or 50% traffic.', 'traffic_percent'],
  ['Promote version 3 or version 4 of reranker-v17 to 25% traffic.', 'release_version'],
] as const) {
  test(`${JSON.stringify(text)} is answered with a question about ${wants}`, async () => {
    const intake = await read(text);
    assert.ok(intake.kind === 'question', JSON.stringify(intake));
    assert.equal(intake.blocked.wants, wants);
  });
}

test('a check that must not promote anything forbids the promotion', async () => {
  const intake = await read('Can reranker-v17 have 25% traffic? Check the promotion, but do not promote it.');
  assert.ok(intake.kind === 'goal', JSON.stringify(intake));
  assert.deepEqual(intake.goal.prohibitedActions, ['releases:promote']);
});
