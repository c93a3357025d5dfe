import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CommandOf } from '#contracts/command.ts';
import type { ProposalRecord } from '#contracts/tool-proposal.ts';
import { digestOf } from './digest.ts';
import { goalOf, stepOf } from './trial-contracts.test.ts';
import { plannedTrial, TrialRun } from './trial-run.test.ts';

type Body = Omit<CommandOf<'noteProposal'>, 'kind' | 'at' | 'actor'>;

function proposed(index: number, over: Partial<ProposalRecord> = {}, attempt = 1): Body {
  return {
    stepId: 's1',
    planVersion: 1,
    attempt,
    dispatchId: `dsp_s1-${attempt}`,
    proposal: {
      index,
      proposed: 'call',
      tool: 'claims-db/get_claim',
      argumentsDigest: digestOf({ claim_id: 'C-102' }),
      proposalDigest: digestOf(index),
      verdict: 'permitted',
      reason: 'lawful',
      modelVersion: 'scripted-1',
      modelTokenCount: 3,
      ...over,
    },
  };
}

function dispatched(): TrialRun {
  const trial = plannedTrial({ steps: [stepOf('s1')] });
  trial.dispatch('s1');
  trial.start('s1');
  return trial;
}

test('a proposal is noted in the order in which it was made, and what it cost is counted per attempt', () => {
  const trial = dispatched();
  assert.deepEqual(trial.ok('noteProposal', proposed(1)), ['worker.proposed']);
  trial.ok('noteProposal', proposed(2, { verdict: 'refused', reason: 'invented', proposed: 'finish' }));
  const [attempt] = trial.step('s1').attempts;
  assert.deepEqual([attempt?.proposalCount, attempt?.proposedTokenCount], [2, 6]);
  trial.assertFold();
});

test('a proposal that is not the next one is refused: another process works on the attempt', () => {
  const trial = dispatched();
  trial.ok('noteProposal', proposed(1));
  for (const index of [1, 3]) assert.equal(trial.refusal('noteProposal', proposed(index)).code, 'ERR_STATE');
});

test('a proposal for an attempt that is over, another dispatch or a run without a plan is refused', () => {
  const trial = dispatched();
  assert.equal(trial.refusal('noteProposal', proposed(1, {}, 2)).code, 'ERR_STATE');
  trial.deliver('s1');
  assert.equal(trial.refusal('noteProposal', proposed(1)).code, 'ERR_STATE');
  const unplanned = new TrialRun();
  unplanned.receive({ kind: 'goal', goal: goalOf() });
  assert.equal(unplanned.refusal('noteProposal', proposed(1)).code, 'ERR_STATE');
});

test('nothing is permitted on tokens that the step does not have: INV-06; a refusal of it is noted', () => {
  const trial = dispatched();
  trial.ok('noteProposal', proposed(1, { modelTokenCount: 8 }));
  const error = trial.refusal('noteProposal', proposed(2, { modelTokenCount: 3 }));
  assert.equal(error.detail?.['invariant'], 'INV-06');
  trial.ok('noteProposal', proposed(2, { modelTokenCount: 3, verdict: 'refused', reason: 'token_limit' }));
  assert.equal(trial.step('s1').attempts[0]?.proposedTokenCount, 11);
});

test('a new attempt counts anew, and a proposal about a step that the run does not have changes nothing', () => {
  const trial = dispatched();
  trial.ok('noteProposal', proposed(1));
  trial.fail('s1');
  trial.nowMs = 1_000;
  trial.dispatch('s1');
  trial.ok('noteProposal', proposed(1, {}, 2));
  assert.deepEqual(
    trial.step('s1').attempts.map(({ proposalCount }) => proposalCount),
    [1, 1],
  );
  const { proposal, planVersion } = proposed(1);
  trial.append({ kind: 'worker.proposed', body: { ...proposal, stepId: 's9', attempt: 1, planVersion } });
  assert.equal(trial.step('s1').attempts[1]?.proposalCount, 1);
});
