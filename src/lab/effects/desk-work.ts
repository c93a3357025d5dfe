/** What people do in a drill: ask, look, decide. */
import type { ApprovalRow } from '#contracts/approval.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { RunEvent } from '#contracts/event.ts';
import type { RunId } from '#contracts/ids.ts';
import type { RunView } from '#contracts/run-view.ts';
import type { DecideRequest } from '#ports/approval-desk.ts';
import type { EffectWorld } from '#runtime/effect-world.ts';
import { APPROVER, REQUESTER } from './notice-teams.ts';

const SETTLE_MS_MAX = 20_000;
const EVENT_COUNT_MAX = 1_000;

/** Asks for the notice of a claim; resolves with what then waits for approval. */
export async function askForNotice(world: EffectWorld, claimId: string): Promise<ApprovalRow> {
  const { view } = await world.desk.submit(REQUESTER, {
    text: `Draft the notice for ${claimId} and send it after approval.`,
    language: undefined,
    sessionId: undefined,
    idempotencyKey: undefined,
  });
  await settled(world, view.runId);
  return latestApproval(world, view.runId);
}

/** The run's newest request; throws ERR_NOT_FOUND when it asked for none. */
export async function latestApproval({ desk }: EffectWorld, runId: string): Promise<ApprovalRow> {
  const [row] = await desk.approvals(APPROVER, { state: undefined, runId, limit: 1 });
  if (row !== undefined) return row;
  const view = await desk.view(REQUESTER, runId);
  const said = view.steps.flatMap(({ errors }) => errors.map(({ message }) => message)).join(' ');
  throw new CaseOpsError('ERR_NOT_FOUND', `Run ${runId} is ${view.state} and asked for no approval. ${said}`, {
    at: 'lab',
  });
}

export function decisionOn({ approvalId, proposal }: ApprovalRow): DecideRequest {
  return {
    approvalId,
    digest: proposal.actionDigest,
    disposition: 'approved',
    reason: null,
    evidenceInView: undefined,
    channel: 'cli',
  };
}

export function approve({ desk }: EffectWorld, row: ApprovalRow): Promise<ApprovalRow> {
  return desk.decide(APPROVER, decisionOn(row));
}

/** Resolves when the run has ended or stands still for people. */
export async function settled(
  { desk, driver }: EffectWorld,
  runId: string,
  timeoutMs = SETTLE_MS_MAX,
): Promise<RunView> {
  const ref = { tenant: REQUESTER.tenant, runId: runId as RunId };
  await driver.settled(ref, AbortSignal.timeout(timeoutMs));
  return desk.view(REQUESTER, runId);
}

export function eventsOf({ store }: EffectWorld, runId: string): Promise<readonly RunEvent[]> {
  return store.events({ tenant: REQUESTER.tenant, runId: runId as RunId }, 0, EVENT_COUNT_MAX);
}

/** The code with which a call was refused, `none` when it was not. */
export async function refusalOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'none';
  } catch (error) {
    if (error instanceof CaseOpsError) return error.code;
    throw error;
  }
}
