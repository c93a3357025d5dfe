import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventDraft } from '#contracts/event.ts';
import type { LeaseRow } from '#contracts/lease.ts';
import { whyView } from '#contracts/run-view.ts';
import { artifactOf, begun, OPENING, settled } from './claims-run.test.ts';
import { changed } from './claims-world.test.ts';
import { answered, graphOf } from './graph.test.ts';
import { traceClaim, type Trace } from './trace.ts';

const PARENT: LeaseRow = {
  leaseId: 'lse_s1',
  tenant: 't9',
  runId: 'run_1',
  stepId: 's1',
  attempt: 1,
  subject: 'requester@t9',
  actor: 'spiffe://caseops.test/supervisor',
  audience: 'http://127.0.0.1:9000/claims',
  actions: ['claims:read', 'claims:list'],
  resources: ['claim:C-102'],
  purpose: 'claim_investigation',
  depth: 0,
  use: 'count:2',
  issuedAt: 1,
  expiresAt: 120,
};
const CHILD: LeaseRow = {
  ...PARENT,
  leaseId: 'lse_tool-s1',
  parent: 'lse_s1',
  depth: 1,
  actions: ['claims:read'],
  expiresAt: 100,
};
const LEASES = [PARENT, CHILD];

/** Against all rows of the registry, against these, or without a registry. */
function traced(
  drafts: readonly EventDraft[] = answered(),
  leases: readonly LeaseRow[] | 'none' = LEASES,
  claimId = 'clm_status-0',
): Trace {
  const trace = traceClaim(graphOf(drafts), claimId, leases === 'none' ? undefined : leases);
  assert.ok(trace !== undefined, `the run has ${claimId}`);
  assert.deepEqual(whyView.omit({ text: true }).parse(trace), trace);
  return trace;
}

function verdicts(trace: Trace, branch = 0): readonly string[] {
  return (trace.branches[branch]?.links ?? []).map(({ kind, verdict }) => `${kind}: ${verdict}`);
}

test('a fact leads to record, call, worker, task, step and lease, each with its verdict', () => {
  const trace = traced();
  assert.deepEqual([trace.key, trace.holds, trace.linkCount, trace.brokenCount], ['status', true, 10, 0]);
  assert.deepEqual(
    trace.branches.map(({ anchor }) => anchor),
    ['claim:C-102@v17'],
  );
  assert.deepEqual(
    trace.branches[0]?.links.map(({ kind, ref, verdict }) => [kind, ref, verdict]),
    [
      ['claim', 'clm_status-0', 'Bound'],
      ['evidence', 'ev_s1-0', 'Known'],
      ['record', 'claim:C-102@v17', 'Resolves'],
      ['tool_call', 'claims-db.get-claim', 'Conforms'],
      ['worker', 'claims/s1-worker', 'Known'],
      ['task', 'task-s1', 'Accepted'],
      ['step', 's1', 'Accepted'],
      ['lease', 'lse_tool-s1', 'Inside parent'],
      ['lease', 'lse_s1', 'Signed'],
      ['approval', 'none', 'Not needed'],
    ],
  );
  const call = trace.branches[0]?.links[3]?.detail;
  assert.deepEqual(
    [call?.['protocolRevision'], call?.['leaseId'], call?.['argumentsDigest']?.slice(0, 7)],
    ['2026-07-28', 'lse_tool-s1', 'sha256:'],
  );
});

test('a claim that the run does not have has no trace', () => {
  assert.equal(traceClaim(graphOf(answered()), 'clm_none'), undefined);
});

test('without the lease registry, what it would show is not checked', () => {
  assert.deepEqual(verdicts(traced(answered(), 'none')).slice(-3), [
    'lease: not checked',
    'lease: not checked',
    'approval: Not needed',
  ]);
});

