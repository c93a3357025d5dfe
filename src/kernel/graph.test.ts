import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventDraft, RunEvent } from '#contracts/event.ts';
import { ASKED } from './absence-proof.test.ts';
import { proveAbsence } from './absence-proof.ts';
import { composeAnswer } from './claim-binding.ts';
import { artifactOf, begun, OPENING, recordsOf, sealed, SETTLED, settled, stateOf } from './claims-run.test.ts';
import { changed, PLAN } from './claims-world.test.ts';
import { digestOf } from './digest.ts';
import { failure } from './failure.ts';
import { nodeId, predecessors, successors, type ContextGraph, type EdgeKind } from './graph-node.ts';
import { foldGraph } from './graph.ts';

/** The answer of the whole run, as the consolidator composes it. */
export function answered(drafts: readonly EventDraft[] = SETTLED): readonly EventDraft[] {
  const { proofs, evidence, records } = proveAbsence(ASKED);
  const answer = composeAnswer({
    state: stateOf(drafts),
    records: { ...recordsOf(), ...records },
    proofs,
    proofEvidence: evidence,
    result: 'completed',
    needsHuman: false,
    claimId: (key, index) => `clm_${key}-${index}`,
  });
  return [
    ...drafts,
    { kind: 'answer.composed', body: { answer } },
    { kind: 'run.ended', body: { result: 'completed', needsHuman: false } },
  ];
}

export function graphOf(drafts: readonly EventDraft[]): ContextGraph {
  const graph = foldGraph(sealed(drafts));
  assert.ok(graph !== undefined, 'the log is not empty');
  return graph;
}

const GRAPH = graphOf(answered());

function names(graph: ContextGraph, from: string, kind: EdgeKind): readonly string[] {
  return successors(graph, from, kind).map(({ id }) => id);
}

test('an empty log has no graph', () => {
  assert.equal(foldGraph([]), undefined);
});

test('a run is decomposed into goal, plan and steps, routed and executed', () => {
  assert.deepEqual(names(GRAPH, 'run:run_1', 'DECOMPOSED_INTO'), ['goal:goal_1']);
  assert.deepEqual(names(GRAPH, 'goal:goal_1', 'DECOMPOSED_INTO'), ['plan:plan_1']);
  assert.deepEqual(names(GRAPH, 'plan:plan_1', 'DECOMPOSED_INTO'), ['step:s1', 'step:s2', 'step:s3']);
  assert.deepEqual(names(GRAPH, 'step:s3', 'DEPENDS_ON'), ['step:s2']);
  assert.deepEqual(names(GRAPH, 'step:s2', 'ROUTED_TO'), ['agent:knowledge']);
  assert.deepEqual(names(GRAPH, 'step:s1', 'EXECUTED_BY'), ['delegated_task:dsp_s1']);
  assert.deepEqual(names(GRAPH, 'delegated_task:dsp_s1', 'EXECUTED_BY'), ['worker:claims/s1-worker']);
  assert.deepEqual(names(GRAPH, 'delegated_task:dsp_s1', 'AUTHORIZED_BY'), ['lease:lse_s1']);
  assert.deepEqual(names(GRAPH, 'worker:claims/s1-worker', 'CALLED'), ['tool:call_s1']);
  assert.deepEqual(names(GRAPH, 'tool:call_s1', 'AUTHORIZED_BY'), ['lease:lse_tool-s1']);
  assert.deepEqual(names(GRAPH, 'tool:call_s1', 'PRODUCED'), ['evidence:ev_s1-0', 'evidence:ev_s1-1']);
  assert.deepEqual(names(GRAPH, 'delegated_task:dsp_s1', 'PRODUCED'), ['artifact:art_s1']);
  assert.deepEqual(
    successors(GRAPH, 'artifact:art_s1', 'VALIDATED_BY').map(({ kind, status }) => [kind, status]),
    [['acceptance', 'accepted']],
  );
  assert.deepEqual(
    ['run:run_1', 'plan:plan_1', 'step:s1', 'artifact:art_s1'].map((id) => GRAPH.nodes.get(id)?.status),
    ['completed', 'accepted', 'completed', 'accepted'],
  );
});

test('each claim is supported by its evidence, and a record leads to the claims that rest on it', () => {
  assert.deepEqual(names(GRAPH, 'claim:clm_status-0', 'SUPPORTED_BY'), ['evidence:ev_s1-0']);
  assert.deepEqual(
    predecessors(GRAPH, 'evidence:ev_s2-0', 'SUPPORTED_BY').map(({ ref }) => ref),
    ['clm_next-0'],
  );
  assert.equal(names(GRAPH, 'claim:clm_not-sent-0', 'SUPPORTED_BY').length, 3);
  assert.deepEqual(GRAPH.violations, []);
});

