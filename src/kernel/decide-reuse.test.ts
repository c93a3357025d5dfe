/** A step settled with an earlier run's result: when it is lawful, and each reason why it is not. INV-01, INV-02, INV-08, INV-14. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EarlierResult, PresentGrant } from '#contracts/earlier-result.ts';
import type { ErrorCode } from '#contracts/error.ts';
import { FRESH_EVIDENCE } from '#contracts/goal.ts';
import type { StepResult } from '#contracts/step-result.ts';
import { mayReuse } from './decide-reuse.ts';
import { digestOf } from './digest.ts';
import { foldGraph } from './graph.ts';
import { successors } from './graph-node.ts';
import { resultHash } from './result-hash.ts';
import { traceClaim } from './trace.ts';
import { answerOf, atMs, evidenceOf, goalOf, type Setup, skillOf, stepOf, WORKLOAD } from './trial-contracts.test.ts';
import { acceptedBody, TrialRun } from './trial-run.test.ts';

const ONE: Setup = { steps: [stepOf('s1')] };
const EARLIER = 'run_earlier';
const GRANT: PresentGrant = {
  sub: 'requester@t9',
  tenant: 't9',
  purposes: ['claim_investigation'],
  actions: ['claims:read'],
};

/** A run that follows `earlier` runs, with its plan in force. */
function following(setup: Setup = ONE, earlier: readonly `run_${string}`[] = [EARLIER]): TrialRun {
  const trial = new TrialRun();
  trial.ok('receive', {
    origin: {
      level: 'central',
      requestedBy: 'requester@t9',
      sessionId: 'ses_1',
      requestDigest: digestOf('request'),
      ...(earlier.length === 0 ? {} : { earlierRunIds: [...earlier] }),
    },
    statement: 'And what is missing?',
    language: 'en',
    intake: { kind: 'goal', goal: goalOf(setup.goal) },
  });
  trial.append({ kind: 'plan.accepted', body: acceptedBody(setup) });
  trial.nowMs = 1_000;
  return trial;
}

interface Changed {
  readonly result?: Partial<StepResult>;
  readonly origin?: Partial<EarlierResult['origin']>;
  readonly earlier?: Partial<EarlierResult>;
}

/** What the step `s2` of the earlier run settled: the result of the trial's one skill for C-102. */
function earlierOf(changed: Changed = {}): EarlierResult {
  const open: Omit<StepResult, 'resultHash'> = {
    stepId: 's2',
    planVersion: 1,
    attempt: 2,
    status: 'completed',
    artifactRef: digestOf('artifact'),
    data: { value: 'pending' },
    evidence: [evidenceOf('s2', 'pending')],
    missing: [],
    errors: [],
    usage: { toolCallCount: 1, modelTokenCount: 0, durationMs: 5 },
    producer: WORKLOAD,
    contractVersion: '1.0.0',
    ...changed.result,
  };
  const { status, data, evidence, missing, contractVersion } = open;
  const hash = resultHash({ status, data, evidence, missing, contractVersion });
  return {
    tenant: 't9',
    requestedBy: 'requester@t9',
    sessionId: 'ses_1',
    purpose: 'claim_investigation',
    actions: ['claims:read'],
    team: 'claims',
    workload: WORKLOAD,
    teamPolicyDigest: digestOf('policy'),
    result: { resultHash: hash, ...open },
    ...changed.earlier,
    origin: {
      runId: EARLIER,
      stepId: 's2',
      planVersion: 1,
      seq: 9,
      hash: digestOf('event'),
      artifactId: 'art_s2',
      artifactRef: digestOf('artifact'),
      resultHash: hash,
      inputDigest: digestOf({ claim_id: 'C-102' }),
      contractDigest: digestOf(skillOf()),
      observedAt: atMs(0),
      ...changed.origin,
    },
  };
}

function body(changed: Changed = {}, grant: Partial<PresentGrant> = {}) {
  return { stepId: 's1', planVersion: 1, earlier: earlierOf(changed), grant: { ...GRANT, ...grant } };
}

