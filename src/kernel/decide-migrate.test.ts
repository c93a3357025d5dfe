/** Upgrades in flight: a run finishes under the contracts of its plan, is held when they are gone, and moves by a person's word. INV-09. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CapabilitySnapshot } from '#contracts/capability-snapshot.ts';
import type { Finding } from '#contracts/plan.ts';
import type { SkillContract } from '#contracts/skill.ts';
import type { StepId } from '#contracts/ids.ts';
import { digestOf } from './digest.ts';
import { foldGraph } from './graph.ts';
import { successors } from './graph-node.ts';
import { checkInvariants } from './invariants.ts';
import { newestSkills } from './newest-skill.ts';
import { atMs, failBody, goalOf, type Setup, skillOf, snapshotOf, stepOf } from './trial-contracts.test.ts';
import { approve, effectStep, POLICY, propose, sendSkill } from './trial-effects.test.ts';
import { acceptedBody, plannedTrial, TrialRun } from './trial-run.test.ts';

const READS: Partial<SkillContract> = { requires: [{ name: 'claim_id', kind: 'claim_id' }] };
const V1 = skillOf(READS);
const V2 = skillOf({ ...READS, version: '2.0.0', description: 'Reads a claim, and more.' });
const MOVED = { what: 'skill claims/claim-status', expected: '1.0.0', got: '2.0.0' };
const TWO: Setup = { steps: [stepOf('s1'), stepOf('s2', ['s1'])], skills: [V1] };

const ACTIONS = ['claims:read', 'notify:send'];

function offering(skills: readonly SkillContract[], over: Partial<CapabilitySnapshot> = {}): CapabilitySnapshot {
  const snapshot = snapshotOf({ steps: [], skills });
  const policy = { ...snapshot.policy, userActions: ACTIONS, workloadActions: ACTIONS };
  return { ...snapshot, snapshotId: 'cap_2', policy, ...over };
}

function migrating(skills: readonly SkillContract[], over: Partial<CapabilitySnapshot> = {}) {
  return {
    planId: 'plan_2',
    snapshot: offering(skills, over),
    approvalPolicyDigest: POLICY,
    reason: 'Version 2 is deployed.',
  } as const;
}

function contractGone(trial: TrialRun, stepId: StepId, moved: unknown = [MOVED]): void {
  trial.dispatch(stepId);
  const body = failBody(stepId, 'ERR_CONTRACT_MOVED', trial.step(stepId).attempts.length);
  trial.ok('fail', { ...body, error: { ...body.error, detail: { moved: moved as never } } });
}

/** A run whose first step is settled and whose second one finds its contract gone. */
function heldTrial(): TrialRun {
  const trial = plannedTrial(TWO);
  trial.dispatch('s1');
  trial.deliver('s1');
  contractGone(trial, 's2');
  return trial;
}

test('a required step whose contract is gone is held, not failed: the run says what moved, stands still, and what to type', () => {
  const trial = heldTrial();
  assert.equal(trial.step('s2').phase, 'waiting');
  assert.deepEqual(trial.state.errors, []);
  assert.deepEqual(trial.todos()[0], { kind: 'await' });
  assert.deepEqual(trial.ok('awaitPeople', {}), ['run.blocked']);
  assert.equal(trial.state.blocked?.code, 'CONTRACT');
  assert.deepEqual(trial.state.blocked.moved, [MOVED]);
  assert.match(trial.state.blocked.question, /was 1\.0\.0 and is 2\.0\.0.*caseops runs migrate run_1/);
  assert.deepEqual([trial.state.needsHuman, trial.todos().length], [true, 0]);
  trial.assertFold();
});

test('an optional step, and what does not say what moved, fail as any other', () => {
  const optional = plannedTrial({ steps: [stepOf('s1'), stepOf('s2?')], skills: [V1] });
  contractGone(optional, 's2');
  assert.equal(optional.step('s2').result?.status, 'failed');
  const silent = plannedTrial(TWO);
  contractGone(silent, 's1', []);
  assert.equal(silent.step('s1').result?.status, 'failed');
});

