import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EFFECT_STORY_IDS, runEffectDrill } from './effect-drill.ts';
import type { SeededBreakName } from './seeded-breaks.ts';

test('every story about effects holds, with no second and no unapproved effect', { timeout: 120_000 }, async () => {
  const check = await runEffectDrill();
  assert.deepEqual(check.failures, []);
  assert.equal(check.ok, true);
  assert.equal(check.counts.passed, EFFECT_STORY_IDS.length);
  assert.equal(check.counts.notTested, 0);
  assert.deepEqual([check.figures['duplicateCount'], check.figures['unapprovedCount']], [0, 0]);
  assert.deepEqual(
    check.stories.map(({ id }) => id),
    EFFECT_STORY_IDS,
  );
  assert.equal(
    check.stories.some(({ guard }) => guard === 'none'),
    false,
  );
});

test('a drill of no story is not ok', async () => {
  const check = await runEffectDrill({ only: [] });
  assert.equal(check.ok, false);
  assert.equal(check.counts.notTested, EFFECT_STORY_IDS.length);
});

/** Story → the mistake that must turn it red. */
const BREAKS: Readonly<Record<string, SeededBreakName>> = {
  'lost-acknowledgement': 'sends-again-in-doubt',
  'owner-unavailable-before-send': 'takes-refusal-for-the-end',
  'owner-unavailable-after-send': 'sends-again-in-doubt',
  'readback-hidden': 'takes-hidden-for-absent',
  'writer-killed-after-commit': 'never-looks-up',
  'two-writers-racing': 'keys-per-run',
  'two-writers-one-run': 'locks-nothing',
  'approved-twice-in-parallel': 'sends-per-decision',
  'approved-again-after-restart': 'sends-per-decision',
  'approval-request-replayed': 'sends-per-decision',
  'two-pending-in-reverse-order': 'decides-the-oldest',
  'two-pending-crossed': 'ignores-the-digest',
  'self-approval': 'lets-anybody-decide',
  'approval-forged-in-artifact': 'believes-artifacts',
  'packet-edited-before-decision': 'ignores-the-digest',
  'packet-edited-after-approval': 'seals-what-it-reads',
  'resource-version-moved': 'ignores-the-version',
  'resource-version-moved-under-way': 'ignores-the-version',
  'policy-version-moved': 'ignores-the-policy',
  'approval-expired-while-queued': 'never-expires',
  'same-key-other-body': 'keys-per-run',
};

test('each story has a mistake that turns it red', () => {
  assert.deepEqual(Object.keys(BREAKS).toSorted(), [...EFFECT_STORY_IDS].toSorted());
});

for (const [id, breakName] of Object.entries(BREAKS))
  test(`the drill ${id} goes red when a part ${breakName.replaceAll('-', ' ')}`, { timeout: 60_000 }, async () => {
    const check = await runEffectDrill({ only: [id], breakName });
    assert.equal(check.ok, false);
    assert.deepEqual(
      check.failures.map((failure) => failure.id),
      [id],
    );
    assert.notEqual(check.failures[0]?.got, check.failures[0]?.expected);
  });