test('a ready step takes the earlier result by reference: nothing is dispatched, nothing is called, nothing is spent', () => {
  const trial = following();
  assert.deepEqual(trial.ok('reuse', body()), ['step.reused', 'step.settled', 'run.ended']);
  const step = trial.step('s1');
  assert.equal(step.result?.stepId, 's1');
  assert.deepEqual(step.result.usage, { modelTokenCount: 0, toolCallCount: 0, durationMs: 0 });
  assert.equal(step.result.resultHash, earlierOf().origin.resultHash);
  assert.equal(step.origin?.runId, EARLIER);
  assert.deepEqual([step.attempts.length, step.toolCalls.length], [0, 0]);
  assert.deepEqual([...trial.state.evidence.values()], [evidenceOf('s2', 'pending')]);
  assert.equal(trial.state.budget?.toolCallCountUsed, 0);
  assert.equal(trial.state.result, 'completed');
  const [reused] = trial.log.flatMap((event) => (event.kind === 'step.reused' ? [event.body] : []));
  assert.deepEqual([reused?.asOf, reused?.ageMs, reused?.authorisedFor], [atMs(1_000), 1_000, 'requester@t9']);
  trial.assertFold();
});

test('what waits for the step is unlocked and takes its data', () => {
  const chained = stepOf('s2', ['s1'], { inputs: { value: { from: 'step', stepId: 's1', pointer: '/value' } } });
  const trial = following({ steps: [stepOf('s1'), chained] });
  assert.equal(trial.refusal('reuse', { ...body(), stepId: 's2' }).detail?.['invariant'], 'INV-02');
  trial.ok('reuse', body());
  assert.deepEqual(
    trial.todos().map(({ kind }) => kind),
    ['dispatch', 'wake'],
  );
  const other = body({ origin: { inputDigest: digestOf({ value: 'pending' }) } });
  trial.ok('reuse', { ...other, stepId: 's2' });
  assert.equal(trial.state.result, 'completed');
});

test('only a step that reads, that nobody was asked for, of a run that follows others and wants no fresh look', () => {
  const of = (trial: TrialRun): boolean => mayReuse(trial.state, trial.step('s1'));
  assert.equal(of(following()), true);
  assert.equal(of(following(ONE, [])), false);
  assert.equal(of(following({ ...ONE, goal: { constraints: [FRESH_EVIDENCE] } })), false);
  assert.equal(of(following({ ...ONE, skills: [skillOf({ risk: 'draft' })] })), false);
  const tried = following();
  tried.dispatch('s1');
  tried.fail('s1');
  tried.nowMs = 2_000;
  assert.equal(of(tried), false);
  assert.match(tried.refusal('reuse', body()).message, /is to be looked up/);
});

const REFUSED: readonly (readonly [why: string, code: ErrorCode, says: RegExp, changed: Changed, grant?: object])[] = [
  ['of another tenant: INV-14', 'ERR_DENIED', /not of tenant t9/, { earlier: { tenant: 't8' } }],
  ['of another person', 'ERR_DENIED', /by somebody else/, { earlier: { requestedBy: 'other@t9' } }],
  ['of another session', 'ERR_DENIED', /another session/, { earlier: { sessionId: 'ses_2' } }],
  ['of a run that is not followed', 'ERR_DENIED', /does not follow/, { origin: { runId: 'run_other' } }],
  ['read for another purpose', 'ERR_DENIED', /was read for audit/, { earlier: { purpose: 'audit' } }],
  ['under somebody else’s grant', 'ERR_DENIED', /is not that of/, {}, { sub: 'other@t9' }],
  ['under a grant of another tenant', 'ERR_DENIED', /is not that of/, {}, { tenant: 't8' }],
  ['whose purpose the person has no more', 'ERR_DENIED', /no purpose/, {}, { purposes: [] }],
  ['whose action the person may not do any more', 'ERR_DENIED', /may not claims:read any more/, {}, { actions: [] }],
  ['that needed an action the person lacks', 'ERR_DENIED', /may not x:y/, { earlier: { actions: ['x:y'] } }],
  ['of another team', 'ERR_STATE', /The earlier result is of/, { earlier: { team: 'other' } }],
  ['of another workload', 'ERR_STATE', /is planned for/, { earlier: { workload: 'spiffe://x' } }],
  ['under another contract', 'ERR_STATE', /another contract/, { origin: { contractDigest: digestOf('v2') } }],
  ['under another policy', 'ERR_STATE', /another policy/, { earlier: { teamPolicyDigest: digestOf('p2') } }],
  ['that is partial', 'ERR_STATE', /not whole/, { result: { status: 'partial' } }],
  ['without data', 'ERR_STATE', /not whole/, { result: { data: undefined } }],
  ['of another artifact', 'ERR_STATE', /not whole/, { result: { artifactRef: digestOf('x') } }],
  ['that hashes to something else', 'ERR_STATE', /not whole/, { origin: { resultHash: digestOf('x') } }],
  ['that says another hash of itself', 'ERR_STATE', /not whole/, { result: { resultHash: digestOf('x') } }],
  ['for another input', 'ERR_STATE', /another input/, { origin: { inputDigest: digestOf({ claim_id: 'C-103' }) } }],
  ['that rests on nothing', 'ERR_STATE', /no observation/, { result: { evidence: [] } }],
];

