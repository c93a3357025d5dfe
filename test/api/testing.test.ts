/** `caseops/testing` as a user's tests have it: the names of the package only. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineAgenticWorker, defineSkill, defineTeam, type GoalContract } from 'caseops';
import {
  builtInPlanner,
  eventsOf,
  fakeToolHost,
  given,
  scriptedPlanner,
  scriptedProposer,
  seededClock,
  seededIds,
  testTeam,
  type Command,
} from 'caseops/testing';
import { z } from 'zod';
import { findParcel, parcelInquiry, parcelTeam } from './parcels.ts';

test("a worker's artifact holds what its tool observed, bound to the record's version", async () => {
  const run = await testTeam(parcelTeam).run('parcel-state', { parcel_id: 'P-7' });
  assert.ok(run.ok, JSON.stringify(run));
  assert.deepEqual([run.artifact.status, run.artifact.data], ['completed', { state: 'at_customs' }]);
  assert.deepEqual(
    run.artifact.evidence.map(({ anchor, version }) => `${anchor}@${version}`),
    ['parcel:P-7@v3'],
  );
  assert.deepEqual(
    run.calls.map(({ tool, arguments: args }) => [tool, args]),
    [['parcels.find', { parcel_id: 'P-7' }]],
  );
});

test('a test may say what a tool returns: nothing, a record without version, a record of another tenant, an outage', async () => {
  const record = { id: 'P-7', version: 'v4', tenant: 't9', observedAt: '2026-08-01T09:00:00Z' };
  const data = { parcel_id: 'P-7', state: 'delivered' };
  const outcome = async (records: readonly unknown[]): Promise<string> => {
    const team = testTeam(parcelTeam, { tools: { records: { 'parcels.find': () => records } } });
    const run = await team.run('parcel-state', { parcel_id: 'P-7' });
    return run.ok ? `${run.artifact.status} ${JSON.stringify(run.artifact.data)}` : run.error.code;
  };
  assert.equal(await outcome([{ ...record, data }]), 'completed {"state":"delivered"}');
  assert.equal(await outcome([]), 'no_data undefined');
  assert.equal(await outcome([{ ...record, version: undefined, data }]), 'ERR_TOOL_OUTPUT_VERSION');
  assert.equal(await outcome([{ ...record, tenant: 't8', data }]), 'ERR_TOOL_OUTPUT_TENANT');
  assert.equal(await outcome([{ ...record, data: { state: 7 } }]), 'ERR_TOOL_OUTPUT_SCHEMA');
  const down = testTeam(parcelTeam, {
    tools: {
      faults: { 'parcels.find': () => ({ outcome: 'tool_error', code: 'ERR_TOOL_FAILED', message: 'Down.' }) },
    },
  });
  const failed = await down.run('parcel-state', { parcel_id: 'P-7' });
  assert.equal(failed.ok ? 'ok' : failed.error.code, 'ERR_TOOL_FAILED');
});

test('a dispatch that allows less is refused before a tool is called', async () => {
  const team = testTeam(parcelTeam);
  const run = await team.run('parcel-state', { parcel_id: 'P-7' }, { actions: ['parcels:list'] });
  assert.equal(run.ok, false);
  assert.deepEqual(run.calls, []);
  await assert.rejects(team.run('parcel-state-of-mind', {}), { code: 'ERR_NOT_FOUND' });
});

test('a fake tool host answers by the handlers of the team, counts its calls and has the faults of a test', async () => {
  const [contract] = parcelTeam.mcpServers.flatMap(({ tools }) => tools.map((tool) => tool.contract));
  assert.ok(contract);
  await using host = fakeToolHost(parcelTeam.mcpServers, {
    faults: { 'parcels.find': (_call, index) => (index === 0 ? { outcome: 'throttled', retryAfterMs: 5 } : undefined) },
  });
  const lease = { token: '', leaseId: 'lse_1', audience: 'mcp:parcel-records', expiresAt: 0, prove: () => '' };
  const call = () => host.call(contract, { parcel_id: 'P-7' }, lease, new AbortController().signal);
  assert.equal((await call()).outcome, 'throttled');
  const answered = await call();
  assert.ok(answered.outcome === 'ok');
  assert.match(JSON.stringify(answered.output), /"version":"v3".*at_customs/);
  assert.equal(host.calls.length, 2);
});

const AT = '2026-08-01T09:00:00.000Z';
const goal: GoalContract = {
  contractVersion: '1.0.0',
  goalId: 'goal_1',
  revision: 1,
  tenant: 't9',
  requestedBy: 'requester@t9',
  sessionId: 'ses_1',
  kind: parcelInquiry.kind,
  kindVersion: parcelInquiry.version,
  purpose: parcelInquiry.purpose,
  subject: { type: 'parcel', ids: ['P-7'] },
  entities: { parcel_id: 'P-7' },
  requestedOutputs: [{ kind: 'parcel_state', required: true }],
  prohibitedActions: [],
  constraints: [],
  evidencePolicy: { factsNeedEvidence: true, observationAgeMsMax: 0 },
  claims: [...parcelInquiry.claims],
  budget: parcelInquiry.budget,
  statement: { text: 'Where is P-7?', language: 'en' },
};
const receive: Command = {
  kind: 'receive',
  at: AT,
  actor: 'requester@t9',
  origin: {
    level: 'central',
    requestedBy: 'requester@t9',
    sessionId: 'ses_1',
    requestDigest: `sha256:${'0'.repeat(64)}`,
  },
  statement: goal.statement.text,
  language: 'en',
  intake: { kind: 'goal', goal },
};

test('given nothing, when a goal is received, then it is frozen; given that, it is not received twice but can be cancelled', () => {
  given().when(receive).thenKinds('run.received', 'goal.frozen');
  const received = eventsOf([receive]);
  given(received).when(receive).thenRefused('ERR_STATE');
  given().when({ kind: 'cancel', at: AT, actor: 'requester@t9', reason: 'not needed' }).thenRefused('ERR_NOT_FOUND');
  const cancelled = given(received).when({ kind: 'cancel', at: AT, actor: 'requester@t9', reason: 'not needed' });
  cancelled.thenKinds('cancel.requested', 'cancel.settled', 'run.ended');
  cancelled.then(cancelled.outcome.ok ? cancelled.outcome.events : []);
  assert.throws(() => cancelled.then([]), { name: 'AssertionError' });
  assert.throws(() => cancelled.thenRefused('ERR_STATE'), /was not refused/);
});

test('a scripted planner edits what the built-in one proposes, and fails as a provider does', async () => {
  const planner = scriptedPlanner([
    { kind: 'http', status: 503 },
    { kind: 'plan', plan: () => ({ steps: 'none' }) },
  ]);
  const request = { goal, goalDigest: '', snapshot: {} as never, planVersion: 1, planId: 'plan_1', findings: [] };
  const bounds = { signal: new AbortController().signal, modelTokenCountMax: 0 };
  await assert.rejects(planner.propose(request, bounds), { code: 'ERR_MODEL', retryable: true });
  assert.deepEqual((await planner.propose(request, bounds)).plan, { steps: 'none' });
  assert.equal(planner.callCount, 2);
  assert.equal(typeof builtInPlanner.propose, 'function');
});

test('a scripted proposer drives an agentic worker, whose every proposal is decided by code', async () => {
  const skill = defineSkill({
    id: 'parcel-state',
    description: 'Says where a parcel is.',
    input: z.object({ parcel_id: z.string() }),
    artifact: z.object({ state: z.string() }),
    produces: [{ kind: 'parcel_state', pointer: '/state' }],
    tools: [findParcel],
    budget: { modelTokenCountMax: 1_000 },
  });
  const model = scriptedProposer([
    { kind: 'call', tool: 'parcel-records/parcels.delete', arguments: { parcel_id: 'P-7' } },
    { kind: 'call', tool: 'parcel-records/parcels.find', arguments: { parcel_id: 'P-7' } },
    { kind: 'nothing' },
  ]);
  const bounds = { stepCountMax: 4, tokenCountMax: 1_000, repeatCountMax: 1 };
  const worker = defineAgenticWorker(skill, { name: 'parcel-agent', model, prompt: 'Find the parcel.', ...bounds });
  const team = defineTeam('parcels', {
    version: '1.0.0',
    description: 'Knows where parcels are.',
    workers: [worker],
    mcpServers: parcelTeam.mcpServers,
    tenants: ['t9'],
  });
  const run = await testTeam(team).run('parcel-state', { parcel_id: 'P-7' });
  assert.deepEqual(
    run.proposals.map(({ verdict, reason }) => `${verdict} ${reason}`),
    ['refused unknown_tool', 'permitted lawful', 'refused not_nothing', 'refused not_nothing'],
  );
  assert.equal(model.requests.length, 4);
  assert.equal(run.ok ? 'ok' : run.error.code, 'ERR_ATTEMPTS');
  assert.deepEqual(
    run.calls.map(({ tool }) => tool),
    ['parcels.find'],
  );
});

test('seeded time stands still until it is advanced, and seeded ids repeat', async () => {
  const clock = seededClock(Date.parse(AT));
  const woken: string[] = [];
  clock.at(clock.nowMs() + 1_000, () => woken.push(clock.now()));
  await clock.advance(999);
  assert.deepEqual(woken, []);
  await clock.advance(1);
  assert.deepEqual(woken, ['2026-08-01T09:00:01.000Z']);
  assert.equal(seededIds('a').next('run'), seededIds('a').next('run'));
});