test('a child that is not inside its parent breaks the chain, in each dimension the registry keeps', () => {
  const cases: readonly (readonly [dimension: string, change: Partial<LeaseRow>])[] = [
    ['parent', { parent: 'lse_other' }],
    ['depth', { depth: 2 }],
    ['tenant', { tenant: 't8' }],
    ['run', { runId: 'run_2' }],
    ['step', { stepId: 's2' }],
    ['step', { attempt: 2 }],
    ['subject', { subject: 'approver@t9' }],
    ['purpose', { purpose: 'audit' }],
    ['actions', { actions: ['claims:read', 'claims:update'] }],
    ['resources', { resources: ['claim:C-103'] }],
    ['expiry', { expiresAt: 121 }],
  ];
  for (const [dimension, change] of cases) {
    const trace = traced(answered(), [PARENT, { ...CHILD, ...change }]);
    const link = trace.branches[0]?.links[7];
    assert.deepEqual([link?.verdict, link?.note, trace.holds], ['Broken', `not inside lse_s1: ${dimension}`, false]);
    assert.deepEqual(verdicts(trace).slice(8), ['lease: not checked', 'approval: not checked']);
  }
});

test('a lease without a row, or of another attempt, breaks the chain', () => {
  assert.deepEqual(verdicts(traced(answered(), [CHILD]))[7], 'lease: Broken');
  assert.deepEqual(verdicts(traced(answered(), [PARENT]))[7], 'lease: Broken');
  assert.deepEqual(verdicts(traced(answered(), []))[7], 'lease: Broken');
  const other = [
    { ...PARENT, attempt: 2 },
    { ...CHILD, attempt: 2 },
  ];
  assert.deepEqual(verdicts(traced(answered(), other)).slice(7), [
    'lease: Inside parent',
    'lease: Broken',
    'approval: not checked',
  ]);
  const elsewhere = [
    { ...PARENT, stepId: 's2' },
    { ...CHILD, stepId: 's2' },
  ];
  assert.deepEqual(verdicts(traced(answered(), elsewhere))[8], 'lease: Broken');
});

/** The answered run with one settled event of s1 changed. */
function with1(change: (draft: EventDraft) => void): readonly EventDraft[] {
  return answered().map((draft) => changed(draft, change));
}

test('each broken link is named, and what follows is not checked', () => {
  const drifted = with1(
    ({ kind, body }) =>
      kind === 'step.settled' && body.toolCalls.forEach((call) => (call.contractVersion = call.outcome = 'tool_error')),
  );
  assert.deepEqual(verdicts(traced(drifted)).slice(3, 5), ['tool_call: Broken', 'worker: not checked']);
  const unpinned = with1(
    ({ kind, body }) => kind === 'step.settled' && body.toolCalls.forEach((call) => (call.tool = 'other')),
  );
  assert.equal(verdicts(traced(unpinned))[3], 'tool_call: Broken');
  const uncalled = with1(({ kind, body }) => kind === 'step.settled' && (body.toolCalls = []));
  assert.equal(verdicts(traced(uncalled))[3], 'tool_call: Broken');
  const thief = with1(
    ({ kind, body }) => kind === 'step.settled' && (body.result.producer = 'spiffe://caseops.test/team/thief'),
  );
  assert.equal(verdicts(traced(thief))[4], 'worker: Broken');
  const unaccepted = answered().filter(({ kind }) => kind !== 'artifact.accepted');
  assert.equal(verdicts(traced(unaccepted))[2], 'record: Broken');
  const risky = with1(
    ({ kind, body }) => kind === 'plan.accepted' && body.plan.steps.forEach((step) => (step.approval = 'person')),
  );
  assert.equal(verdicts(traced(risky))[9], 'approval: Broken');
  const effect = with1(
    ({ kind, body }) => kind === 'plan.accepted' && body.skills.forEach((skill) => (skill.risk = 'effect')),
  );
  assert.equal(verdicts(traced(effect))[9], 'approval: Broken');
});

test('a task that the log never began breaks the chain', () => {
  const unbegun = answered().filter(
    ({ kind }) => kind !== 'step.dispatched' && kind !== 'step.started' && kind !== 'artifact.received',
  );
  const found = verdicts(traced(unbegun));
  assert.equal(found[5], 'task: Broken');
  const undispatched = answered().filter(({ kind }) => kind !== 'step.dispatched');
  assert.equal(verdicts(traced(undispatched))[6], 'step: Broken');
});