test('every edge joins nodes of the graph, and each is there once', () => {
  for (const { from, to } of GRAPH.edges) assert.ok(GRAPH.nodes.has(from) && GRAPH.nodes.has(to), `${from} → ${to}`);
  assert.equal(new Set(GRAPH.edges.map(({ kind, from, to }) => `${kind} ${from} ${to}`)).size, GRAPH.edges.length);
});

test('a graph holds references and digests, no payloads', () => {
  const text = JSON.stringify([...GRAPH.nodes.values()]);
  for (const payload of [
    'pending_documents',
    'accident_report',
    'The handler asks',
    'Find out why',
    'Nothing was sent',
  ])
    assert.ok(!text.includes(payload), payload);
});

test('the same log gives the same graph', () => {
  assert.deepEqual(graphOf(answered()), GRAPH);
});

/** What a changed answer violates. */
const violationsWith = (
  change: (answer: Extract<EventDraft, { kind: 'answer.composed' }>['body']['answer']) => void,
): readonly unknown[] => {
  const drafts = answered().map((draft) =>
    draft.kind === 'answer.composed' ? changed(draft, ({ body }) => change(body.answer)) : draft,
  );
  return graphOf(drafts).violations.map(({ code, detail }) => [code, detail]);
};

test('INV-03: a fact that nothing supports is a violation', () => {
  const violation = ['ERR_INVARIANT', { invariant: 'INV-03', claimId: 'clm_status-0' }];
  assert.deepEqual(
    violationsWith((answer) => Object.assign(answer.claims[0] ?? {}, { evidenceIds: [] })),
    [violation],
  );
  assert.deepEqual(
    violationsWith((answer) => answer.claims[0]?.evidenceIds.push('ev_made-up')),
    [violation],
  );
  assert.deepEqual(
    violationsWith((answer) => Object.assign(answer.claims[0] ?? {}, { evidenceIds: [], kind: 'inference' })),
    [],
  );
});

/** What one more event adds to a run that has begun its first step. */
function after(...drafts: readonly EventDraft[]): ContextGraph {
  return graphOf([...OPENING, ...begun('s1'), ...drafts]);
}

const AT_S1 = { stepId: 's1', attempt: 1, planVersion: 1, dispatchId: 'dsp_s1' } as const;

test('a failed attempt is blocked by its error and retried as the next', () => {
  const error = failure('ERR_TEAM_UNREACHABLE', 'No answer.');
  const [, dispatched] = begun('s1');
  assert.ok(dispatched?.kind === 'step.dispatched');
  const again: EventDraft = {
    kind: 'step.dispatched',
    body: { ...dispatched.body, attempt: 2, dispatchId: 'dsp_s1-2', leaseId: 'lse_s1-2' },
  };
  const graph = after({ kind: 'step.attempt_failed', body: { ...AT_S1, error } }, again);
  assert.deepEqual(
    successors(graph, 'delegated_task:dsp_s1', 'BLOCKED_BY').map(({ detail }) => detail['code']),
    ['ERR_TEAM_UNREACHABLE'],
  );
  assert.deepEqual(names(graph, 'delegated_task:dsp_s1', 'RETRIED_AS'), ['delegated_task:dsp_s1-2']);
  assert.equal(graph.nodes.get('delegated_task:dsp_s1')?.status, 'failed');
});

test('an artifact that is not accepted says so, and nothing rests on its evidence', () => {
  for (const verdict of ['rejected', 'quarantined'] as const) {
    const [received, accepted] = settled(artifactOf('s1'));
    assert.ok(received !== undefined && accepted?.kind === 'artifact.accepted');
    const { schemaId: _, evidence: __, ...head } = accepted.body;
    const graph = after(received, {
      kind: `artifact.${verdict}`,
      body: { ...head, error: failure('ERR_ARTIFACT_SCHEMA', 'No.') },
    });
    assert.deepEqual(
      successors(graph, 'artifact:art_s1', 'VALIDATED_BY').map(({ status, detail }) => [status, detail['code']]),
      [[verdict, 'ERR_ARTIFACT_SCHEMA']],
    );
    assert.deepEqual(names(graph, 'artifact:art_s1', 'USED'), []);
  }
});