test('a migration plans what is open again under what is offered, keeps what is settled, and names both, who and why', () => {
  const trial = heldTrial();
  trial.ok('awaitPeople', {});
  const settled = trial.step('s1').skill;
  assert.deepEqual(trial.decideAs('approver@t9', 'migrate', migrating([V2])), ['run.migrated', 'run.unblocked']);
  const { accepted, migrations } = trial.state;
  assert.deepEqual([accepted?.plan.version, accepted?.plan.planId], [2, 'plan_2']);
  assert.equal(trial.step('s1').skill, settled);
  assert.equal(trial.step('s1').definition.skillVersion, '1.0.0');
  assert.equal(trial.step('s2').skill.version, '2.0.0');
  assert.equal(trial.step('s2').definition.skillVersion, '2.0.0');
  const [move] = migrations;
  assert.deepEqual([move?.by, move?.reason], ['approver@t9', 'Version 2 is deployed.']);
  assert.deepEqual(move?.steps, [
    {
      stepId: 's2',
      from: { version: '1.0.0', digest: digestOf(V1) },
      to: { version: '2.0.0', digest: digestOf(V2) },
    },
  ]);
  assert.equal(move.to.planDigest, digestOf(accepted?.plan));
  assert.deepEqual(trial.todos()[0], { kind: 'dispatch', stepId: 's2', attempt: 2 });
  assert.equal(trial.refusal('dispatch', trial.dispatchBody('s2')).code, 'ERR_STATE', 'of the version before');
  trial.ok('dispatch', trial.dispatchBody('s2', { planVersion: 2 }));
  trial.assertFold();
  const graph = foldGraph(trial.log);
  assert.ok(graph !== undefined);
  assert.deepEqual(
    successors(graph, 'plan:plan_2', 'DERIVED_FROM').map(({ ref }) => ref),
    ['plan_1'],
  );
  assert.equal(successors(graph, 'plan:plan_2', 'VALIDATED_BY')[0]?.detail['by'], 'approver@t9');
});

test('a held step is tried again when its contract is offered again; nothing else is then to migrate', () => {
  const trial = heldTrial();
  assert.match(trial.refusal('migrate', migrating([V1])).message, /is under the contracts/);
  trial.ok('awaitPeople', {});
  assert.deepEqual(trial.ok('migrate', migrating([V1])), ['run.unblocked']);
  assert.equal(trial.step('s2').phase, 'ready');
  assert.equal(trial.state.held.size, 0);
  assert.match(trial.refusal('migrate', migrating([V1])).message, /is under the contracts/);
  trial.assertFold();
});

test('a decision about something else lifts the block and leaves the step held', () => {
  const setup: Setup = { steps: [stepOf('s1'), effectStep('e1')], skills: [V1, sendSkill()] };
  const entities = { claim_id: 'C-102', e1: 'N-1' };
  const trial = plannedTrial({ ...setup, goal: { entities } });
  propose(trial, 'e1');
  contractGone(trial, 's1');
  trial.ok('awaitPeople', {});
  assert.equal(trial.state.blocked?.code, 'CONTRACT');
  approve(trial, 'e1');
  assert.equal(trial.state.blocked, undefined);
  assert.deepEqual([...trial.state.held.keys()], ['s1']);
});

test('while something is under way, before a plan, after the end, and without a reason nothing is migrated', () => {
  const trial = plannedTrial(TWO);
  assert.equal(trial.refusal('migrate', { ...migrating([V2]), reason: ' ' }).code, 'ERR_USAGE');
  trial.dispatch('s1');
  assert.match(trial.refusal('migrate', migrating([V2])).message, /1 attempts or effects under way/);
  trial.deliver('s1');
  trial.deliver('s1', { value: 'other' });
  assert.match(trial.refusal('migrate', migrating([V2])).message, /is blocked/);
  const early = new TrialRun();
  early.receive({ kind: 'goal', goal: goalOf() });
  assert.match(early.refusal('migrate', migrating([V2])).message, /is received/);
});

test('a skill that nobody offers, whose team has no card, or that has another risk now leaves the run where it is', () => {
  for (const offer of [
    migrating([]),
    migrating([V2], { cards: [] }),
    migrating([skillOf({ ...READS, version: '2.0.0', risk: 'draft' })]),
  ]) {
    const error = heldTrial().refusal('migrate', offer);
    assert.equal(error.code, 'ERR_CONTRACT_MOVED');
    assert.match(error.message, /Nobody offers claims\/claim-status any more/);
  }
});