test('evidence that names no call has no call link, and a call under the dispatch’s own lease no lease of its own', () => {
  const callless = artifactOf('s1', (a) => {
    for (const item of a.evidence) delete item.callId;
  });
  const drafts = answered([...OPENING, ...begun('s1'), ...settled(callless)]);
  assert.deepEqual(verdicts(traced(drafts)), [
    'claim: Bound',
    'evidence: Known',
    'record: Resolves',
    'worker: Known',
    'task: Accepted',
    'step: Accepted',
    'lease: Signed',
    'approval: Not needed',
  ]);
  const own = with1(
    ({ kind, body }) => kind === 'step.settled' && body.toolCalls.forEach((call) => (call.leaseId = 'lse_s1')),
  );
  assert.deepEqual(
    verdicts(traced(own)).filter((one) => one.startsWith('lease')),
    ['lease: Signed'],
  );
});

test('an absence leads to the prohibition, the lease registry and the effect ledger', () => {
  const trace = traced(answered(), LEASES, 'clm_not-sent-0');
  assert.deepEqual(
    [0, 1, 2].map((branch) => verdicts(trace, branch)),
    [
      ['claim: Bound', 'evidence: Known', 'prohibition: Bound'],
      ['claim: Bound', 'evidence: Known', 'lease_registry: Conforms'],
      ['claim: Bound', 'evidence: Known', 'effect_ledger: Conforms'],
    ],
  );
  assert.equal(trace.branches[1]?.links[2]?.note, '0 of 2 leases permit notify:send, 0 dispatches could call it');
});

/** The verdicts over the three parts of a proof that is changed so, or taken away. */
const absenceVerdicts = (change: object | undefined): readonly string[] => {
  const drafts = with1(({ kind, body }) => {
    if (kind !== 'answer.composed') return;
    for (const claim of body.answer.claims)
      if (claim.proof !== undefined && change === undefined) delete claim.proof;
      else Object.assign(claim.proof ?? {}, change);
  });
  const trace = traced(drafts, LEASES, 'clm_not-sent-0');
  return [0, 1, 2].map((branch) => String(verdicts(trace, branch)[2]));
};

test('a proof that does not hold, or is not there, breaks its branch', () => {
  assert.deepEqual(absenceVerdicts({ prohibitedByGoal: false }), [
    'prohibition: Broken',
    'lease_registry: Conforms',
    'effect_ledger: Conforms',
  ]);
  assert.deepEqual(absenceVerdicts({ leaseCountPermitting: 1 })[1], 'lease_registry: Broken');
  assert.deepEqual(absenceVerdicts({ dispatchCountCalling: 1 })[1], 'lease_registry: Broken');
  assert.deepEqual(absenceVerdicts({ effectRowCount: 1 })[2], 'effect_ledger: Broken');
  assert.deepEqual(absenceVerdicts(undefined), [
    'prohibition: Broken',
    'lease_registry: Broken',
    'effect_ledger: Broken',
  ]);
});

/** The first claim without its evidence, as a fact or as an inference. */
const unsupported = (kind: 'fact' | 'inference'): Trace =>
  traced(
    with1((draft) => {
      if (draft.kind === 'answer.composed') Object.assign(draft.body.answer.claims[0] ?? {}, { evidenceIds: [], kind });
    }),
  );

test('a claim that nothing supports is broken unless it infers', () => {
  assert.deepEqual([unsupported('fact').holds, verdicts(unsupported('fact'))], [false, ['claim: Broken']]);
  assert.deepEqual([unsupported('inference').holds, verdicts(unsupported('inference'))], [true, ['claim: Bound']]);
});

test('a trace costs its own links, not the graph', () => {
  const drafts = answered();
  const filler: EventDraft[] = Array.from({ length: 20_000 }, (_, index) => ({
    kind: 'result.late',
    body: { stepId: 's1', attempt: 1, planVersion: 1, dispatchId: `dsp_x${index}`, reason: 'late' },
  }));
  const trace = traced([...drafts, ...filler]);
  assert.deepEqual(trace, traced(drafts));
});
