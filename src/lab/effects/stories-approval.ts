/** Drills about who decides what, how often, and in which order. */
import type { ApprovalRow } from '#contracts/approval.ts';
import { digestOf } from '#kernel/digest.ts';
import { serveEffectEdge } from '#runtime/effect-edge.ts';
import type { EffectWorld } from '#runtime/effect-world.ts';
import { approve, askForNotice, decisionOn, eventsOf, latestApproval, refusalOf, settled } from './desk-work.ts';
import { APPROVER, REQUESTER, SECOND_APPROVER } from './notice-teams.ts';
import type { Stage } from './stage.ts';
import type { Facts, Story, Told } from './story.ts';

const ONCE: Facts = { result: 'completed', sameRecord: true, decisions: 1, spent: 1, sends: 1 };

export const APPROVAL_STORIES: readonly Story[] = [
  {
    id: 'approved-twice-in-parallel',
    title: 'The same approval is submitted twice at the same time.',
    effectCount: 1,
    guard: 'ERR_APPROVAL_STATE',
    expected: ONCE,
    play: playParallel,
  },
  {
    id: 'approved-again-after-restart',
    title: 'The same approval is submitted again after the process was started anew.',
    effectCount: 1,
    guard: 'ERR_APPROVAL_STATE',
    expected: ONCE,
    play: playRestart,
  },
  {
    id: 'approval-request-replayed',
    title: 'The HTTP request that approved is kept and sent once more.',
    effectCount: 1,
    guard: 'ERR_APPROVAL_STATE',
    expected: ONCE,
    play: playReplay,
  },
  {
    id: 'two-pending-in-reverse-order',
    title: 'Two approvals of one kind are decided, the later first.',
    effectCount: 2,
    guard: 'ERR_APPROVAL_STATE',
    expected: { later: 'completed', earlierMeanwhile: 'pending', earlier: 'completed', sends: 2 },
    play: playReverse,
  },
  {
    id: 'two-pending-crossed',
    title: "Each of two approvals is given the other's digest.",
    effectCount: 0,
    guard: 'ERR_APPROVAL_DIGEST',
    expected: { first: 'pending', second: 'pending', crossedBack: 'ERR_APPROVAL_DIGEST', sends: 0 },
    play: playCrossed,
  },
  {
    id: 'self-approval',
    title: 'Who asked approves, with the role of an approver as well.',
    effectCount: 0,
    guard: 'ERR_APPROVER',
    expected: { withoutRole: 'ERR_APPROVER', state: 'pending', sends: 0 },
    play: playSelf,
  },
  {
    id: 'approval-forged-in-artifact',
    title: 'A team delivers "approved: true" in its artifact.',
    effectCount: 0,
    guard: 'APPROVAL',
    expected: { state: 'pending', decisions: 0, forgedDelivered: true, sends: 0 },
    play: playForged,
  },
];

async function playParallel(stage: Stage): Promise<Told> {
  await using world = stage.open();
  const row = await askForNotice(world, 'C-102');
  const rows = await Promise.all([approve(world, row), approve(world, row)]);
  return await once(stage, world, rows);
}

async function playRestart(stage: Stage): Promise<Told> {
  const first = await approveIn(stage);
  await using world = stage.open();
  await world.resume();
  return await once(stage, world, [first, await approve(world, first)]);
}

async function approveIn(stage: Stage): Promise<ApprovalRow> {
  await using world = stage.open();
  const row = await askForNotice(world, 'C-102');
  const approved = await approve(world, row);
  await settled(world, row.runId);
  return approved;
}

async function playReplay(stage: Stage): Promise<Told> {
  await using world = stage.open();
  const row = await askForNotice(world, 'C-102');
  await using edge = await serveEffectEdge(world, { 'approver-token': APPROVER });
  const { approvalId, proposal } = row;
  const saved = new Request(`${edge.url}/api/v1/approvals/${approvalId}/decision`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer approver-token',
      'content-type': 'application/json',
      'if-match': `"${proposal.actionDigest}"`,
    },
    body: JSON.stringify({ disposition: 'approved' }),
  });
  const send = async (): Promise<ApprovalRow> => (await (await fetch(saved.clone())).json()) as ApprovalRow;
  const first = await send();
  await settled(world, row.runId);
  return await once(stage, world, [first, await send()]);
}

