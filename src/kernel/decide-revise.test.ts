/** Which of two results holds, and another version of a plan under way. INV-05, INV-08, INV-09. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CommandOf } from '#contracts/command.ts';
import type { Digest, StepId } from '#contracts/ids.ts';
import type { PlanStep } from '#contracts/plan.ts';
import { conflictBlock } from './conflict-block.ts';
import { digestOf } from './digest.ts';
import { foldGraph } from './graph.ts';
import { successors } from './graph-node.ts';
import { checkInvariants } from './invariants.ts';
import { artifactResultHash } from './reduce-result.ts';
import {
  artifactOf,
  deliverBody,
  dispatchIdOf,
  goalOf,
  type Made,
  type Setup,
  skillOf,
  stepOf,
} from './trial-contracts.test.ts';
import { approve, begin, confirmedOf, effectStep, effectTrial, on, propose, sendSkill } from './trial-effects.test.ts';
import { plannedTrial, TrialRun } from './trial-run.test.ts';

const CHAIN: Setup = { steps: [stepOf('s1'), stepOf('s2', ['s1']), stepOf('s3')] };

const hashOf = (stepId: StepId, made: Made = {}): Digest => artifactResultHash(artifactOf(stepId, made));
const held = (
  stepId: StepId,
  hash: Digest,
  reason = 'The owner confirmed it.',
): Omit<CommandOf<'decideConflict'>, 'kind' | 'at' | 'actor'> => ({
  stepId,
  held: hash,
  planId: 'plan_2',
  reason,
});

/** Delivers for the plan's second version, attempt `attempt`. */
function deliverAgain(trial: TrialRun, stepId: StepId, made: Made = {}) {
  const { attempt = 1 } = made;
  const body = deliverBody(stepId, {
    ...made,
    change: (artifact) => {
      Object.assign(artifact.binding, { planVersion: 2 });
      made.change?.(artifact);
    },
  });
  return trial.ok('deliver', { ...body, planVersion: 2, dispatchId: dispatchIdOf(stepId, attempt) });
}

/** A chain whose first step is settled, contradicted, and whose other steps are over as `then` says. */
function conflicted(setup: Setup = CHAIN, then: (trial: TrialRun) => void = () => {}): TrialRun {
  const trial = plannedTrial(setup);
  trial.dispatch('s1');
  trial.deliver('s1');
  then(trial);
  trial.deliver('s1', { value: 'other' });
  assert.equal(trial.state.blocked?.code, 'RESULT_CONFLICT');
  return trial;
}

test('the settled result holds: the run goes on where it was, and nobody is needed any more', () => {
  const trial = conflicted();
  assert.equal(trial.state.needsHuman, true);
  const kinds = trial.decideAs('approver@t9', 'decideConflict', held('s1', hashOf('s1')));
  assert.deepEqual(kinds, ['conflict.decided', 'run.unblocked']);
  const { phase, needsHuman, conflicts } = trial.state;
  assert.deepEqual([phase, needsHuman, conflicts.size], ['running', false, 0]);
  assert.deepEqual(
    trial
      .todos()
      .slice(0, 2)
      .map(({ kind }) => kind),
    ['dispatch', 'dispatch'],
  );
  const body = trial.log.flatMap((event) => (event.kind === 'conflict.decided' ? [event.body] : []))[0];
  assert.deepEqual([body?.by, body?.refused], ['approver@t9', [hashOf('s1', { value: 'other' })]]);
  trial.assertFold();
  assert.equal(foldGraph(trial.log)?.nodes.get('step:s1')?.status, 'completed');
});

test('behind the conflict the join may have been decided: the decision ends the run', () => {
  const trial = conflicted(CHAIN, (run) => {
    run.dispatch('s2', 's3');
    run.deliver('s2');
  });
  trial.deliver('s3');
  assert.equal(trial.state.phase, 'blocked');
  assert.deepEqual(trial.ok('decideConflict', held('s1', hashOf('s1'))), [
    'conflict.decided',
    'run.unblocked',
    'run.ended',
  ]);
  assert.deepEqual([trial.state.result, trial.state.needsHuman], ['completed', false]);
});

