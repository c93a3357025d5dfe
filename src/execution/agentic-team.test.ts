import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { RunRef } from '#contracts/command.ts';
import { runId } from '#contracts/ids.ts';
import type { RunEvent } from '#contracts/event.ts';
import type { ToolProposalRequest, ToolProposer } from '#ports/model.ts';
import type { Store } from '#ports/store.ts';
import type { SubmitOutcome } from '#ports/team-door.ts';
import { NOW, pending } from '#testing/claim-desk.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { DESK_CALLER, teamWorld } from '#testing/team-world.ts';
import { createScriptedProposer, type ProposerTurn } from './scripted-proposer.ts';

const BUDGET = { budget: { modelTokenCountMax: 100, toolCallCountMax: 4, timeoutMs: 3_000 } };
const read: ProposerTurn = { kind: 'call', tool: 'claims-db/get_claim', arguments: { claim_id: 'C-102' } };
const finish: ProposerTurn = {
  kind: 'finish',
  data: ({ observations }: ToolProposalRequest) => {
    const seen = observations.findLast((one) => one.kind === 'records');
    const evidenceId = seen?.kind === 'records' ? seen.records[0]?.evidenceId : '';
    return { status: { evidenceId, pointer: '/status' }, missing: { evidenceId, pointer: '/missing' } };
  },
};
const scripted = (...turns: [ProposerTurn, ...ProposerTurn[]]): ToolProposer =>
  createScriptedProposer(turns, { clock: seededClock(Date.parse(NOW)) });

function refOf(outcome: SubmitOutcome): RunRef {
  assert.ok(outcome.ok, outcome.ok ? '' : outcome.error.message);
  return { tenant: 't9', runId: runId.parse(outcome.task.taskId) };
}

type Proposed = Extract<RunEvent, { kind: 'worker.proposed' }>;

async function proposalsOf(store: Store, ref: RunRef): Promise<readonly Proposed[]> {
  return (await store.events(ref, 0, 1_000)).filter((event) => event.kind === 'worker.proposed');
}

test("each proposal is in the team run's log with its verdict, and its tokens are debited from the run's budget", async () => {
  const invented: ProposerTurn = { kind: 'finish', data: () => ({ status: 'approved', missing: [] }) };
  await using world = teamWorld({ agent: { model: scripted(read, invented, finish) } });
  const ref = refOf(await world.door.submit(world.submission(BUDGET)));
  const state = await world.driver.settled(ref);
  assert.equal(state.result, 'completed', JSON.stringify(state.errors));
  const proposals = await proposalsOf(world.store, ref);
  assert.deepEqual(
    proposals.map(({ body }) => [body.stepId, body.attempt, body.index, body.proposed, body.verdict, body.reason]),
    [
      ['w1', 1, 1, 'call', 'permitted', 'lawful'],
      ['w1', 1, 2, 'finish', 'refused', 'invented'],
      ['w1', 1, 3, 'finish', 'permitted', 'lawful'],
    ],
  );
  assert.deepEqual([state.budget?.modelTokenCountUsed, state.budget?.modelTokenCountReserved], [30, 0]);
  const view = await world.door.task(DESK_CALLER, ref.runId);
  assert.deepEqual(view?.artifacts[0]?.data, pending.data);
  for (const event of await world.store.events(ref, 0, 1_000))
    assert.doesNotMatch(JSON.stringify(event), /approved/, 'what a model spells is in no event');
});

test('a worker that its model leads nowhere fails its run with the reason, and the tokens are gone all the same', async () => {
  await using world = teamWorld({ agent: { model: scripted({ kind: 'text', text: '?', modelTokenCount: 40 }) } });
  const ref = refOf(await world.door.submit(world.submission(BUDGET)));
  const state = await world.driver.settled(ref);
  assert.equal(state.result, 'failed');
  assert.equal(state.errors.at(-1)?.code, 'ERR_BUDGET');
  assert.equal(state.budget?.modelTokenCountUsed, 100);
});

test('after a restart steps and tokens of the same attempt go on, and no proposal is noted twice', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'agentic-'));
  const path = join(directory, 'team.sqlite');
  const clock = seededClock(Date.parse(NOW));
  const hangs = Promise.withResolvers<void>();
  const first = scripted(read);
  const dying: ToolProposer = {
    propose: async (request, bounds) => {
      if (request.observations.length === 0) return first.propose(request, bounds);
      hangs.resolve();
      return new Promise(() => undefined);
    },
  };
  let ref: RunRef;
  {
    await using world = teamWorld({ path, clock, agent: { model: dying } });
    ref = refOf(await world.door.submit(world.submission(BUDGET)));
    await hangs.promise;
  }
  await using world = teamWorld({ path, clock, seed: 2, agent: { model: scripted(read, finish) } });
  await world.driver.resume('team');
  await world.door.submit(world.submission(BUDGET));
  const state = await world.driver.settled(ref);
  assert.equal(state.result, 'completed', JSON.stringify(state.errors));
  const proposals = await proposalsOf(world.store, ref);
  assert.deepEqual(
    proposals.map(({ body }) => body.index),
    [1, 2, 3],
  );
  assert.equal(state.budget?.modelTokenCountUsed, 30);
  rmSync(directory, { recursive: true });
});
