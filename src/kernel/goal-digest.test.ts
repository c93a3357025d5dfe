import type { GoalContract } from '#contracts/goal.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goalDigest } from './goal-digest.ts';

const goal: GoalContract = {
  contractVersion: '1.0.0',
  goalId: 'goal_a',
  revision: 1,
  tenant: 't9',
  requestedBy: 'requester@t9',
  sessionId: 'ses_a',
  kind: 'claim-inquiry',
  kindVersion: '1.0.0',
  purpose: 'claim-status',
  subject: { type: 'claim', ids: ['C-102'] },
  entities: { claim_id: 'C-102' },
  requestedOutputs: [{ kind: 'claim-status', required: true }],
  prohibitedActions: ['notify:send'],
  constraints: [],
  evidencePolicy: { factsNeedEvidence: true, observationAgeMsMax: 0 },
  claims: [],
  budget: {
    stepCountMax: 6,
    modelTokenCountMax: 12_000,
    toolCallCountMax: 8,
    concurrencyMax: 4,
    deadlineMs: 9_000,
    replanCountMax: 2,
  },
  statement: { text: 'Why is C-102 open?', language: 'en' },
};

test('the digest of a goal does not depend on its words, its session or its id', () => {
  const other: GoalContract = {
    ...goal,
    goalId: 'goal_b',
    sessionId: 'ses_b',
    statement: { text: 'C-102はなぜ未完了ですか。', language: 'ja' },
  };
  assert.equal(goalDigest(other), goalDigest(goal));
});

test('the digest of a goal changes with who asks, what is prohibited and what is spent', () => {
  const base = goalDigest(goal);
  for (const changed of [
    { requestedBy: 'requester@t8' },
    { tenant: 't8' },
    { prohibitedActions: [] },
    { budget: { ...goal.budget, toolCallCountMax: 9 } },
  ])
    assert.notEqual(goalDigest({ ...goal, ...changed }), base, JSON.stringify(changed));
});