for (const [why, code, says, changed, grant] of REFUSED)
  test(`a result ${why} is refused and changes nothing`, () => {
    const error = following().refusal('reuse', body(changed, grant));
    assert.equal(error.code, code);
    assert.match(error.message, says);
  });

test('an action that the goal prohibits is not read again through an earlier run', () => {
  const trial = following({ ...ONE, goal: { prohibitedActions: ['claims:read'] } });
  assert.match(trial.refusal('reuse', body()).message, /The goal prohibits claims:read/);
});

test('a run that does not follow any takes nothing over', () => {
  assert.match(following(ONE, []).refusal('reuse', body()).message, /does not follow/);
});

test('a program’s calls and a team’s run follow nobody', () => {
  const trial = new TrialRun();
  trial.ok('receive', {
    origin: {
      level: 'team',
      caller: 'spiffe://caseops.test/supervisor',
      subject: 'requester@t9',
      messageId: 'm1',
      payloadDigest: digestOf('payload'),
      parentRunId: 'run_parent',
      dispatchId: 'dsp_1',
      taskId: 'task-1',
      contextId: 'ctx',
      leaseId: 'lse_1',
    },
    statement: 'dispatch',
    language: 'en',
    intake: { kind: 'goal', goal: goalOf() },
  });
  trial.append({ kind: 'plan.accepted', body: acceptedBody(ONE) });
  assert.equal(mayReuse(trial.state, trial.step('s1')), false);
  assert.match(trial.refusal('reuse', body()).message, /does not follow/);
});

test('a step whose own input cannot be had takes nothing over', () => {
  const inputs = { claim_id: { from: 'goal', pointer: '/entities/nothing' } } as const;
  const trial = following({ steps: [stepOf('s1', [], { inputs })] });
  assert.equal(trial.refusal('reuse', body()).code, 'ERR_INPUT_UNMAPPED');
});

test('its age is measured at the goal’s as-of, or now: what is older than the evidence policy allows is looked up again', () => {
  const late = following();
  late.nowMs = 60_001;
  assert.match(late.refusal('reuse', body()).message, /more than 60000 ms before/);
  late.nowMs = 60_000;
  late.ok('reuse', body());
  const unbounded = { factsNeedEvidence: true, observationAgeMsMax: 0 } as const;
  const any = following({ ...ONE, goal: { evidencePolicy: unbounded, asOf: atMs(900_000) } });
  any.ok('reuse', body());
  const old = following({ ...ONE, goal: { evidencePolicy: unbounded, asOf: atMs(900_001) } });
  assert.match(old.refusal('reuse', body()).message, /more than 900000 ms before/);
  const before = following({ ...ONE, goal: { asOf: atMs(-1) } });
  assert.match(before.refusal('reuse', body()).message, /after/);
});