test('a plan that would not be lawful under the new contracts is refused with its findings', () => {
  const wants = skillOf({
    version: '2.0.0',
    requires: [...(READS.requires ?? []), { name: 'branch', kind: 'branch' }],
  });
  const error = heldTrial().refusal('migrate', migrating([wants]));
  assert.equal(error.code, 'ERR_PLAN_REFUSED');
  const findings = error.detail?.['findings'] as unknown as readonly Finding[];
  assert.deepEqual(
    findings.map(({ code }) => code),
    ['INPUT_UNMAPPED'],
  );
});

test('of a settled step whose contract is gone for good its own contract is kept; of its team the card', () => {
  const find = skillOf({ ...READS, skillId: 'find-member' });
  const other = skillOf({ ...READS, team: 'members', skillId: 'find-member' });
  const steps = [
    stepOf('s1', [], { skillId: 'find-member' }),
    stepOf('s2', ['s1']),
    stepOf('s3?', [], { team: 'members', skillId: 'find-member' }),
  ];
  const setup: Setup = { steps, skills: [V1, find, other] };
  const trial = new TrialRun();
  trial.receive({ kind: 'goal', goal: goalOf() });
  const body = acceptedBody(setup);
  const members = body.cards.map((card) => ({ ...card, team: 'members' }));
  trial.append({ kind: 'plan.accepted', body: { ...body, cards: [...body.cards, ...members] } });
  trial.dispatch('s1', 's3');
  trial.deliver('s1', { skillId: 'find-member' });
  trial.fail('s3', 'ERR_POLICY');
  contractGone(trial, 's2');
  trial.ok('migrate', migrating([V2]));
  assert.equal(trial.step('s1').skill.skillId, 'find-member');
  assert.deepEqual(
    trial.state.accepted?.cards.map(({ team }) => team),
    ['claims', 'members'],
  );
});

test('another card or team policy alone is a migration too: no step has another contract', () => {
  const [card] = snapshotOf(TWO).cards;
  assert.ok(card !== undefined);
  const moved = { cards: [{ ...card, audience: 'http://127.0.0.1:9001/claims' }] };
  const trial = plannedTrial(TWO);
  trial.ok('migrate', migrating([V1], moved));
  assert.equal(trial.state.accepted?.cards[0]?.audience, 'http://127.0.0.1:9001/claims');
  assert.deepEqual(trial.state.migrations[0]?.steps, []);
  const stricter = { teamPolicyDigests: { claims: digestOf('stricter') } };
  const policed = plannedTrial(TWO);
  policed.ok('migrate', migrating([V1], stricter));
  assert.equal(policed.state.accepted?.teamPolicyDigests['claims'], digestOf('stricter'));
  const silent = plannedTrial(TWO);
  assert.match(silent.refusal('migrate', migrating([V1], { teamPolicyDigests: {} })).message, /is under the contracts/);
});

const SEND_V2 = sendSkill({ version: '2.0.0', description: 'Sends it otherwise.' });

function waitingTrial(): TrialRun {
  const entities = { claim_id: 'C-102', notice: 'N-1', e1: 'N-1' };
  const step = effectStep('e1', { inputs: { notice: { from: 'goal', pointer: '/entities/notice' } } });
  const requestedOutputs = [{ kind: 'value', required: true }];
  const trial = plannedTrial({ steps: [step], skills: [sendSkill()], goal: { entities, requestedOutputs } });
  propose(trial, 'e1');
  return trial;
}

test('an approval of a step under another contract goes stale, and is proposed again', () => {
  const trial = waitingTrial();
  approve(trial, 'e1');
  assert.deepEqual(trial.ok('migrate', migrating([SEND_V2])), ['run.migrated', 'approval.staled']);
  assert.equal(trial.state.approvals.get('apv_e1')?.state, 'stale');
  const [staled] = trial.log.flatMap((event) => (event.kind === 'approval.staled' ? [event.body] : []));
  assert.deepEqual([staled?.field, staled?.got], ['contract', digestOf(SEND_V2)]);
  trial.assertFold();
});

