import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVENT_BODIES, type EventDraft } from '#contracts/event.ts';
import type { Evidence } from '#contracts/evidence.ts';
import type { LeaseRow } from '#contracts/lease.ts';
import { begun, OPENING, settled, artifactOf } from './claims-run.test.ts';
import { AT, changed } from './claims-world.test.ts';
import { digestOf } from './digest.ts';
import { failure } from './failure.ts';
import { successors, type ContextGraph, type EdgeKind } from './graph-node.ts';
import { graphOf } from './graph.test.ts';
import { traceClaim } from './trace.ts';

const ACTION = {
  contractVersion: '1.0.0',
  action: 'notify:send',
  target: 'outbox',
  tenant: 't9',
  resource: 'notice-draft:N-1',
  expectedVersion: 'v1',
  parameters: {},
  idempotencyKey: 'k1',
  runId: 'run_1',
  stepId: 's3',
  requestedBy: 'requester@t9',
} as const;
const DIGEST = digestOf(ACTION);
const RECORD = { state: 'sent' };
const READBACK: Evidence = {
  evidenceId: 'ev_readback',
  source: 'outbox',
  anchor: 'notice:N-1',
  version: 'v2',
  observedAt: AT,
  digest: digestOf(RECORD),
  trust: 'authoritative',
  readers: [],
};
const RECEIPT = {
  contractVersion: '1.0.0',
  receiptId: 'rcp_1',
  effectId: 'eff_1',
  tenant: 't9',
  target: 'outbox',
  resource: 'notice-draft:N-1',
  idempotencyKey: 'k1',
  actionDigest: DIGEST,
  reference: 'msg-1',
  resultVersion: 'v2',
  appliedAt: AT,
  observedAt: AT,
  recordDigest: digestOf(RECORD),
} as const;
const DECISION = {
  by: 'approver@t9',
  role: 'approver',
  trainingRef: null,
  channel: 'cli',
  disposition: 'approved',
  reason: null,
  evidenceInView: [],
  actionDigest: DIGEST,
  viewDigest: DIGEST,
  decidedAt: AT,
} as const;

const REQUESTED: EventDraft = {
  kind: 'approval.requested',
  body: {
    approvalId: 'apv_1',
    stepId: 's3',
    planVersion: 1,
    proposal: {
      contractVersion: '1.0.0',
      approvalId: 'apv_1',
      action: { ...ACTION, parameters: {} },
      actionDigest: DIGEST,
      presentational: {},
      before: null,
      view: { title: 'Send N-1', rows: [] },
      viewDigest: DIGEST,
      rule: { mode: 'person', role: 'approver', quorumCount: 1, policyName: 'p', policyDigest: DIGEST },
      evidence: [],
      expiresAt: AT,
    },
  },
};
const GRANTED: EventDraft = {
  kind: 'approval.granted',
  body: { approvalId: 'apv_1', decision: { ...DECISION, evidenceInView: [] } },
};
const SPENT: EventDraft = {
  kind: 'approval.spent',
  body: { approvalId: 'apv_1', effectId: 'eff_1', leaseId: 'lse_e1' },
};
const INTENDED: EventDraft = {
  kind: 'effect.intended',
  body: {
    effectId: 'eff_1',
    attempt: 1,
    approvalId: 'apv_1',
    stepId: 's3',
    planVersion: 1,
    action: { ...ACTION, parameters: {} },
    actionDigest: DIGEST,
    contentDigest: DIGEST,
    leaseId: 'lse_e1',
    liveVersion: 'v1',
    policyDigest: DIGEST,
  },
};
const CONFIRMED: EventDraft = {
  kind: 'effect.confirmed',
  body: {
    effectId: 'eff_1',
    attempt: 1,
    receipt: { ...RECEIPT },
    findings: [],
    evidence: READBACK,
    artifactRef: DIGEST,
  },
};
const ON_EFFECT = { effectId: 'eff_1', attempt: 1 } as const;

/** The plan is accepted, then these. */
function after(...drafts: readonly EventDraft[]): ContextGraph {
  for (const { kind, body } of drafts) assert.deepEqual(EVENT_BODIES[kind].parse(body), body, kind);
  return graphOf([...OPENING, ...drafts]);
}

function names(graph: ContextGraph, from: string, kind: EdgeKind): readonly string[] {
  return successors(graph, from, kind).map(({ id }) => id);
}

const effectStatus = (...drafts: readonly EventDraft[]): string | undefined =>
  after(REQUESTED, GRANTED, SPENT, INTENDED, ...drafts).nodes.get('effect:eff_1')?.status;
const approvalStatus = (...drafts: readonly EventDraft[]): string | undefined =>
  after(REQUESTED, ...drafts).nodes.get('approval:apv_1')?.status;

