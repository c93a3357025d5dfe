import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toolContract } from '#contracts/tool-contract.ts';
import type { AdoptedTool, GovernedOrigin, PermittedCall, SettledCall } from '#contracts/call-events.ts';
import { digestOf } from './digest.ts';
import { failure } from './failure.ts';
import { foldGraph } from './graph.ts';
import { nodeId, successors } from './graph-node.ts';
import { checkInvariants } from './invariants.ts';
import { atMs, goalOf } from './trial-contracts.test.ts';
import { TrialRun } from './trial-run.test.ts';

const ORIGIN: GovernedOrigin = {
  level: 'governed',
  requestedBy: 'requester@t9',
  workload: 'spiffe://caseops.test/program',
  purpose: 'claim_investigation',
  actions: ['claims:read', 'notify:send'],
  prohibitedActions: ['notify:send'],
  toolCallCountMax: 2,
  policyDigest: digestOf([]),
};

const schema = (schemaId: string): object => ({ schemaId, schemaVersion: '1.0.0', digest: digestOf({}), schema: {} });

function tool(over: object = {}): AdoptedTool {
  const contract = toolContract.parse({
    server: 'program',
    tool: 'get-claim',
    version: '1.0.0',
    protocolVersion: 'in-process',
    description: 'Reads a claim.',
    input: schema('in'),
    output: schema('out'),
    sideEffect: 'none',
    risk: 'read_only',
    requiredActions: ['claims:read'],
    purposes: ['claim_investigation'],
    resource: { type: 'claim', argument: 'claim_id' },
    classification: 'internal',
    timeoutMs: 1_000,
    latencySloMs: 1_000,
    idempotency: 'read',
    taskSupport: 'forbidden',
    evidence: {
      source: 'claims-db',
      anchorType: 'claim',
      recordsPointer: '/records',
      dataPointer: '/data',
      idPointer: '/id',
      versionPointer: '/version',
      observedAtPointer: '/observedAt',
      tenantPointer: '/tenant',
      trust: 'authoritative',
    },
    digest: digestOf('get-claim'),
    ...over,
  });
  const mapping = {
    recordsPointer: '',
    dataPointer: '',
    idPointer: '/id',
    versionPointer: '/version',
    tenantPointer: '/tenant',
    soleTenant: null,
    observedAtPointer: null,
  };
  return { framework: 'ai-sdk', contract, mapping };
}

function permitted(n: number, over: Partial<PermittedCall> = {}): PermittedCall {
  return {
    callId: `call_${n}`,
    stepId: `c${n}`,
    tool: 'get-claim',
    contractDigest: digestOf('get-claim'),
    leaseId: `lse_${n}`,
    actions: ['claims:read'],
    resource: 'claim:C-102',
    argumentsDigest: digestOf({ claim_id: 'C-102' }),
    deadlineAt: atMs(1_000),
    ...over,
  };
}

function settled(n: number, over: Partial<SettledCall> = {}): SettledCall {
  return {
    stepId: `c${n}`,
    call: {
      callId: `call_${n}`,
      server: 'program',
      tool: 'get-claim',
      contractVersion: '1.0.0',
      contractDigest: digestOf('get-claim'),
      protocolRevision: 'in-process',
      serverVersion: '',
      leaseId: `lse_${n}`,
      worker: 'program',
      argumentsDigest: digestOf({ claim_id: 'C-102' }),
      outcome: 'ok',
      startedAt: atMs(0),
      endedAt: atMs(1),
    },
    evidence: [
      {
        evidenceId: `ev_${n}`,
        source: 'claims-db',
        anchor: 'claim:C-102',
        version: 'v17',
        observedAt: atMs(0),
        digest: digestOf('record'),
        trust: 'authoritative',
        readers: ['internal'],
      },
    ],
    error: null,
    ...over,
  };
}

function opened(): TrialRun {
  const trial = new TrialRun();
  const opening = {
    origin: ORIGIN,
    statement: 'Tools of a program.',
    language: 'en',
    intake: { kind: 'calls' },
  } as const;
  assert.deepEqual(trial.ok('receive', opening), ['run.received']);
  assert.deepEqual(trial.ok('adoptTool', { tool: tool() }), ['tool.adopted']);
  return trial;
}

test('a run of calls has no goal and asks for nothing from outside', () => {
  const trial = opened();
  assert.equal(trial.state.level, 'central');
  assert.equal(trial.state.goal, undefined);
  assert.deepEqual(trial.todos(), []);
  trial.ok('permitCall', { call: permitted(1) });
  assert.equal(trial.state.phase, 'running');
  assert.deepEqual(trial.todos(), []);
  trial.assertFold();
});

test('only a program begins with calls, and a program begins with nothing else', () => {
  const goal = { kind: 'goal', goal: goalOf() } as const;
  const text = { statement: 'x', language: 'en' };
  assert.equal(new TrialRun().refusal('receive', { ...text, origin: ORIGIN, intake: goal }).code, 'ERR_STATE');
  const central = new TrialRun();
  central.receive(goal);
  const { origin } = central.state;
  assert.equal(new TrialRun().refusal('receive', { ...text, origin, intake: { kind: 'calls' } }).code, 'ERR_STATE');
  assert.match(central.refusal('permitCall', { call: permitted(1) }).message, /takes no calls/);
});

test('the call beyond the budget is refused, also when none before it has settled', () => {
  const trial = opened();
  trial.ok('permitCall', { call: permitted(1) });
  trial.ok('permitCall', { call: permitted(2) });
  const refusal = trial.refusal('permitCall', { call: permitted(3) });
  assert.equal(refusal.code, 'ERR_BUDGET');
  assert.deepEqual(refusal.detail, { toolCallCountMax: 2 });
  trial.ok('settleCall', { settled: settled(1) });
  assert.equal(trial.refusal('permitCall', { call: permitted(3) }).code, 'ERR_BUDGET');
  assert.equal(trial.state.budget?.toolCallCountUsed, 2);
});

