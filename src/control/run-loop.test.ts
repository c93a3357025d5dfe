import type { CapabilityCard } from '#contracts/capability-snapshot.ts';
import type { Plan } from '#contracts/plan.ts';
import { runView } from '#contracts/run-view.ts';
import { announcementOf, INQUIRY_GRANT } from '#testing/inquiry-case.ts';
import { INQUIRY_TEXT, inquiryWorld } from '#testing/inquiry-world.ts';
import { plantEffect } from '#testing/planted-effect.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rulesPlanner } from './backward-chaining.ts';
import { createScriptedPlanner, type PlannerTurn } from './scripted-planner.ts';

const request = { text: INQUIRY_TEXT, language: undefined, sessionId: undefined, idempotencyKey: undefined };

test('the inquiry is answered by four teams, each sentence bound, nothing sent', async () => {
  await using world = await inquiryWorld();
  const view = await world.ask();
  assert.equal(view.result, 'completed', JSON.stringify(view.steps.flatMap(({ errors }) => errors)));
  assert.deepEqual(runView.safeParse(view).error?.issues ?? [], []);
  assert.deepEqual(
    view.claims.map(({ key, text, evidence }) => [key, text, evidence[0]?.ref]),
    [
      ['status', 'Claim C-102 has the status pending_documents.', 'claim:C-102@v17'],
      ['missing', 'Missing: accident_report.', 'claim:C-102@v17'],
      ['next', 'Next: “Ask the member for the report.”', 'policy-rule:motor-7@v2'],
      ['draft', 'Drafted: “Please send us the report.”', 'notice-draft:D-1@v1'],
      ['not-sent', 'Nothing was sent.', view.claims[4]?.evidence[0]?.ref],
    ],
  );
  assert.deepEqual(view.effects, []);
  assert.equal(view.used.toolCallCount, 4);
  assert.equal(view.plan?.proposer?.kind, 'rules');
});

test('each step is sent once, under a lease for that step alone', async () => {
  await using world = await inquiryWorld();
  const view = await world.ask();
  const rows = await world.store.leasesOfRun('t9', view.runId);
  const work = rows.filter(({ depth }) => depth === 0);
  assert.deepEqual(
    work
      .toSorted((a, b) => (a.stepId < b.stepId ? -1 : 1))
      .map(({ stepId, actions, resources, audience }) => [stepId, actions, resources, audience]),
    [
      ['s1', ['members:read'], ['claim:C-102'], 'https://member.test/a2a'],
      ['s2', ['claims:read'], ['claim:C-102'], 'https://claims.test/a2a'],
      ['s3', ['policies:read'], ['policy-topic:pending_documents'], 'https://knowledge.test/a2a'],
      ['s4', ['notices:draft'], ['claim:C-102'], 'https://notification.test/a2a'],
    ],
  );
  for (const team of Object.values(world.teams)) assert.equal(team.sent.length, 1);
  assert.deepEqual(world.team('notification').sent[0]?.dispatch.forbiddenActions, ['notify:send']);
});

test('a goal in Japanese is answered in Japanese', async () => {
  await using world = await inquiryWorld();
  const view = await world.ask('C-102が止まっている理由は？まず下書きを作成し、送らないでください。');
  assert.equal(view.result, 'completed');
  assert.ok(view.claims.some(({ text }) => text === '不足：accident_report。'));
});

test('an optional team that is down degrades the run and lists what is lost', async () => {
  await using world = await inquiryWorld();
  world.team('knowledge').faults.down = true;
  const view = await world.ask();
  assert.equal(view.result, 'degraded');
  assert.deepEqual(
    view.missingSteps.map(({ stepId, status, impact }) => [stepId, status, impact]),
    [
      ['s3', 'failed', 'What happens next is not known.'],
      ['s4', 'skipped', 'No notice has been drafted.'],
    ],
  );
  assert.deepEqual(
    view.claims.map(({ key }) => key),
    ['status', 'missing', 'not-sent'],
  );
  assert.equal(world.team('notification').sent.length, 0);
});

