import { createApprovalPolicy } from '#control/approval-policy.ts';
import { foldRun } from '#kernel/evolve.ts';
import { checkInvariants } from '#kernel/invariants.ts';
import { evolve, openRun } from '#kernel/evolve.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { ApprovalPolicy } from '#ports/approval-policy.ts';
import { approvalOf, type EffectRuns, effectRuns } from '#testing/effect-runs.ts';
import { INQUIRY_GRANT } from '#testing/inquiry-case.ts';
import {
  type ApplyFault,
  createMemoryTarget,
  type MemoryTarget,
  type MemoryTargetOptions,
} from '#testing/memory-effect-target.ts';
import { APPROVER, SECOND_APPROVER } from '#testing/notice-case.ts';
import { hasCode } from '#testing/refused.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WRITER_POINTS } from './writer-options.ts';

interface World extends AsyncDisposable {
  readonly runs: EffectRuns;
  readonly target: MemoryTarget;
}

async function world(
  target: Partial<MemoryTargetOptions> = {},
  over: Partial<Parameters<typeof effectRuns>[0]> = {},
): Promise<World> {
  let made: MemoryTarget | undefined;
  const runs = await effectRuns({
    targets: (clock) => {
      made = createMemoryTarget({ clock, dedupes: false, ...target });
      return [made];
    },
    ...over,
  });
  assert.ok(made !== undefined);
  return { runs, target: made, [Symbol.asyncDispose]: () => runs[Symbol.asyncDispose]() };
}

async function approved({ runs }: World, drafts: readonly string[] = ['D-1']): Promise<RunState> {
  const runId = await runs.open(drafts);
  for (const row of await runs.pending(runId)) await runs.approve(row);
  const state = await runs.settle(runId);
  await lawful(runs, state);
  return state;
}

/** No event of the run breaks an invariant, and the state is the fold of its log. */
async function lawful({ store }: EffectRuns, state: RunState): Promise<void> {
  const events = await store.events(state.ref, 0, 10_000);
  const [first, ...rest] = events;
  assert.ok(first?.kind === 'run.received');
  const folding = openRun(first);
  for (const event of rest) {
    assert.deepEqual(checkInvariants(folding, event), []);
    evolve(folding, event);
  }
  assert.equal(foldRun(events)?.hash, folding.hash);
}

const OUTCOMES: readonly (readonly [fault: ApplyFault, result: string, applied: number, sends: number])[] = [
  ['lost_reply', 'completed', 1, 1],
  ['unavailable_after', 'completed', 1, 1],
  ['unavailable_before', 'completed', 1, 2],
  ['lost_request', 'completed', 1, 2],
  ['hang', 'completed', 1, 2],
  ['refused', 'failed', 0, 1],
  ['version_moved', 'failed', 0, 1],
];

for (const [fault, result, applied, sends] of OUTCOMES)
  test(`an owner's ${fault.replaceAll('_', ' ')} gives ${applied} effect in ${sends} sends, and the run is ${result}`, async () => {
    await using at = await world();
    at.target.faults.push(fault);
    const state = await approved(at);
    assert.deepEqual([state.result, at.target.appliedCount(), at.target.sendCount], [result, applied, sends]);
  });

test('an owner that keeps refusing before is tried as often as the skill says, and no more', async () => {
  await using at = await world();
  at.target.faults.push('unavailable_before', 'unavailable_before', 'unavailable_before');
  const state = await approved(at);
  assert.deepEqual([state.result, at.target.sendCount], ['failed', 2]);
  assert.match(state.endedReason ?? '', /2 attempts/);
});

test('a hidden read-back stays in doubt: no second attempt, and people are asked', async () => {
  await using at = await world();
  at.target.faults.push('lost_reply');
  at.target.hiddenReadBackCount = 1_000;
  const state = await approved(at);
  assert.equal(state.blocked?.code, 'EFFECT_UNKNOWN');
  assert.equal(at.target.sendCount, 1);
  const { desk } = at.runs.process;
  const [row] = await desk.effects(APPROVER, { state: 'unknown', runId: undefined, limit: 10 });
  assert.ok(row !== undefined);
  const signal = new AbortController().signal;
  const ask = { effectId: row.effectId, finding: undefined, reason: null };
  assert.equal((await desk.reconcile(APPROVER, ask, signal)).state, 'unknown');
  at.target.hiddenReadBackCount = 0;
  assert.equal((await desk.reconcile(INQUIRY_GRANT, ask, signal)).state, 'completed');
  assert.equal((await at.runs.settle(row.runId)).result, 'completed');
  assert.deepEqual([at.target.appliedCount(), at.target.sendCount], [1, 1]);
  await assert.rejects(desk.reconcile(APPROVER, ask, signal), hasCode('ERR_STATE'));
});