test('a permit that the budget does not cover breaks INV-06', () => {
  const trial = opened();
  trial.ok('permitCall', { call: permitted(1) });
  trial.ok('permitCall', { call: permitted(2) });
  const event = trial.seal({ kind: 'call.permitted', body: permitted(3) });
  assert.deepEqual(
    checkInvariants(trial.state, event).map(({ invariant }) => invariant),
    ['INV-06'],
  );
});

test('a name means one tool for the whole run', () => {
  const trial = opened();
  assert.deepEqual(trial.ok('adoptTool', { tool: tool() }), []);
  const other = tool({ digest: digestOf('another') });
  assert.equal(trial.refusal('adoptTool', { tool: other }).code, 'ERR_STATE');
  assert.match(
    trial.refusal('permitCall', { call: permitted(1, { contractDigest: digestOf('another') }) }).message,
    /adopted no tool/,
  );
});

test('a prohibited action is refused whatever the guard said', () => {
  const refusal = opened().refusal('permitCall', { call: permitted(1, { actions: ['notify:send'] }) });
  assert.equal(refusal.code, 'ERR_POLICY');
});

test('a call settles once, under the lease that permitted it, and its evidence is kept once', () => {
  const trial = opened();
  trial.ok('permitCall', { call: permitted(1) });
  assert.match(trial.refusal('permitCall', { call: permitted(1) }).message, /under way/);
  assert.equal(trial.refusal('settleCall', { settled: settled(2) }).code, 'ERR_STATE');
  trial.ok('settleCall', { settled: settled(1) });
  assert.equal(trial.refusal('settleCall', { settled: settled(1) }).code, 'ERR_STATE');
  trial.ok('permitCall', { call: permitted(2) });
  trial.ok('settleCall', { settled: settled(2, { error: failure('ERR_TOOL_OUTPUT_TENANT', 'foreign') }) });
  assert.deepEqual(
    [...trial.state.evidence.values()].map(({ evidenceId }) => evidenceId),
    ['ev_1'],
  );
  assert.deepEqual(
    trial.state.errors.map(({ code }) => code),
    ['ERR_TOOL_OUTPUT_TENANT'],
  );
  trial.assertFold();
});

test('a refused call is recorded and debits nothing', () => {
  const trial = opened();
  const error = failure('ERR_LEASE', 'no');
  const call = { callId: 'call_9', stepId: 'c9', tool: 'get-claim', argumentsDigest: null, error } as const;
  assert.deepEqual(trial.ok('refuseCall', { call }), ['call.refused']);
  assert.equal(trial.state.budget?.toolCallCountUsed, 0);
  assert.deepEqual(trial.state.errors, [error]);
});

test('closing ends the run; then it takes nothing', () => {
  const trial = opened();
  trial.ok('permitCall', { call: permitted(1) });
  trial.ok('settleCall', { settled: settled(1) });
  assert.deepEqual(trial.ok('closeCalls', {}), ['run.ended']);
  assert.equal(trial.state.result, 'completed');
  const error = failure('ERR_LEASE', 'no');
  const call = { callId: 'call_9', stepId: 'c9', tool: 'get-claim', argumentsDigest: null, error } as const;
  for (const refusal of [
    trial.refusal('adoptTool', { tool: tool() }),
    trial.refusal('permitCall', { call: permitted(2) }),
    trial.refusal('refuseCall', { call }),
    trial.refusal('settleCall', { settled: settled(1) }),
    trial.refusal('closeCalls', {}),
  ])
    assert.equal(refusal.code, 'ERR_STATE');
});

test('closing over a call that never reported its end says that the run failed and needs a person', () => {
  const trial = opened();
  trial.ok('permitCall', { call: permitted(1) });
  trial.ok('closeCalls', {});
  assert.equal(trial.state.result, 'failed');
  assert.equal(trial.state.needsHuman, true);
});

test('who takes a dead program over ends its run', () => {
  const recover = { pausedMs: 5, checked: ['run-lock'], fence: 2 };
  const idle = opened();
  assert.deepEqual(idle.ok('recover', recover), ['run.recovered', 'run.ended']);
  assert.equal(idle.state.needsHuman, false);
  const open = opened();
  open.ok('permitCall', { call: permitted(1) });
  open.ok('recover', recover);
  assert.deepEqual([open.state.result, open.state.needsHuman], ['failed', true]);
});

test('the graph leads from the run to what each call observed, under which lease, and to what was refused', () => {
  const trial = opened();
  const error = failure('ERR_LEASE', 'no');
  trial.ok('refuseCall', { call: { callId: 'call_9', stepId: 'c9', tool: 'get-claim', argumentsDigest: null, error } });
  trial.ok('permitCall', { call: permitted(1) });
  trial.ok('settleCall', { settled: settled(1) });
  const graph = foldGraph(trial.log);
  assert.ok(graph !== undefined);
  const run = nodeId('run', 'run_1');
  const [call] = successors(graph, run, 'CALLED');
  assert.equal(call?.status, 'ok');
  assert.deepEqual(
    successors(graph, nodeId('tool', 'call_1'), 'AUTHORIZED_BY').map(({ ref }) => ref),
    ['lse_1'],
  );
  assert.deepEqual(
    successors(graph, nodeId('tool', 'call_1'), 'PRODUCED').map(({ ref }) => ref),
    ['ev_1'],
  );
  assert.deepEqual(
    successors(graph, run, 'VALIDATED_BY').map(({ status, detail }) => [status, detail['code']]),
    [['refused', 'ERR_LEASE']],
  );
});