test('another result holds: it takes the place of the settled one, what rested on that is done again, the rest stands', () => {
  const trial = conflicted(CHAIN, (run) => {
    run.dispatch('s2');
    run.deliver('s2');
  });
  trial.assertFold();
  const other = hashOf('s1', { value: 'other' });
  assert.deepEqual(trial.ok('decideConflict', held('s1', other)), [
    'artifact.accepted',
    'conflict.decided',
    'plan.revised',
    'run.unblocked',
  ]);
  assert.deepEqual(trial.step('s1').result?.data, { value: 'other' });
  assert.equal(trial.step('s1').artifactId, 'art_s1-other');
  assert.equal(trial.step('s2').phase, 'ready');
  assert.equal(trial.state.accepted?.plan.version, 2);
  assert.deepEqual(trial.state.revisions[0]?.kept, ['s1']);
  assert.deepEqual([trial.state.openStepCount, trial.state.completedRequiredStepCount], [2, 1]);
  // What the earlier version still sends changes nothing.
  assert.deepEqual(trial.deliver('s2', { value: 'late' }), ['result.stale']);
  trial.ok('dispatch', trial.dispatchBody('s2', { planVersion: 2 }));
  trial.ok('dispatch', trial.dispatchBody('s3', { planVersion: 2 }));
  assert.equal(trial.step('s2').attempts.length, 2);
  deliverAgain(trial, 's2', { attempt: 2, value: 'again' });
  assert.deepEqual(deliverAgain(trial, 's3').at(-1), 'run.ended');
  assert.equal(trial.state.result, 'completed');
  trial.assertFold();
  const graph = foldGraph(trial.log);
  assert.ok(graph !== undefined);
  assert.deepEqual(
    successors(graph, 'plan:plan_2', 'DERIVED_FROM').map(({ ref }) => ref),
    ['plan_1'],
  );
  assert.equal(graph.nodes.get('artifact:art_s1-other')?.status, 'accepted');
});

test('a result that its dependents cannot use makes them impossible, and the run ends by what holds', () => {
  const steps = [stepOf('s1'), stepOf('s2', ['s1']), stepOf('s3', ['s2']), stepOf('s4')];
  const trial = conflicted({ steps }, (run) => {
    run.dispatch('s4');
    run.deliver('s4');
  });
  const none: Made = { status: 'no_data', value: 'none' };
  trial.deliver('s1', none);
  const kinds = trial.ok('decideConflict', held('s1', hashOf('s1', none)));
  assert.deepEqual(kinds.slice(2), ['plan.revised', 'step.skipped', 'step.skipped', 'run.unblocked', 'run.ended']);
  assert.equal(trial.state.result, 'no_data');
  trial.assertFold();
});

test('an optional step that had failed stays failed in the next version; it is not tried again for the conflict of another', () => {
  const trial = conflicted({ steps: [stepOf('s1'), stepOf('s2', ['s1']), stepOf('s3?')] }, (run) => {
    run.dispatch('s3');
    run.fail('s3', 'ERR_POLICY');
  });
  trial.ok('decideConflict', held('s1', hashOf('s1', { value: 'other' })));
  assert.equal(trial.step('s3').result?.status, 'failed');
  assert.deepEqual([...trial.state.ready], ['s2']);
});

test('of two conflicts each is decided, and the run goes on after the last', () => {
  const trial = conflicted({ steps: [stepOf('s1'), stepOf('s2'), stepOf('s3')] }, (run) => {
    run.dispatch('s2');
    run.deliver('s2');
  });
  trial.deliver('s2', { value: 'other' });
  assert.deepEqual(trial.ok('decideConflict', held('s1', hashOf('s1'))), ['conflict.decided']);
  assert.equal(trial.state.phase, 'blocked');
  const kinds = trial.ok('decideConflict', held('s2', hashOf('s2', { value: 'other' })));
  assert.deepEqual(kinds.at(-1), 'run.unblocked');
  assert.deepEqual([...trial.state.ready], ['s3']);
});