test('an observation that is no longer valid is looked up again', () => {
  const evidence = [{ ...evidenceOf('s2', 'pending'), validTo: atMs(999) }];
  assert.match(following().refusal('reuse', body({ result: { evidence } })).message, /is valid until/);
  const still = [{ ...evidenceOf('s2', 'pending'), validTo: atMs(1_000) }];
  following().ok('reuse', body({ result: { evidence: still } }));
});

test('without a policy of the team on either side there is none to compare, and none is named', () => {
  const trial = new TrialRun();
  const setup = acceptedBody(ONE);
  trial.ok('receive', {
    origin: {
      level: 'central',
      requestedBy: 'requester@t9',
      sessionId: 'ses_1',
      requestDigest: digestOf('request'),
      earlierRunIds: [EARLIER],
    },
    statement: 'Why?',
    language: 'en',
    intake: { kind: 'goal', goal: goalOf() },
  });
  trial.append({ kind: 'plan.accepted', body: { ...setup, teamPolicyDigests: {} } });
  trial.nowMs = 1;
  trial.ok('reuse', body({ earlier: { teamPolicyDigest: undefined } }));
  const [reused] = trial.log.flatMap((event) => (event.kind === 'step.reused' ? [event.body] : []));
  assert.equal(reused?.policyDigest, undefined);
});

test('what is settled, of another plan, or of a run that has ended or has no plan takes nothing over', () => {
  const trial = following({ steps: [stepOf('s1'), stepOf('s2')] });
  assert.equal(trial.refusal('reuse', { ...body(), planVersion: 2 }).code, 'ERR_STATE');
  assert.equal(trial.refusal('reuse', { ...body(), stepId: 's9' }).code, 'ERR_STATE');
  trial.ok('reuse', body());
  assert.match(trial.refusal('reuse', body()).message, /is settled/);
  trial.ok('reuse', { ...body(), stepId: 's2' });
  assert.match(trial.refusal('reuse', body()).message, /is ended/);
  const unplanned = new TrialRun();
  unplanned.receive({ kind: 'goal', goal: goalOf() });
  assert.equal(unplanned.refusal('reuse', body()).code, 'ERR_STATE');
});

test('an event that takes over for a step which is not of the plan changes nothing', () => {
  const trial = following();
  const { origin } = earlierOf();
  trial.append({
    kind: 'step.reused',
    body: { stepId: 's9', planVersion: 1, origin, asOf: atMs(0), ageMs: 0, authorisedFor: 'requester@t9' },
  });
  assert.equal(trial.step('s1').origin, undefined);
});

test('the graph leads from the claim over the step to the earlier run, step and event', () => {
  const trial = following();
  trial.ok('reuse', body());
  const item = evidenceOf('s2', 'pending');
  trial.append({
    kind: 'answer.composed',
    body: {
      answer: answerOf({
        claims: [
          {
            claimId: 'clm_1',
            key: 'status',
            kind: 'fact',
            template: 'It is pending.',
            slots: {},
            text: 'It is pending.',
            evidenceIds: [item.evidenceId],
            confidence: 1,
          },
        ],
        evidence: [item],
      }),
    },
  });
  const graph = foldGraph(trial.log);
  assert.ok(graph !== undefined);
  assert.deepEqual(graph.violations, []);
  assert.deepEqual(
    successors(graph, 'step:s1', 'DERIVED_FROM').map(({ id }) => id),
    ['step:run_earlier/s2'],
  );
  assert.deepEqual(
    successors(graph, 'run:run_1', 'DERIVED_FROM').map(({ id, status }) => [id, status]),
    [['run:run_earlier', 'earlier']],
  );
  const trace = traceClaim(graph, 'clm_1', []);
  assert.equal(trace?.holds, true);
  const [branch] = trace.branches;
  assert.deepEqual(
    branch?.links.map(({ kind, verdict }) => [kind, verdict]),
    [
      ['claim', 'Bound'],
      ['evidence', 'Known'],
      ['record', 'Resolves'],
      ['earlier_run', 'Known'],
    ],
  );
  assert.match(branch?.links.at(-1)?.note ?? '', /event 9 of run_earlier, step s2/);
});