test('an optional team that dies while it works degrades the run within the deadline', async () => {
  await using world = await inquiryWorld();
  world.team('knowledge').faults.workMs = 60_000;
  const view = await world.ask();
  assert.equal(view.result, 'degraded');
  assert.ok((view.durationMs ?? 0) < 9_000, String(view.durationMs));
});

test('a required team that is down fails the run and names the step', async () => {
  await using world = await inquiryWorld();
  world.team('claims').faults.down = true;
  const view = await world.ask();
  assert.equal(view.result, 'failed');
  assert.match(view.reason ?? '', /s2/);
  assert.deepEqual(
    view.claims.map(({ key }) => key),
    ['not-sent'],
  );
});

test('a claim that nobody knows is no_data', async () => {
  await using world = await inquiryWorld();
  const view = await world.ask('Why is C-999 held?');
  assert.equal(view.result, 'no_data');
});

test('a team with another card, contract or policy than planned is not sent to', async () => {
  const other = announcementOf('claims');
  const changes: Readonly<Record<string, ReturnType<typeof announcementOf>>> = {
    ERR_POLICY: { ...other, policyDigest: announcementOf('member').policyDigest },
    ERR_DENIED: { ...other, card: { ...other.card, verifiedBy: 'another-key' } satisfies CapabilityCard },
  };
  for (const [code, announcement] of Object.entries(changes)) {
    await using world = await inquiryWorld({ cardKeptMs: 0 });
    world.team('member').faults.workMs = 400;
    const { runId } = (await world.desk.submit(INQUIRY_GRANT, request)).view;
    await world.untilInFlight(runId, 's1');
    world.team('claims').faults.announcement = announcement;
    const view = await world.settle(runId);
    assert.equal(view.result, 'failed');
    assert.deepEqual(
      view.steps.find(({ stepId }) => stepId === 's2')?.errors.map((error) => error.code),
      [code],
    );
    assert.equal(world.team('claims').sent.length, 0);
  }
});

const BREAKS: Readonly<Record<string, (plan: Plan) => unknown>> = {
  ACTION_PROHIBITED: (plan) => {
    const draft = plan.steps[3];
    assert.ok(draft !== undefined);
    plan.steps.push({
      ...draft,
      stepId: 's5',
      skillId: 'send-notice',
      dependsOn: [{ stepId: 's4', strength: 'strong' }],
      inputs: { notice_draft: { from: 'step', stepId: 's4', pointer: '/notice_draft' } },
      actions: ['notify:send'],
      approval: 'person',
    });
    plan.join.optionalSteps.push('s5');
    return plan;
  },
  SKILL_UNKNOWN: (plan) => ({
    ...plan,
    steps: plan.steps.map((s) => (s.stepId === 's3' ? { ...s, skillId: 'guess' } : s)),
  }),
  DEPENDENCY_CYCLE: (plan) => ({
    ...plan,
    steps: plan.steps.map((s) => (s.stepId === 's1' ? { ...s, dependsOn: [{ stepId: 's4', strength: 'weak' }] } : s)),
  }),
  INPUT_UNMAPPED: (plan) => ({ ...plan, steps: plan.steps.map((s) => (s.stepId === 's2' ? { ...s, inputs: {} } : s)) }),
  BUDGET_TOOL_CALLS: (plan) => ({ ...plan, budget: { ...plan.budget, toolCallCountMax: 3 } }),
  JOIN_STEP_MISSING: (plan) => ({ ...plan, join: { ...plan.join, optionalSteps: ['s3'] } }),
  BUDGET_WIDENED: (plan) => ({ ...plan, budget: { ...plan.budget, toolCallCountMax: 999 } }),
};

for (const [code, edit] of Object.entries(BREAKS))
  test(`a planner that proposes ${code} is refused with that finding and nothing is dispatched`, async () => {
    const turn: PlannerTurn = { kind: 'edit', from: rulesPlanner, edit };
    await using world = await inquiryWorld({ planner: (clock) => createScriptedPlanner([turn], { clock }) });
    const view = await world.ask();
    assert.equal(view.result, 'refused');
    assert.ok(
      view.findings.some((finding) => finding.code === code),
      JSON.stringify(view.findings),
    );
    for (const team of Object.values(world.teams)) assert.equal(team.sent.length, 0);
    assert.deepEqual(await world.store.leasesOfRun('t9', view.runId), []);
  });