test('a conflict that came while the run stood still for people blocks it as soon as that is decided', () => {
  const setup: Setup = { steps: [stepOf('s1'), effectStep('e1')], skills: [skillOf(), sendSkill()] };
  const trial = plannedTrial({ ...setup, goal: { entities: { claim_id: 'C-102', e1: 'N-1' } } });
  trial.dispatch('s1');
  trial.deliver('s1');
  propose(trial, 'e1');
  trial.ok('awaitPeople', {});
  trial.deliver('s1', { value: 'other' });
  assert.equal(trial.state.blocked?.code, 'APPROVAL');
  approve(trial, 'e1');
  assert.deepEqual(trial.todos().at(0)?.kind === 'await' || trial.todos().some(({ kind }) => kind === 'await'), true);
  assert.deepEqual(trial.ok('awaitPeople', {}), ['run.blocked']);
  assert.equal(trial.state.blocked?.code, 'RESULT_CONFLICT');
  assert.deepEqual(trial.ok('decideConflict', held('s1', hashOf('s1'))).at(-1), 'run.unblocked');
});

test('a decision without a conflict, without a reason, for a hash that is none of them, or with work under way is refused', () => {
  const early = new TrialRun();
  early.receive({ kind: 'question', blocked: { code: 'GOAL_UNCLEAR', question: '?', wants: 'x', options: [] } });
  assert.equal(early.refusal('decideConflict', held('s1', hashOf('s1'))).code, 'ERR_STATE');
  const trial = conflicted(CHAIN, (run) => run.dispatch('s3'));
  assert.equal(trial.refusal('decideConflict', held('s2', hashOf('s1'))).code, 'ERR_STATE');
  assert.equal(trial.refusal('decideConflict', held('s1', hashOf('s1'), ' ')).code, 'ERR_USAGE');
  assert.match(trial.refusal('decideConflict', held('s1', digestOf('x'))).message, /Expected one of sha256:/);
  const other = held('s1', hashOf('s1', { value: 'other' }));
  assert.match(trial.refusal('decideConflict', other).message, /1 attempts or effects under way/);
  trial.deliver('s3');
  trial.ok('decideConflict', other);
});

test('an effect that rests on the settled result forbids to replace it; a proposal that does is withdrawn', () => {
  const e2 = effectStep('e2?');
  const steps: PlanStep[] = [
    e2,
    stepOf('s1'),
    { ...effectStep('e1'), dependsOn: [{ stepId: 's1', strength: 'strong' }] },
    stepOf('s3'),
  ];
  const proposed = effectTrial(steps);
  proposed.dispatch('s1');
  proposed.deliver('s1');
  propose(proposed, 'e1');
  propose(proposed, 'e2');
  approve(proposed, 'e2', { disposition: 'rejected', reason: 'No.' });
  proposed.deliver('s1', { value: 'other' });
  const other = held('s1', hashOf('s1', { value: 'other' }));
  assert.ok(proposed.ok('decideConflict', other).includes('approval.withdrawn'));
  assert.equal(proposed.step('e1').approvalId, undefined);
  assert.deepEqual([...proposed.state.readyEffects], ['e1']);
  const applied = effectTrial(steps);
  applied.dispatch('s1');
  applied.deliver('s1');
  begin(applied, 'e1');
  applied.ok('confirmEffect', { ...on('e1'), confirmed: confirmedOf('e1') });
  applied.deliver('s1', { value: 'other' });
  assert.match(applied.refusal('decideConflict', other).message, /The effect of step e1 rests on the result/);
  applied.ok('decideConflict', held('s1', hashOf('s1')));
});

test('an effect that is not as it was approved still needs people after the conflict is decided', () => {
  const trial = effectTrial([stepOf('s1'), effectStep('e1'), stepOf('s3')]);
  trial.dispatch('s1');
  trial.deliver('s1');
  begin(trial, 'e1');
  const findings = [{ pointer: '/channel', expected: 'mail', got: 'post' }];
  trial.ok('confirmEffect', { ...on('e1'), confirmed: confirmedOf('e1', { findings }) });
  trial.deliver('s1', { value: 'other' });
  trial.ok('decideConflict', held('s1', hashOf('s1')));
  assert.equal(trial.state.needsHuman, true);
});