test('a result that changed nothing has its own record', () => {
  for (const kind of ['result.stale', 'result.duplicate', 'result.conflicted', 'result.late'] as const) {
    const graph = after({ kind, body: { ...AT_S1, reason: 'r' } });
    assert.deepEqual(
      successors(graph, 'delegated_task:dsp_s1', 'VALIDATED_BY').map(({ kind: node, status }) => [node, status]),
      [['decision', kind.slice(7)]],
    );
  }
});

test('a skipped step is blocked by its causes, and a run is degraded by what is missing', () => {
  const skip: EventDraft = {
    kind: 'step.skipped',
    body: { stepId: 's3', planVersion: 1, because: ['s2'], reason: 'r' },
  };
  const graph = graphOf(answered([...OPENING, ...begun('s1'), ...settled(artifactOf('s1')), skip]));
  assert.deepEqual(names(graph, 'step:s3', 'BLOCKED_BY'), ['step:s2']);
  assert.deepEqual(names(graph, 'run:run_1', 'DEGRADED_BY'), ['step:s2', 'step:s3']);
});

test('a step that settled without a dispatch has no task', () => {
  const [, , step] = settled(artifactOf('s1'));
  assert.ok(step?.kind === 'step.settled');
  const { dispatchId: _, ...body } = step.body;
  const graph = graphOf([...OPENING, { kind: 'step.settled', body }]);
  assert.deepEqual([graph.nodes.get('step:s1')?.status, names(graph, 'step:s1', 'EXECUTED_BY')], ['completed', []]);
});

test('a call without a result says so', () => {
  const failed = artifactOf('s1', ({ toolCalls }) => {
    for (const call of toolCalls) {
      delete call.resultDigest;
      call.outcome = 'throttled';
    }
  });
  const tool = after(...settled(failed)).nodes.get('tool:call_s1');
  assert.deepEqual([tool?.status, tool?.detail['resultDigest']], ['throttled', '']);
});

test('a worker whose workload is not the card’s is not known, and a step without calls still has one', () => {
  const stranger = artifactOf('s1', (a) => {
    a.producer.workload = 'spiffe://caseops.test/team/thief';
    a.toolCalls = [];
  });
  const graph = after(...settled(stranger));
  assert.deepEqual(
    successors(graph, 'delegated_task:dsp_s1', 'EXECUTED_BY').map(({ ref, detail }) => [ref, detail['known']]),
    [['claims/spiffe://caseops.test/team/thief', 'false']],
  );
});

test('blocks, answers, recovery and cancellation are decisions of the run', () => {
  const graph = after(
    { kind: 'run.blocked', body: { code: 'GOAL_UNCLEAR', question: 'Which?', wants: 'claim_id', options: [] } },
    { kind: 'run.unblocked', body: { code: 'GOAL_UNCLEAR', by: 'requester@t9', input: { claim_id: 'C-102' } } },
    { kind: 'run.recovered', body: { pausedMs: 5, checked: ['budget'], fence: 2 } },
    { kind: 'answer.refused', body: { error: failure('ERR_CLAIM_POINTER', 'No.') } },
    { kind: 'cancel.requested', body: { by: 'requester@t9', reason: 'r' } },
    { kind: 'cancel.settled', body: { unresolved: [{ stepId: 's1', reason: 'no answer' }] } },
  );
  assert.deepEqual(
    successors(graph, 'run:run_1', 'BLOCKED_BY').map(({ kind, status }) => [kind, status]),
    [
      ['decision', 'asked'],
      ['error', 'contract'],
    ],
  );
  assert.deepEqual(
    successors(graph, 'run:run_1', 'VALIDATED_BY').map(({ status }) => status),
    ['answered', 'recovered'],
  );
  assert.deepEqual(
    successors(graph, 'run:run_1', 'CANCELLED_BY').map(({ detail }) => detail['by']),
    ['requester@t9'],
  );
  assert.deepEqual(
    successors(graph, 'step:s1', 'CANCELLED_BY').map(({ status }) => status),
    ['unresolved'],
  );
  assert.equal(graph.nodes.get('run:run_1')?.status, 'cancelling');
});

test('a rejected plan names its findings, and its run has no goal yet', () => {
  const [received, , proposed] = OPENING;
  assert.ok(received !== undefined && proposed !== undefined);
  const finding = { code: 'DEPENDENCY_CYCLE', pointer: '/steps/0', expected: 'e', got: 'g' } as const;
  const graph = graphOf([
    received,
    proposed,
    {
      kind: 'plan.rejected',
      body: { planId: 'plan_1', version: 1, planDigest: digestOf(PLAN), findings: [finding, finding], round: 0 },
    },
  ]);
  assert.deepEqual(names(graph, 'run:run_1', 'DECOMPOSED_INTO'), ['plan:plan_1']);
  assert.deepEqual(
    successors(graph, 'plan:plan_1', 'VALIDATED_BY').map(({ status, detail }) => [status, detail]),
    [['rejected', { findings: 'DEPENDENCY_CYCLE', findingCount: '2' }]],
  );
  assert.equal(graph.nodes.get('plan:plan_1')?.status, 'rejected');
});