test('an approval whose step did not change stands, unless the policy that asked for it is another one', () => {
  const kept = waitingTrial();
  const [card] = snapshotOf(TWO).cards;
  assert.ok(card !== undefined);
  const moved = { cards: [{ ...card, audience: 'http://127.0.0.1:9001/claims' }] };
  kept.ok('migrate', migrating([sendSkill()], moved));
  assert.equal(kept.state.approvals.get('apv_e1')?.state, 'pending');
  const policed = waitingTrial();
  policed.ok('migrate', { ...migrating([sendSkill()], moved), approvalPolicyDigest: digestOf('other') });
  assert.equal(policed.state.approvals.get('apv_e1')?.state, 'stale');
  const without = waitingTrial();
  without.ok('migrate', { ...migrating([sendSkill()], moved), approvalPolicyDigest: undefined });
  assert.equal(without.state.approvals.get('apv_e1')?.state, 'pending');
  // Stale already: it is not staled twice.
  const again = { cards: [{ ...card, audience: 'http://127.0.0.1:9002/claims' }] };
  assert.deepEqual(policed.ok('migrate', migrating([SEND_V2], again)), ['run.migrated']);
});

test('under their old contracts a run that waits for approval finishes, whatever is offered by then', () => {
  const trial = waitingTrial();
  approve(trial, 'e1');
  assert.equal(trial.state.approvals.get('apv_e1')?.state, 'approved');
  assert.equal(trial.todos()[0]?.kind, 'applyEffect');
  assert.equal(trial.step('e1').skill.version, '1.0.0');
});

test('a migration of a run without a plan, of another version, or of what is over breaks INV-09', () => {
  const trial = heldTrial();
  trial.ok('awaitPeople', {});
  trial.ok('migrate', migrating([V2]));
  const migrated = trial.log.find((event) => event.kind === 'run.migrated');
  assert.ok(migrated?.kind === 'run.migrated');
  const messages = (trialRun: TrialRun, body = migrated.body): readonly string[] =>
    checkInvariants(trialRun.state, trialRun.seal({ kind: 'run.migrated', body })).map(
      ({ invariant, message }) => `${invariant} ${message}`,
    );
  assert.deepEqual(messages(trial), ['INV-09 Plan version 2 follows 2.']);
  const early = new TrialRun();
  early.receive({ kind: 'goal', goal: goalOf() });
  assert.deepEqual(messages(early), ['INV-09 A run without a plan is migrated.']);
  early.append({ kind: 'run.migrated', body: migrated.body });
  assert.equal(early.state.accepted, undefined);
  const over = {
    ...migrated.body,
    steps: migrated.body.steps.flatMap((one) => [
      { ...one, stepId: 's1' },
      { ...one, stepId: 's9' },
    ]),
  };
  assert.deepEqual(messages(heldTrial(), over), [
    'INV-09 Step s1 is over and is migrated.',
    'INV-09 Step s9 is over and is migrated.',
  ]);
  // Folded all the same, what is over and what is not of the plan stays as it is, and a step without its contract keeps its own.
  const folded = heldTrial();
  folded.append({
    kind: 'run.migrated',
    body: {
      ...migrated.body,
      skills: [],
      plan: { ...migrated.body.plan, steps: [...migrated.body.plan.steps, stepOf('s9')] },
    },
  });
  assert.equal(folded.step('s2').skill.version, '1.0.0');
});

test('of several versions the newest counts, whichever comes first', () => {
  const versions = ['1.0.0', '1.2.0', '1.10.0', '1.10.0', '0.99.9'];
  const skills = versions.map((version) => skillOf({ version }));
  assert.deepEqual(
    newestSkills(skills).map(({ version }) => version),
    ['1.10.0'],
  );
  assert.equal(newestSkills([skillOf(), skillOf({ team: 'other' })]).length, 2);
});

test('a run that is blocked by its contracts keeps its time', () => {
  const trial = heldTrial();
  trial.ok('awaitPeople', {});
  trial.nowMs = 100_000;
  assert.deepEqual(trial.tick(100_000), []);
  const later = { ...migrating([V2]), snapshot: offering([V2], { expiresAt: atMs(200_000) }) };
  trial.ok('migrate', later);
  assert.equal(trial.state.pausedMs, 100_000);
});