test('an absence that is not final stays in doubt; a person with the role clears it up in writing', async () => {
  await using at = await world({ authoritativeAbsence: false });
  at.target.faults.push('lost_request');
  const state = await approved(at);
  assert.equal(state.blocked?.code, 'EFFECT_UNKNOWN');
  const { desk } = at.runs.process;
  const [row] = await desk.effects(APPROVER, { state: 'unknown', runId: undefined, limit: 10 });
  assert.ok(row !== undefined);
  const signal = new AbortController().signal;
  const said = { effectId: row.effectId, finding: 'absent', reason: 'Asked the owner by phone.' } as const;
  await assert.rejects(desk.reconcile(INQUIRY_GRANT, said, signal), hasCode('ERR_APPROVER'));
  await assert.rejects(desk.reconcile(APPROVER, { ...said, reason: ' ' }, signal), hasCode('ERR_USAGE'));
  assert.equal((await desk.reconcile(APPROVER, said, signal)).state, 'failed');
  assert.deepEqual([(await at.runs.settle(row.runId)).result, at.target.sendCount], ['failed', 1]);
});

test('what the owner shows and was not approved is partial, and can be undone', async () => {
  await using at = await world();
  at.target.spoiled = true;
  const state = await approved(at);
  assert.deepEqual([state.result, state.needsHuman], ['partial', true]);
  const [row] = await at.runs.store.effects('t9', state.ref.runId);
  assert.equal(row?.state, 'partially_completed');
  const { desk } = at.runs.process;
  const undo = { effectId: row.effectId, reason: 'Wrong channel.' };
  const signal = new AbortController().signal;
  await assert.rejects(desk.compensate(INQUIRY_GRANT, undo, signal), hasCode('ERR_APPROVER'));
  assert.equal((await desk.compensate(APPROVER, undo, signal)).state, 'compensated');
  await assert.rejects(desk.compensate(APPROVER, undo, signal), hasCode('ERR_STATE'));
});

test('a resource that moved after the approval makes it stale; a new proposal is approved by itself', async () => {
  await using at = await world({}, { onPoint: (point) => void (point === 'looked_up' && move.shift()?.()) });
  const move: (() => void)[] = [() => at.target.move('notice-draft:D-1')];
  const state = await approved(at);
  assert.equal(state.blocked?.code, 'APPROVAL');
  assert.equal(at.target.sendCount, 0);
  const [row] = await at.runs.store.approvalList({ tenant: 't9', state: 'stale', limit: 10 });
  assert.ok(row !== undefined);
  assert.match(row.closedReason ?? '', /from v1 to v2/);
  await assert.rejects(at.runs.approve(row), hasCode('ERR_APPROVAL_STALE'));
  const next = await at.runs.process.desk.repropose(INQUIRY_GRANT, row.approvalId, new AbortController().signal);
  assert.equal(next.proposal.action.expectedVersion, 'v2');
  await at.runs.approve(next);
  assert.equal((await at.runs.settle(state.ref.runId)).result, 'completed');
});

test('a policy that moved makes approvals stale, before the decision and after', async () => {
  let policy = createApprovalPolicy('test', []);
  const moving: ApprovalPolicy = {
    get name() {
      return policy.name;
    },
    get digest() {
      return policy.digest;
    },
    reviewerRole: (action) => policy.reviewerRole(action),
    terms: (action, approval) => policy.terms(action, approval),
  };
  const other = createApprovalPolicy('test', [{ action: 'notify:send', role: 'approver' }]);
  await using before = await world({}, { policy: moving });
  const runId = await before.runs.open(['D-1']);
  const [row] = await before.runs.pending(runId);
  assert.ok(row !== undefined);
  policy = other;
  await assert.rejects(before.runs.approve(row), hasCode('ERR_APPROVAL_STALE'));
  policy = createApprovalPolicy('test', []);
  await using after = await world(
    {},
    { policy: moving, onPoint: (point) => void (point === 'looked_up' && (policy = other)) },
  );
  const state = await approved(after);
  assert.equal(state.blocked?.code, 'APPROVAL');
  assert.deepEqual([before.target.sendCount, after.target.sendCount], [0, 0]);
});

test('an approval that expired while it was queued begins nothing', async () => {
  const late: (() => void)[] = [];
  await using at = await world({}, { onPoint: (point) => void (point === 'live_read' && late.shift()?.()) });
  late.push(() => at.runs.clock.jump(2 * 3_600_000));
  const state = await approved(at);
  assert.equal(state.result, 'failed');
  assert.match(state.endedReason ?? '', /expired/);
  assert.equal(at.target.sendCount, 0);
});

test('the same approval submitted twice at once, after a restart and by replay is one effect', async () => {
  await using at = await world();
  const runId = await at.runs.open(['D-1']);
  const [row] = await at.runs.pending(runId);
  assert.ok(row !== undefined);
  const twice = await Promise.all([at.runs.approve(row), at.runs.approve(row)]);
  assert.deepEqual(
    twice.map(({ approvalId }) => approvalId),
    [row.approvalId, row.approvalId],
  );
  await at.runs.settle(runId);
  const { desk } = await at.runs.restart();
  assert.equal((await desk.decide(APPROVER, approvalOf(row))).state, 'spent');
  await assert.rejects(desk.decide(SECOND_APPROVER, approvalOf(row)), hasCode('ERR_APPROVAL_STATE'));
  assert.equal(at.target.appliedCount(), 1);
});