test('INV-04: an effect leads to step, approval, lease, expected version and key', () => {
  const graph = after(REQUESTED, GRANTED, SPENT, INTENDED, CONFIRMED);
  assert.deepEqual(graph.violations, []);
  assert.deepEqual(names(graph, 'effect:eff_1', 'AUTHORIZED_BY'), ['approval:apv_1', 'lease:lse_e1']);
  assert.deepEqual(names(graph, 'step:s3', 'AUTHORIZED_BY'), ['approval:apv_1']);
  assert.deepEqual(names(graph, 'step:s3', 'PRODUCED'), ['effect:eff_1']);
  assert.deepEqual(names(graph, 'effect:eff_1', 'PRODUCED'), ['evidence:ev_readback', 'receipt:rcp_1']);
  const { idempotencyKey, expectedVersion, liveVersion } = graph.nodes.get('effect:eff_1')?.detail ?? {};
  assert.deepEqual([idempotencyKey, expectedVersion, liveVersion], ['k1', 'v1', 'v1']);
  assert.deepEqual(
    successors(graph, 'approval:apv_1', 'VALIDATED_BY').map(({ detail }) => detail['by']),
    ['approver@t9'],
  );
});

test('INV-04: an effect whose approval the log does not have is a violation', () => {
  const created = changed(INTENDED, ({ kind, body }) => {
    if (kind === 'effect.intended')
      Object.assign(body, { liveVersion: null, action: { ...body.action, expectedVersion: null } });
  });
  assert.deepEqual(
    after(created).violations.map(({ detail }) => detail),
    [{ invariant: 'INV-04', effectId: 'eff_1' }],
  );
});

/** One reviewer's decision. */
const decided = (kind: 'approval.rejected' | 'approval.endorsed'): EventDraft => ({
  kind,
  body: {
    approvalId: 'apv_1',
    decision: {
      ...DECISION,
      evidenceInView: [],
      disposition: kind === 'approval.rejected' ? 'rejected' : 'approved',
    },
  },
});

test('an approval has the state that its decisions give it', () => {
  assert.equal(approvalStatus(), 'pending');
  assert.equal(approvalStatus(decided('approval.endorsed')), 'pending');
  assert.equal(approvalStatus(GRANTED), 'approved');
  assert.equal(approvalStatus(decided('approval.rejected')), 'rejected');
  assert.equal(approvalStatus({ kind: 'approval.expired', body: { approvalId: 'apv_1', expiresAt: AT } }), 'expired');
  assert.equal(
    approvalStatus({
      kind: 'approval.staled',
      body: { approvalId: 'apv_1', field: 'resource_version', expected: 'v1', got: 'v2' },
    }),
    'stale',
  );
  assert.equal(
    approvalStatus({ kind: 'approval.withdrawn', body: { approvalId: 'apv_1', by: 'b', reason: 'r' } }),
    'withdrawn',
  );
  assert.equal(approvalStatus(GRANTED, SPENT), 'spent');
});

test('an effect has the state that its events give it', () => {
  const partly = changed(CONFIRMED, ({ kind, body }) => {
    if (kind !== 'effect.confirmed') return;
    body.findings = [{ pointer: '/state', expected: 'sent', got: 'queued' }];
    body.receipt.resultVersion = null;
  });
  const reconciled = (finding: 'applied' | 'absent', source: 'owner' | 'person'): EventDraft => ({
    kind: 'effect.reconciled',
    body: { ...ON_EFFECT, by: 'b', finding, source, note: '' },
  });
  assert.equal(effectStatus(), 'in_progress');
  assert.equal(
    effectStatus({ kind: 'effect.sent', body: { ...ON_EFFECT, outcome: 'applied', note: '' } }),
    'in_progress',
  );
  assert.equal(effectStatus(CONFIRMED), 'completed');
  assert.equal(effectStatus(partly), 'partially_completed');
  assert.equal(
    effectStatus({ kind: 'effect.failed', body: { ...ON_EFFECT, error: failure('ERR_STATE', 'No.') } }),
    'failed',
  );
  assert.equal(effectStatus({ kind: 'effect.unknown', body: { ...ON_EFFECT, note: '' } }), 'unknown');
  assert.equal(effectStatus(reconciled('applied', 'owner')), 'completed');
  assert.equal(effectStatus(reconciled('absent', 'owner')), 'not_started');
  assert.equal(effectStatus(reconciled('absent', 'person')), 'failed');
  assert.equal(
    effectStatus(CONFIRMED, { kind: 'effect.compensated', body: { ...ON_EFFECT, by: 'b', note: '' } }),
    'compensated',
  );
  const retried = after(
    REQUESTED,
    GRANTED,
    SPENT,
    INTENDED,
    { kind: 'effect.unknown', body: { ...ON_EFFECT, note: '' } },
    { kind: 'effect.retried', body: { ...ON_EFFECT, leaseId: 'lse_e2', liveVersion: null } },
  );
  assert.equal(retried.nodes.get('effect:eff_1')?.status, 'in_progress');
  assert.deepEqual(names(retried, 'effect:eff_1', 'AUTHORIZED_BY'), ['approval:apv_1', 'lease:lse_e1', 'lease:lse_e2']);
});

