/** Drills about what an approval is bound to: the packet, the resource's version, the policy, its time, its key. */
import { actionDigest } from '#kernel/action-digest.ts';
import type { ApprovalRow } from '#contracts/approval.ts';
import type { EffectWorld } from '#runtime/effect-world.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { DatabaseSync } from 'node:sqlite';
import { approve, askForNotice, decisionOn, eventsOf, latestApproval, refusalOf, settled } from './desk-work.ts';
import { APPROVER } from './notice-teams.ts';
import type { Stage, WorldSetting } from './stage.ts';
import { effectFacts } from './stories-owner.ts';
import type { Story, Told } from './story.ts';

export const BINDING_STORIES: readonly Story[] = [
  {
    id: 'packet-edited-before-decision',
    title: 'The approver is shown another packet than the one that waits.',
    effectCount: 0,
    guard: 'ERR_APPROVAL_DIGEST',
    expected: { state: 'pending', sends: 0 },
    play: playEditedView,
  },
  {
    id: 'packet-edited-after-approval',
    title: 'The stored packet is edited after it was approved.',
    effectCount: 0,
    guard: 'ERR_STORE',
    expected: { approved: 'approved', edited: 1, taken: 0, sends: 0 },
    play: playEditedStore,
  },
  {
    id: 'resource-version-moved',
    title: 'Somebody changes the resource between the request and the decision.',
    effectCount: 0,
    guard: 'resource_version',
    expected: { state: 'stale', effect: 'none', attempts: 0, decidedAgain: 'ERR_APPROVAL_STATE', sends: 0 },
    play: playMoved,
  },
  {
    id: 'resource-version-moved-under-way',
    title: "Somebody changes the resource after the writer's last look: the owner's own precondition refuses.",
    effectCount: 0,
    guard: 'ERR_EFFECT_PRECONDITION',
    expected: { result: 'failed', effect: 'failed', attempts: 1, sends: 1 },
    play: playMovedUnderWay,
  },
  {
    id: 'policy-version-moved',
    title: 'The approval policy changes between the decision and the effect.',
    effectCount: 0,
    guard: 'policy_version',
    expected: { approved: 'approved', state: 'stale', sends: 0 },
    play: (stage) => laterIn(stage, { policy: { revision: 2 } }),
  },
  {
    id: 'approval-expired-while-queued',
    title: 'The approval expires before the writer comes to it.',
    effectCount: 0,
    guard: 'ERR_APPROVAL_EXPIRED',
    expected: { approved: 'approved', state: 'expired', sends: 0 },
    play: playExpired,
  },
  {
    id: 'same-key-other-body',
    title: 'Another action comes under a key that has its effect.',
    effectCount: 1,
    guard: 'ERR_IDEMPOTENCY_KEY_REUSED',
    expected: { first: 'completed', second: 'failed', sends: 1 },
    play: playKeyReused,
  },
];

async function playEditedView(stage: Stage): Promise<Told> {
  await using world = stage.open();
  const row = await askForNotice(world, 'C-102');
  const { action } = row.proposal;
  const shown = { ...action, parameters: { ...action.parameters, channel: 'post' } };
  const request = { ...decisionOn(row), digest: actionDigest(shown) };
  const guard = await refusalOf(world.desk.decide(APPROVER, request));
  await settled(world, row.runId);
  return { guard, facts: { state: (await latestApproval(world, row.runId)).state, sends: stage.sendCount } };
}

/** Approves while the writer is held, and leaves the run so. */
async function approveHeld(stage: Stage, setting: WorldSetting = {}): Promise<ApprovalRow> {
  await using world = stage.open({ ...setting, held: true });
  // Awaited: the world is released as soon as this returns.
  return await approve(world, await askForNotice(world, 'C-102'));
}