test('INV-05, INV-09: what holds must be a result that there is, and the next version follows and keeps what is over', () => {
  const trial = conflicted();
  const messages = (draft: Parameters<TrialRun['seal']>[0], of = trial): readonly string[] =>
    checkInvariants(of.state, of.seal(draft)).map(({ invariant, message }) => `${invariant} ${message}`);
  const probe = conflicted();
  probe.ok('decideConflict', held('s1', hashOf('s1', { value: 'other' })));
  const decidedBody = probe.log.flatMap((event) => (event.kind === 'conflict.decided' ? [event.body] : []))[0];
  const revisedBody = probe.log.flatMap((event) => (event.kind === 'plan.revised' ? [event.body] : []))[0];
  assert.ok(decidedBody?.adopted !== undefined && revisedBody !== undefined);
  const { adopted, ...plain } = decidedBody;
  assert.match(messages({ kind: 'conflict.decided', body: plain })[0] ?? '', /^INV-05 Step s1 is not settled with/);
  const foreign = { ...decidedBody, stepId: 's3' };
  assert.match(messages({ kind: 'conflict.decided', body: foreign })[0] ?? '', /^INV-05 Step s3 has no contradicting/);
  assert.match(
    messages({ kind: 'conflict.decided', body: { ...plain, stepId: 's9' } })[0] ?? '',
    /^INV-05 Step s9 is not settled/,
  );
  const wrong = { ...revisedBody, kept: ['s2', 's9'], plan: { ...revisedBody.plan, version: 5 } };
  assert.deepEqual(messages({ kind: 'plan.revised', body: wrong }), [
    'INV-09 Plan version 5 follows 1.',
    'INV-09 Step s2 is kept and is not over.',
    'INV-09 Step s9 is kept and is not over.',
  ]);
  const early = new TrialRun();
  early.receive({ kind: 'question', blocked: { code: 'GOAL_UNCLEAR', question: '?', wants: 'x', options: [] } });
  assert.match(messages({ kind: 'plan.revised', body: revisedBody }, early)[0] ?? '', /A run without a plan/);
  // Folded all the same: a step that is not there takes nothing.
  trial.append({ kind: 'conflict.decided', body: { ...decidedBody, stepId: 's9', adopted } });
  trial.append({
    kind: 'result.conflicted',
    body: { stepId: 's9', attempt: 1, planVersion: 1, dispatchId: 'dsp_x', reason: 'Of an old log.' },
  });
  assert.equal(trial.state.conflicts.get('s9')?.length, 0);
  const none = new TrialRun();
  none.receive({ kind: 'goal', goal: goalOf() });
  none.append({
    kind: 'result.conflicted',
    body: { stepId: 's9', attempt: 1, planVersion: 1, dispatchId: 'dsp_x', reason: 'Of an old log.' },
  });
  assert.match(conflictBlock(none.state)?.question ?? '', /the person must decide/);
  none.append({ kind: 'plan.revised', body: revisedBody });
  assert.equal(none.state.steps.size, 0);
});

test('a conflict about a step that begins anew is over with the decision above it', () => {
  const trial = plannedTrial(CHAIN);
  trial.dispatch('s1');
  trial.deliver('s1');
  trial.dispatch('s2');
  trial.deliver('s1', { value: 'other' });
  trial.deliver('s2');
  trial.deliver('s2', { value: 'other' });
  assert.equal(trial.state.conflicts.size, 2);
  const kinds = trial.ok('decideConflict', held('s1', hashOf('s1', { value: 'other' })));
  assert.ok(kinds.includes('run.unblocked'));
  const { phase, needsHuman, conflicts } = trial.state;
  assert.deepEqual([phase, needsHuman, conflicts.size], ['running', false, 0]);
  trial.assertFold();
});

test('a run that stood still for an approval does not wait for it after the version that it belonged to', () => {
  const trial = effectTrial([stepOf('s1'), effectStep('e1', { dependsOn: [{ stepId: 's1', strength: 'strong' }] })]);
  trial.dispatch('s1');
  trial.deliver('s1');
  propose(trial, 'e1');
  trial.ok('awaitPeople', {});
  trial.deliver('s1', { value: 'other' });
  assert.equal(trial.state.blocked?.code, 'APPROVAL');
  trial.ok('decideConflict', held('s1', hashOf('s1', { value: 'other' })));
  assert.deepEqual([trial.state.phase, [...trial.state.readyEffects]], ['running', ['e1']]);
  trial.assertFold();
});