test('a planner that times out, answers no JSON or 503 costs a round each; the next lawful plan is taken', async () => {
  const turns: readonly [PlannerTurn, ...PlannerTurn[]] = [
    { kind: 'timeout', ms: 60_000 },
    { kind: 'invalid-json', text: '{"steps": [' },
    { kind: 'edit', from: rulesPlanner, edit: (plan) => plan },
  ];
  await using world = await inquiryWorld({ planner: (clock) => createScriptedPlanner(turns, { clock }) });
  const view = await world.ask();
  assert.equal(view.result, 'completed', view.reason ?? '');
  assert.equal(view.plan?.proposer?.kind, 'scripted');
  await using down = await inquiryWorld({
    planner: (clock) => createScriptedPlanner([{ kind: 'http', status: 503 }], { clock }),
  });
  assert.equal((await down.ask()).result, 'refused');
});

test('an effect ledger that does not read back shows no absence, and the rest of the answer stands', async () => {
  await using world = await inquiryWorld();
  world.team('notification').faults.workMs = 500;
  const { runId } = (await world.desk.submit(INQUIRY_GRANT, request)).view;
  await world.untilInFlight(runId, 's4');
  const { stepId: _stepId, ...cut } = await plantEffect(
    { ...world, store: { write: () => ({ ok: true }) } as never },
    runId,
  );
  await world.store.write([{ table: 'effect', row: cut as never }]);
  for (let turn = 0; turn < 200 && (await world.state(runId)).phase !== 'ended'; turn++) await world.clock.advance(50);
  const { answer, result } = await world.state(runId);
  assert.equal(result, 'completed');
  assert.deepEqual(
    answer?.unsaid.map(({ key, reason }) => [key, reason]),
    [['not-sent', 'proof_failed']],
  );
  assert.equal(answer.claims.length, 4);
});

test('a planted effect row makes the proof that nothing was sent fail', async () => {
  await using world = await inquiryWorld();
  world.team('notification').faults.workMs = 500;
  const { runId } = (await world.desk.submit(INQUIRY_GRANT, request)).view;
  await world.untilInFlight(runId, 's4');
  await plantEffect(world, runId);
  const view = await world.settle(runId);
  assert.ok(view.claims.every(({ key }) => key !== 'not-sent'));
  assert.deepEqual(
    view.unsaid.map(({ key, reason }) => [key, reason]),
    [['not-sent', 'proof_failed']],
  );
  assert.equal(view.effects.length, 1);
});

test('a team that ends without an artifact, or says that it failed, fails the step by its own reason', async () => {
  await using world = await inquiryWorld();
  world.team('claims').faults.failWith = {
    code: 'ERR_TOOL_OUTPUT_TENANT',
    kind: 'denied',
    message: 'The tool returned a record of another tenant.',
    at: 'worker',
    retryable: false,
  };
  const view = await world.ask();
  assert.equal(view.result, 'failed');
  assert.deepEqual(
    view.steps.find(({ stepId }) => stepId === 's2')?.errors.map(({ code }) => code),
    ['ERR_TOOL_OUTPUT_TENANT'],
  );
});

test('a claim portfolio runs its chains at the same time', async () => {
  await using world = await inquiryWorld();
  for (const team of Object.values(world.teams)) team.faults.workMs = 400;
  const view = await world.ask('Status of C-1, C-2 and C-3. Do not notify anybody.');
  assert.equal(view.result, 'completed', view.reason ?? '');
  assert.equal(view.claims.filter(({ key }) => key === 'status').length, 3);
  const sum = view.steps.reduce((total, { durationMs }) => total + (durationMs ?? 0), 0);
  assert.ok((view.durationMs ?? Infinity) < sum, `${view.durationMs} < ${sum}`);
});