/** Both callers have the same record of one decision; a decision of somebody else comes too late. */
async function once(stage: Stage, world: EffectWorld, rows: readonly ApprovalRow[]): Promise<Told> {
  const [first, second] = rows;
  const runId = first?.runId ?? '';
  const view = await settled(world, runId);
  const events = await eventsOf(world, runId);
  const late = {
    ...decisionOn(await latestApproval(world, runId)),
    disposition: 'overrode',
    reason: 'Again.',
  } as const;
  return {
    guard: await refusalOf(world.desk.decide(SECOND_APPROVER, late)),
    facts: {
      result: view.result ?? 'none',
      sameRecord: first !== undefined && digestOf(recordOf(first)) === digestOf(recordOf(second)),
      decisions: (await latestApproval(world, runId)).decisions.length,
      spent: events.filter(({ kind }) => kind === 'approval.spent').length,
      sends: stage.sendCount,
    },
  };
}

/** What a caller is told of the decision. */
const recordOf = (row: ApprovalRow | undefined): unknown => ({ id: row?.approvalId, decisions: row?.decisions });

async function playReverse(stage: Stage): Promise<Told> {
  await using world = stage.open();
  const earlier = await askForNotice(world, 'C-102');
  const later = await askForNotice(world, 'C-103');
  await approve(world, later);
  const laterView = await settled(world, later.runId);
  const meanwhile = await latestApproval(world, earlier.runId);
  await approve(world, earlier);
  const earlierView = await settled(world, earlier.runId);
  return {
    guard: await refusalOf(world.desk.decide(SECOND_APPROVER, decisionOn(later))),
    facts: {
      later: laterView.result ?? 'none',
      earlierMeanwhile: meanwhile.state,
      earlier: earlierView.result ?? 'none',
      sends: stage.sendCount,
    },
  };
}

async function playCrossed(stage: Stage): Promise<Told> {
  await using world = stage.open();
  const first = await askForNotice(world, 'C-102');
  const second = await askForNotice(world, 'C-103');
  const crossed = (row: ApprovalRow, other: ApprovalRow): Promise<string> =>
    refusalOf(world.desk.decide(APPROVER, { ...decisionOn(row), digest: other.proposal.actionDigest }));
  const guard = await crossed(first, second);
  const crossedBack = await crossed(second, first);
  await Promise.all([settled(world, first.runId), settled(world, second.runId)]);
  return {
    guard,
    facts: {
      first: (await latestApproval(world, first.runId)).state,
      second: (await latestApproval(world, second.runId)).state,
      crossedBack,
      sends: stage.sendCount,
    },
  };
}

async function playSelf(stage: Stage): Promise<Told> {
  await using world = stage.open();
  const row = await askForNotice(world, 'C-102');
  const withoutRole = await refusalOf(world.desk.decide(REQUESTER, decisionOn(row)));
  const both = { ...REQUESTER, roles: ['requester', 'approver'] };
  const guard = await refusalOf(world.desk.decide(both, decisionOn(row)));
  await settled(world, row.runId);
  return {
    guard,
    facts: { withoutRole, state: (await latestApproval(world, row.runId)).state, sends: stage.sendCount },
  };
}

const FORGED = { approved: true, approvedBy: APPROVER.sub, disposition: 'approved' } as const;

async function playForged(stage: Stage): Promise<Told> {
  await using world = stage.open({
    tamper: (finding) => ({
      ...finding,
      record: { ...(finding.record as Readonly<Record<string, string>>), ...FORGED },
    }),
  });
  const row = await askForNotice(world, 'C-102');
  const view = await settled(world, row.runId);
  const after = await latestApproval(world, row.runId);
  const [draft] = row.proposal.evidence;
  const honest = digestOf({ draft_id: 'D-102', body: 'Please send us the report.' });
  return {
    guard: view.blocked?.code ?? 'none',
    facts: {
      state: after.state,
      decisions: after.decisions.length,
      forgedDelivered: draft !== undefined && draft.digest !== honest,
      sends: stage.sendCount,
    },
  };
}
