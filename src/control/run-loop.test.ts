import type { CapabilityCard } from '#contracts/capability-snapshot.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { Plan } from '#contracts/plan.ts';
import { runView } from '#contracts/run-view.ts';
import { announcementOf, INQUIRY_GRANT } from '#testing/inquiry-case.ts';
import { plantEffect } from '#testing/planted-effect.ts';
import { FOREIGN_GRANT, INQUIRY_TEXT, inquiryWorld } from '#testing/inquiry-world.ts';
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
    const { runId } = await world.desk.submit(INQUIRY_GRANT, request);
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

test('a planted effect row makes the proof that nothing was sent fail', async () => {
  await using world = await inquiryWorld();
  world.team('notification').faults.workMs = 500;
  const { runId } = await world.desk.submit(INQUIRY_GRANT, request);
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

test('an unclear goal blocks, is answered, and then runs', async () => {
  await using world = await inquiryWorld();
  const blocked = await world.ask('Why is my claim held?');
  assert.equal(blocked.state, 'blocked');
  assert.equal(blocked.blocked?.wants, 'claim_id');
  const wrong = await world.desk.answer(INQUIRY_GRANT, blocked.runId, { claim_id: 'the first' });
  assert.equal(wrong.state, 'blocked');
  await world.desk.answer(INQUIRY_GRANT, blocked.runId, { claim_id: 'C-102' });
  assert.equal((await world.settle(blocked.runId)).result, 'completed');
  await assert.rejects(world.desk.answer(INQUIRY_GRANT, blocked.runId, { claim_id: 'C-102' }), hasCode('ERR_STATE'));
});

test('two questions are answered one after the other, and the first answer is kept', async () => {
  await using world = await inquiryWorld();
  const blocked = await world.ask('Why is my claim held? Do not bother anybody.');
  const second = await world.desk.answer(INQUIRY_GRANT, blocked.runId, { claim_id: 'C-102' });
  assert.equal(second.blocked?.wants, 'prohibition_1');
  await world.desk.answer(INQUIRY_GRANT, blocked.runId, { prohibition_1: 'notify:send' });
  assert.equal((await world.settle(blocked.runId)).result, 'completed');
});

test('the same key and request are one run; another request under the key is refused', async () => {
  await using world = await inquiryWorld();
  const keyed = { ...request, idempotencyKey: 'k1' };
  const [a, b] = await Promise.all([world.desk.submit(INQUIRY_GRANT, keyed), world.desk.submit(INQUIRY_GRANT, keyed)]);
  assert.equal(a.runId, b.runId);
  assert.equal((await world.desk.submit(INQUIRY_GRANT, keyed)).runId, a.runId);
  const other = { ...keyed, text: 'Why is C-103 held?' };
  await assert.rejects(world.desk.submit(INQUIRY_GRANT, other), hasCode('ERR_IDEMPOTENCY_KEY_REUSED'));
  const foreign = await world.desk.submit(FOREIGN_GRANT, keyed);
  assert.notEqual(foreign.runId, a.runId);
});

test('another tenant cannot see, cancel, answer or explain a run, and cannot tell that it exists', async () => {
  await using world = await inquiryWorld();
  const { runId } = await world.ask();
  const { desk } = world;
  for (const id of [runId, 'run_none', 'nonsense']) {
    await assert.rejects(desk.view(FOREIGN_GRANT, id), hasCode('ERR_NOT_FOUND'));
    await assert.rejects(desk.cancel(FOREIGN_GRANT, id, 'x'), hasCode('ERR_NOT_FOUND'));
    await assert.rejects(desk.answer(FOREIGN_GRANT, id, {}), hasCode('ERR_NOT_FOUND'));
    await assert.rejects(desk.why(FOREIGN_GRANT, id, undefined), hasCode('ERR_NOT_FOUND'));
  }
  const query = { limit: 10, before: undefined, result: undefined, state: undefined };
  assert.deepEqual(await desk.list(FOREIGN_GRANT, query), []);
  assert.equal((await desk.list(INQUIRY_GRANT, { ...query, result: 'completed' })).length, 1);
  assert.equal((await desk.list(INQUIRY_GRANT, { ...query, result: 'failed' })).length, 0);
});

test('a cancelled run asks its open tasks to stop and lists what nobody confirmed', async () => {
  for (const [answer, unresolved] of [
    ['cancelled', 0],
    ['unknown', 1],
  ] as const) {
    await using world = await inquiryWorld();
    const member = world.team('member');
    member.faults = { workMs: 60_000, cancel: answer };
    const { runId } = await world.desk.submit(INQUIRY_GRANT, request);
    await world.untilInFlight(runId, 's1');
    await world.desk.cancel(INQUIRY_GRANT, runId, 'no longer needed');
    const view = await world.settle(runId);
    assert.equal(view.result, 'cancelled');
    assert.deepEqual(member.cancelled, ['task-1']);
    const events = await world.store.events({ tenant: 't9', runId: view.runId }, 0, 500);
    const settled = events.find((event) => event.kind === 'cancel.settled');
    assert.equal(settled?.body.unresolved.length, unresolved);
    assert.equal(world.team('claims').sent.length, 0);
  }
});

test('a run whose process died goes on in the next one, each step settled once', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'caseops-control-'));
  const path = join(directory, 'central.db');
  try {
    const first = await inquiryWorld({ path, seed: 'a' });
    first.team('claims').faults.workMs = 60_000;
    const { runId } = await first.desk.submit(INQUIRY_GRANT, request);
    const before = await first.untilInFlight(runId, 's2');
    await first[Symbol.asyncDispose]();
    await using second = await inquiryWorld({
      path,
      seed: 'b',
      startMs: Date.UTC(2026, 6, 22, 14, 1, 0),
      resume: true,
    });
    const view = await second.settle(runId);
    assert.equal(view.result, 'completed', view.reason ?? '');
    const events = await second.store.events({ tenant: 't9', runId: view.runId }, 0, 500);
    const settled = events.filter(({ kind }) => kind === 'step.settled');
    assert.equal(settled.length, 4);
    assert.equal(second.team('claims').sent[0]?.leaseId, before.steps.get('s2')?.attempts[0]?.leaseId);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('after a restart a lease that the team has seen is replaced once, and the task is taken up where it is', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'caseops-control-'));
  const path = join(directory, 'central.db');
  try {
    const first = await inquiryWorld({ path, seed: 'a' });
    first.team('member').faults.workMs = 60_000;
    const { runId } = await first.desk.submit(INQUIRY_GRANT, request);
    const before = await first.untilInFlight(runId, 's1');
    const leaseId = before.steps.get('s1')?.attempts[0]?.leaseId;
    assert.ok(leaseId !== undefined);
    await first[Symbol.asyncDispose]();
    await using second = await inquiryWorld({ path, seed: 'b', startMs: Date.UTC(2026, 6, 22, 14, 1, 0) });
    second.team('member').faults = {
      consumed: new Set([leaseId]),
      // The team made the task under the first lease, and says so.
      edit: (artifact) => ({ ...artifact, binding: { ...artifact.binding, leaseId } }),
    };
    await second.driver.resume('central');
    const view = await second.settle(runId);
    assert.equal(view.result, 'completed', JSON.stringify(view.steps[0]));
    const leases = second.team('member').sent.map((sent) => sent.leaseId);
    assert.equal(leases.length, 2);
    assert.equal(leases[0], leaseId);
    assert.notEqual(await second.store.lease(leases[1] ?? ''), undefined);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('an attempt that was lost after its team exchanged its lease counts the calls it may have made', async () => {
  await using world = await inquiryWorld();
  let times = 0;
  world.team('claims').faults.edit = (artifact) => {
    times += 1;
    if (times === 1) throw new CaseOpsError('ERR_TEAM_UNREACHABLE', 'The connection was lost.', { at: 'a2a' });
    return artifact;
  };
  const view = await world.ask();
  assert.equal(view.result, 'completed', view.reason ?? '');
  assert.equal(view.steps.find(({ stepId }) => stepId === 's2')?.attempts.length, 2);
  assert.equal(view.used.toolCallCount, 5);
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

test('the events of a run can be followed from any point to its end', async () => {
  await using world = await inquiryWorld();
  const { runId } = await world.desk.submit(INQUIRY_GRANT, request);
  const seen: number[] = [];
  const following = (async () => {
    for await (const event of world.desk.follow(INQUIRY_GRANT, { runId, afterSeq: 1 }, new AbortController().signal))
      seen.push(event.seq);
  })();
  const view = await world.settle(runId);
  await following;
  assert.deepEqual(
    seen,
    Array.from({ length: view.lastSeq - 1 }, (_, index) => index + 2),
  );
});

test('a plan can be previewed and checked without a run', async () => {
  await using world = await inquiryWorld();
  const { signal } = new AbortController();
  const preview = await world.desk.preview(INQUIRY_GRANT, request, signal);
  assert.deepEqual(preview.findings, []);
  const again = await world.desk.validate(INQUIRY_GRANT, { ...request, plan: preview.plan }, signal);
  assert.deepEqual(again.findings, []);
  const broken = { ...(preview.plan as Plan), steps: [] };
  const refused = await world.desk.validate(INQUIRY_GRANT, { ...request, plan: broken }, signal);
  assert.ok(refused.findings.length > 0);
  const unclear = await world.desk.preview(INQUIRY_GRANT, { ...request, text: 'Why?' }, signal);
  assert.equal(unclear.blocked?.wants, 'claim_id');
  assert.equal(
    (await world.desk.list(INQUIRY_GRANT, { limit: 9, before: undefined, result: undefined, state: undefined })).length,
    0,
  );
});

test('agents are listed with what they announce, or with why they do not answer', async () => {
  await using world = await inquiryWorld();
  world.team('knowledge').faults.down = true;
  const agents = await world.desk.agents(INQUIRY_GRANT, new AbortController().signal);
  assert.deepEqual(
    agents.map(({ team, available, skills }) => [team, available, skills.length]),
    [
      ['claims', true, 1],
      ['knowledge', false, 0],
      ['member', true, 1],
      ['notification', true, 2],
    ],
  );
});

function hasCode(code: string): (error: unknown) => boolean {
  return (error) => error instanceof CaseOpsError && error.code === code;
}