test('a plan accepted without goal, skills and cards still has its steps', () => {
  const [received, , , accepted] = OPENING;
  assert.ok(received !== undefined && accepted?.kind === 'plan.accepted');
  const bare: EventDraft = {
    ...accepted,
    body: {
      ...accepted.body,
      skills: [],
      cards: changed(accepted.body.cards.slice(0, 1), ([card]) => delete card?.verifiedBy),
    },
  };
  const graph = graphOf([
    received,
    bare,
    ...begun('s1'),
    ...settled(artifactOf('s1')),
    ...begun('s2'),
    ...settled(artifactOf('s2')),
  ]);
  assert.deepEqual(names(graph, 'plan:plan_1', 'DECOMPOSED_INTO').length, 3);
  assert.deepEqual(graph.nodes.get('step:s1')?.detail['risk'], 'unknown');
  assert.equal(graph.nodes.get('tool:call_s1')?.detail['conforms'], 'false');
});

test('a team’s run is derived from the task of its parent run', () => {
  const origin = {
    level: 'team',
    caller: 'spiffe://caseops.test/supervisor',
    subject: 'requester@t9',
    messageId: 'm1',
    payloadDigest: digestOf('p'),
    parentRunId: 'run_0',
    dispatchId: 'dsp_0',
    taskId: 'task-0',
    contextId: 'ctx-0',
    leaseId: 'lse_0',
  } as const;
  const graph = graphOf([{ kind: 'run.received', body: { origin, statement: '', language: 'en' } }]);
  assert.deepEqual(names(graph, 'run:run_1', 'DERIVED_FROM'), ['delegated_task:dsp_0']);
  assert.deepEqual(names(graph, 'delegated_task:dsp_0', 'AUTHORIZED_BY'), ['lease:lse_0']);
  assert.equal(graph.nodes.get('run:run_1')?.detail['by'], 'spiffe://caseops.test/supervisor');
  assert.equal(stateOf([{ kind: 'run.received', body: { origin, statement: '', language: 'en' } }]).level, 'team');
});

test('waiting for a turn leaves the graph as it was', () => {
  const [received, ...rest] = OPENING;
  assert.ok(received !== undefined);
  const waited = graphOf([
    received,
    { kind: 'run.queued', body: { aheadCount: 2 } },
    { kind: 'run.admitted', body: { waitedMs: 30 } },
    ...rest,
  ]);
  // A decision is named by its place in the log; everything else is the same.
  const kinds = (graph: ContextGraph): readonly string[] => [...graph.nodes.values()].map(({ kind }) => kind);
  assert.deepEqual(kinds(waited), kinds(graphOf(OPENING)));
});

test('an edge to what the log never named leads nowhere', () => {
  const graph = after({ kind: 'cancel.settled', body: { unresolved: [{ stepId: 's9', taskId: 't', reason: 'r' }] } });
  const decision = [...graph.nodes.values()].find(({ status }) => status === 'unresolved');
  assert.deepEqual(predecessors(graph, decision?.id ?? '', 'CANCELLED_BY'), []);
});

test('an event about what the log never named changes nothing', () => {
  const [received] = sealed(OPENING);
  const [, , started] = sealed(begun('s9'));
  assert.ok(received !== undefined && started !== undefined);
  const graph = foldGraph([received, started] as RunEvent[]);
  assert.equal(graph?.nodes.has(nodeId('step', 's9')), false);
  assert.deepEqual(graph === undefined ? [] : successors(graph, 'step:s9', 'DEPENDS_ON'), []);
});

test("a model's proposal is no context: what was called is in the artifact", () => {
  const proposal: EventDraft = {
    kind: 'worker.proposed',
    body: {
      stepId: 's1',
      planVersion: 1,
      attempt: 1,
      index: 1,
      proposed: 'call',
      verdict: 'permitted',
      reason: 'lawful',
      modelVersion: 'scripted-1',
      modelTokenCount: 3,
    },
  };
  const without = graphOf(SETTLED);
  const graph = graphOf([...SETTLED, proposal]);
  assert.deepEqual([graph.nodes.size, graph.edges.length], [without.nodes.size, without.edges.length]);
});
