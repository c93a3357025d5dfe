/** When a run may be erased, and what its state keeps of it. INV-08, INV-11. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Body } from './trial-contracts.test.ts';
import { digestOf } from './digest.ts';
import { foldRun } from './evolve.ts';
import { foldGraph } from './graph.ts';
import { successors } from './graph-node.ts';
import { answerOf, stepOf } from './trial-contracts.test.ts';
import { plannedTrial, type TrialRun } from './trial-run.test.ts';

const body = (scope: 'artifacts' | 'run', id = 'tmb_1'): Body<'erase'> => ({
  erased: {
    tombstoneId: id as 'tmb_1',
    scope,
    cause: { kind: 'request', subjectDigest: digestOf('member:m42'), reason: 'Asked by the member.' },
    by: 'custodian@t9',
    artifacts: [digestOf('artifact')],
  },
});

function endedTrial(): TrialRun {
  const trial = plannedTrial({ steps: [stepOf('s1')] });
  trial.dispatch('s1');
  trial.deliver('s1');
  return trial;
}

test('an ended run is erased by one event that says up to where; its state keeps the tombstone', () => {
  const trial = endedTrial();
  const { seq } = trial.state;
  assert.deepEqual(trial.ok('erase', body('artifacts')), ['run.erased']);
  assert.deepEqual(trial.ok('erase', body('run', 'tmb_2')), ['run.erased']);
  assert.deepEqual(
    trial.state.erasures.map(({ tombstoneId, scope, uptoSeq }) => [tombstoneId, scope, uptoSeq]),
    [
      ['tmb_1', 'artifacts', 0],
      ['tmb_2', 'run', seq + 1],
    ],
  );
  assert.equal(trial.state.result, 'completed');
  trial.assertFold();
  const graph = foldGraph(trial.log);
  assert.ok(graph !== undefined);
  const tombs = successors(graph, 'run:run_1', 'VALIDATED_BY').filter(({ status }) => status === 'erased');
  assert.deepEqual(
    tombs.map(({ detail }) => detail['tombstoneId']),
    ['tmb_1', 'tmb_2'],
  );
});

test('what lives, and artifacts that are gone already, are not erased', () => {
  const trial = plannedTrial({ steps: [stepOf('s1')] });
  assert.match(trial.refusal('erase', body('run')).message, /only what has ended/);
  const ended = endedTrial();
  ended.ok('erase', body('artifacts'));
  assert.match(ended.refusal('erase', body('artifacts', 'tmb_2')).message, /erased already/);
  ended.state.openEffects.set('eff_1', {} as never);
  assert.match(ended.refusal('erase', body('run')).message, /1 effects whose outcome is open/);
});

test('the sentences that were said are named in the tombstone by id and key', () => {
  const trial = endedTrial();
  const claim = {
    claimId: 'clm_1',
    key: 'status',
    kind: 'inference',
    template: 'It is pending.',
    slots: {},
    text: 'It is pending.',
    evidenceIds: [],
    confidence: 1,
    uncertainty: 'high',
  } as const;
  trial.state.answer = answerOf({ claims: [{ ...claim, evidenceIds: [] }] });
  trial.ok('erase', body('run'));
  assert.deepEqual(trial.state.erasures[0]?.claims, [{ claimId: 'clm_1', key: 'status' }]);
});

test('an erased log folds to nothing: there is no run to go on with', () => {
  const trial = endedTrial();
  trial.ok('erase', body('run'));
  const [first, ...rest] = trial.log;
  assert.ok(first !== undefined);
  const gone = { ...first, kind: 'body.erased', body: { kind: first.kind, tombstoneId: 'tmb_1' } } as const;
  assert.equal(foldRun([gone, ...rest]), undefined);
  assert.ok(foldGraph([gone]) !== undefined);
  // In the middle of a log it changes nothing.
  trial.append({ kind: 'body.erased', body: { kind: 'run.queued', tombstoneId: 'tmb_1' } } as never);
  assert.equal(trial.state.result, 'completed');
});