async function playEditedStore(stage: Stage): Promise<Told> {
  const { runId, state } = await approveHeld(stage);
  const edited = editRequest(stage.path, runId);
  await using world = stage.open();
  const taken = await world.resume();
  const error = stage.errors.find(({ message }) => message.includes('chain'));
  return { guard: error?.code ?? 'none', facts: { approved: state, edited, taken, sends: stage.sendCount } };
}

/** Changes what is to be sent, in the event that holds the request; returns how many rows were changed. */
function editRequest(path: string, runId: string): number {
  using database = new DatabaseSync(path);
  const edit = `update event_batch set json = replace(json, '"channel":"mail"', '"channel":"post"')
    where run_id = ? and json like '%"kind":"approval.requested"%'`;
  return Number(database.prepare(edit).run(runId).changes);
}

async function playMoved(stage: Stage): Promise<Told> {
  await using world = stage.open();
  const row = await askForNotice(world, 'C-102');
  stage.owner.put('t9', 'D-102', { draft_id: 'D-102', channel: 'none', edited: true });
  await approve(world, row);
  const view = await settled(world, row.runId);
  return {
    guard: await staledField(world, row),
    facts: {
      state: (await latestApproval(world, row.runId)).state,
      ...effectFacts(view),
      decidedAgain: await refusalOf(
        world.desk.decide(APPROVER, { ...decisionOn(row), disposition: 'overrode', reason: 'Send it.' }),
      ),
      sends: stage.sendCount,
    },
  };
}

async function playMovedUnderWay(stage: Stage): Promise<Told> {
  await using world = stage.open();
  const row = await askForNotice(world, 'C-102');
  stage.owner.fault = 'move_version';
  await approve(world, row);
  const view = await settled(world, row.runId);
  const codes = view.steps.flatMap(({ errors }) => errors.map(({ code }) => code));
  return {
    guard: codes[0] ?? 'none',
    facts: { result: view.result ?? 'none', ...effectFacts(view), sends: stage.sendCount },
  };
}

/** Approved in one world, taken up in the next, which is set otherwise. */
async function laterIn(stage: Stage, setting: WorldSetting, approved?: ApprovalRow): Promise<Told> {
  const row = approved ?? (await approveHeld(stage));
  await using world = stage.open(setting);
  await world.resume();
  const view = await settled(world, row.runId);
  const { state } = await latestApproval(world, row.runId);
  const codes = view.steps.flatMap(({ errors }) => errors.map(({ code }) => code));
  return {
    guard: state === 'stale' ? await staledField(world, row) : (codes[0] ?? 'none'),
    facts: { approved: row.state, state, sends: stage.sendCount },
  };
}

const EXPIRES_IN_MS = 1_500;

async function playExpired(stage: Stage): Promise<Told> {
  const row = await approveHeld(stage, { policy: { expiresInMs: EXPIRES_IN_MS } });
  await systemClock.sleep(Math.max(0, Date.parse(row.requestedAt) + EXPIRES_IN_MS + 50 - systemClock.nowMs()));
  return laterIn(stage, { policy: { expiresInMs: EXPIRES_IN_MS } }, row);
}

async function playKeyReused(stage: Stage): Promise<Told> {
  await using world = stage.open({ keyOf: () => 'notice-of-the-day' });
  const row = await askForNotice(world, 'C-102');
  const other = await askForNotice(world, 'C-103');
  await approve(world, row);
  const first = await settled(world, row.runId);
  await approve(world, other);
  const second = await settled(world, other.runId);
  const codes = second.steps.flatMap(({ errors }) => errors.map(({ code }) => code));
  return {
    guard: codes[0] ?? 'none',
    facts: { first: first.result ?? 'none', second: second.result ?? 'none', sends: stage.sendCount },
  };
}

/** The bound field that made the approval stale, as the log says. */
async function staledField(world: EffectWorld, { runId }: ApprovalRow): Promise<string> {
  const fields = (await eventsOf(world, runId)).flatMap((event) =>
    event.kind === 'approval.staled' ? [event.body.field] : [],
  );
  return fields.at(-1) ?? 'none';
}