test('two pending approvals are decided in reverse order, and one digest does not approve the other', async () => {
  await using at = await world();
  const runId = await at.runs.open(['D-1', 'D-2']);
  const [b, a] = await at.runs.pending(runId);
  assert.ok(a !== undefined && b !== undefined);
  const crossed = { ...approvalOf(a), digest: b.proposal.actionDigest };
  await assert.rejects(at.runs.process.desk.decide(APPROVER, crossed), hasCode('ERR_APPROVAL_DIGEST'));
  await at.runs.approve(b);
  await at.runs.approve(a);
  assert.equal((await at.runs.settle(runId)).result, 'completed');
  assert.equal(at.target.appliedCount(), 2);
});

test('a second run with the same key gets the first record; with another body it is refused', async () => {
  await using at = await world({ keyed: ({ resource }) => `send:${resource}`, dedupes: true });
  await using other = await world({ keyed: () => 'send:always' });
  assert.equal((await approved(at)).result, 'completed');
  at.target.move('notice-draft:D-9');
  const again = await other.runs.open(['D-1', 'D-2']);
  for (const row of await other.runs.pending(again)) await other.runs.approve(row);
  const state = await other.runs.settle(again);
  assert.equal(state.result, 'failed');
  assert.equal(other.target.appliedCount(), 1);
  assert.match(state.endedReason ?? '', /send:always/);
});

test('two runs that race for one key are one effect, and both have its record', async () => {
  await using at = await world({ keyed: ({ resource }) => `send:${resource}` });
  const [a, b] = [await at.runs.open(['D-1']), await at.runs.open(['D-1'])];
  const rows = [...(await at.runs.pending(a)), ...(await at.runs.pending(b))];
  await Promise.all(rows.map((row) => at.runs.approve(row)));
  const states = [await at.runs.settle(a), await at.runs.settle(b)];
  assert.deepEqual(
    states.map(({ result }) => result),
    ['completed', 'completed'],
  );
  assert.equal(at.target.appliedCount(), 1);
  const data = states.map(({ steps }) => steps.get('e1')?.result?.data);
  assert.deepEqual(data[0], data[1]);
});

test('two effects on one resource are written one after the other, and the second sees that it moved', async () => {
  await using at = await world();
  const runId = await at.runs.open(['D-1', 'D-1']);
  for (const row of await at.runs.pending(runId)) await at.runs.approve(row);
  const state = await at.runs.settle(runId);
  assert.equal(at.target.appliedCount(), 1);
  assert.equal(state.blocked?.code, 'APPROVAL');
});

for (const point of WRITER_POINTS)
  test(`a process that dies at ${point} leaves one effect when another takes over`, async () => {
    let alive = true;
    await using at = await world(
      {},
      {
        onPoint: (now, life) => {
          if (now !== point || !alive) return undefined;
          alive = false;
          life.die();
          return new Promise(() => undefined);
        },
      },
    );
    const runId = await at.runs.open(['D-1']);
    for (const row of await at.runs.pending(runId)) await at.runs.approve(row);
    await at.runs.settle(runId);
    assert.equal(alive, false, 'it died');
    await at.runs.restart();
    const state = await at.runs.settle(runId);
    await lawful(at.runs, state);
    assert.deepEqual([state.result, at.target.appliedCount()], ['completed', 1]);
  });

test('a skill whose policy approves low risk is sent under the policy as the named principal', async () => {
  const policy = createApprovalPolicy('low-risk', [
    { action: 'notify:send', role: 'approver', policyApproves: 'Below 10 EUR.' },
  ]);
  await using at = await world({}, { policy, skill: { approval: 'policy' } });
  const runId = await at.runs.open(['D-1']);
  assert.equal((await at.runs.settle(runId)).result, 'completed');
  const [row] = await at.runs.store.approvalList({ tenant: 't9', runId, limit: 10 });
  assert.deepEqual(
    [row?.state, row?.decisions[0]?.by, row?.decisions[0]?.reason],
    ['spent', `policy:low-risk@${policy.digest}`, 'Below 10 EUR.'],
  );
});

test('a quorum needs different people', async () => {
  await using at = await world({}, { skill: { approval: 'quorum' } });
  const runId = await at.runs.open(['D-1']);
  const [row] = await at.runs.pending(runId);
  assert.ok(row !== undefined);
  assert.equal((await at.runs.approve(row)).state, 'pending');
  assert.equal((await at.runs.approve(row)).state, 'pending');
  await at.runs.approve(row, SECOND_APPROVER);
  assert.equal((await at.runs.settle(runId)).result, 'completed');
});