const REPLAYED: Extract<EventDraft, { kind: 'effect.replayed' }> = {
  kind: 'effect.replayed',
  body: {
    stepId: 's3',
    planVersion: 1,
    effectId: 'eff_0',
    ownerRunId: 'run_0',
    state: 'completed',
    receipt: { ...RECEIPT, effectId: 'eff_0' },
    evidence: READBACK,
  },
};

test('a replayed effect is another run’s, used by this step', () => {
  const graph = after(REPLAYED);
  assert.deepEqual(names(graph, 'step:s3', 'USED'), ['effect:eff_0']);
  assert.deepEqual(names(graph, 'effect:eff_0', 'PRODUCED'), ['evidence:ev_readback', 'receipt:rcp_1']);
  const { evidence: _, ...body } = REPLAYED.body;
  assert.deepEqual(
    names(after({ kind: 'effect.replayed', body: { ...body, receipt: null } }), 'effect:eff_0', 'PRODUCED'),
    [],
  );
});

const ANSWERED: EventDraft = {
  kind: 'answer.composed',
  body: {
    answer: {
      contractVersion: '1.0.0',
      language: 'en',
      result: 'completed',
      needsHuman: false,
      claims: [
        {
          claimId: 'clm_sent',
          key: 'sent',
          kind: 'fact',
          template: 'It was sent.',
          slots: {},
          text: 'It was sent.',
          evidenceIds: ['ev_readback'],
          confidence: 1,
        },
      ],
      unsaid: [],
      missingSteps: [],
      evidence: [READBACK],
    },
  },
};
const LEASE: LeaseRow = {
  leaseId: 'lse_e1',
  tenant: 't9',
  runId: 'run_1',
  stepId: 's3',
  attempt: 1,
  subject: 'requester@t9',
  actor: 'writer',
  audience: 'outbox',
  actions: ['notify:send'],
  resources: ['notice-draft:N-1'],
  purpose: 'claim_investigation',
  depth: 0,
  use: 'single',
  issuedAt: 1,
  expiresAt: 60,
};

function verdicts(graph: ContextGraph, leases?: readonly LeaseRow[]): readonly string[] {
  const links = traceClaim(graph, 'clm_sent', leases)?.branches[0]?.links ?? [];
  return links.slice(2).map(({ kind, ref, verdict }) => `${kind} ${ref}: ${verdict}`);
}

/** The plan asks a person for step s3. */
function risky(drafts: readonly EventDraft[]): ContextGraph {
  const opening = OPENING.map((draft) =>
    changed(draft, ({ kind, body }) => {
      if (kind === 'plan.accepted') for (const step of body.plan.steps) step.approval = 'person';
    }),
  );
  return graphOf([...opening, ...drafts]);
}

test('a claim about an effect leads to its readback, ledger, step, lease and approval', () => {
  const graph = risky([REQUESTED, GRANTED, SPENT, INTENDED, CONFIRMED, ANSWERED]);
  assert.deepEqual(verdicts(graph, [LEASE]), [
    'record notice:N-1@v2: Resolves',
    'effect_ledger eff_1: Conforms',
    'step s3: Accepted',
    'lease lse_e1: Signed',
    'approval apv_1: Bound',
  ]);
  assert.equal(verdicts(graph)[3], 'lease lse_e1: not checked');
  assert.equal(verdicts(graph, [])[3], 'lease lse_e1: Broken');
  assert.equal(verdicts(graph, [{ ...LEASE, stepId: 's1' }])[3], 'lease lse_e1: Broken');
});

test('a claim about an effect breaks where the effect or its approval does', () => {
  assert.equal(
    verdicts(risky([REQUESTED, GRANTED, INTENDED, CONFIRMED, ANSWERED]), [LEASE])[4],
    'approval apv_1: Bound',
  );
  assert.equal(verdicts(risky([REQUESTED, INTENDED, CONFIRMED, ANSWERED]), [LEASE])[4], 'approval none: Broken');
  const compensated: EventDraft = { kind: 'effect.compensated', body: { ...ON_EFFECT, by: 'b', note: '' } };
  assert.equal(
    verdicts(risky([REQUESTED, GRANTED, INTENDED, CONFIRMED, compensated, ANSWERED]), [LEASE])[1],
    'effect_ledger eff_1: Broken',
  );
});

test('a claim about another run’s effect has no lease of this run', () => {
  assert.deepEqual(verdicts(graphOf([...OPENING, REPLAYED, ANSWERED]), []), [
    'record notice:N-1@v2: Resolves',
    'effect_ledger eff_0: Conforms',
    'step s3: Accepted',
    'approval none: Not needed',
  ]);
});

test('an approval of another step does not count for this one', () => {
  const status = changed(ANSWERED, ({ kind, body }) => {
    if (kind === 'answer.composed') Object.assign(body.answer.claims[0] ?? {}, { evidenceIds: ['ev_s1-0'] });
  });
  const graph = risky([REQUESTED, GRANTED, ...begun('s1'), ...settled(artifactOf('s1')), status]);
  assert.equal(verdicts(graph).at(-1), 'approval none: Broken');
});
