/**
 * The approval desk: what waits for a decision, and the decision itself, in the name of an authenticated person. Whether it counts is the
 * kernel's to say. Nothing that comes in a message, an artifact or a tool result reaches this door. Source: DESIGN §3.10.
 */
import type { ApprovalRow } from '#contracts/approval.ts';
import type { Command, RunRef } from '#contracts/command.ts';
import { CaseOpsError } from '#contracts/error.ts';
import { anchorAtVersion } from '#contracts/evidence.ts';
import { approvalId as approvalIdSchema, digest as digestSchema, runId as runIdSchema } from '#contracts/ids.ts';
import type { RunId } from '#contracts/ids.ts';
import type { RootGrant } from '#contracts/lease.ts';
import { digestOf } from '#kernel/digest.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { ApprovalDesk, DecideRequest } from '#ports/approval-desk.ts';
import type { Driver } from '#ports/driver.ts';
import type { Store } from '#ports/store.ts';
import { createEffectDesk } from './effect-desk.ts';
import { type EffectContext, proposeEffect } from './propose-effect.ts';
import { errorOf } from './refusal.ts';

export interface ApprovalDeskOptions extends EffectContext {
  readonly store: Store;
  /** Where a person's training for a role is recorded; null when nowhere. */
  readonly training?: ((subject: string, role: string) => string | null) | undefined;
}

const REASON_LENGTH_MAX = 2_000;

export function createApprovalDesk(options: ApprovalDeskOptions): ApprovalDesk {
  const { store } = options;
  const rowOf = async (grant: RootGrant, id: string): Promise<ApprovalRow> => {
    const parsed = approvalIdSchema.safeParse(id);
    const row = parsed.success ? await store.approval(grant.tenant, parsed.data) : undefined;
    if (row === undefined) throw new CaseOpsError('ERR_NOT_FOUND', `There is no approval ${id.slice(0, 80)}.`, AT);
    return row;
  };
  return {
    ...createEffectDesk(options),
    approvals: async (grant, { state, runId, limit }) =>
      store.approvalList({
        tenant: grant.tenant,
        limit,
        ...(state === undefined ? {} : { state }),
        ...(runId === undefined ? {} : { runId: asRunId(runId) }),
      }),
    approval: rowOf,
    async decide(grant, request) {
      const row = await rowOf(grant, request.approvalId);
      const command = decideCommand(options, { grant, row, request });
      await bindKey(store, { grant, row, request });
      await deliver(options, row, command);
      const after = await rowOf(grant, request.approvalId);
      if (after.state === 'stale')
        throw new CaseOpsError(
          'ERR_APPROVAL_STALE',
          `Approval ${after.approvalId} is stale: ${after.closedReason}`,
          AT,
        );
      return after;
    },
    async withdraw(grant, { approvalId, reason }) {
      const row = await rowOf(grant, approvalId);
      const at = options.clock.now();
      const { approvalId: id } = row;
      await deliver(options, row, {
        kind: 'withdrawApproval',
        at,
        actor: grant.sub,
        approvalId: id,
        reason: reason.slice(0, 1_000),
      });
      return rowOf(grant, approvalId);
    },
    async repropose(grant, approvalId, signal) {
      const row = await rowOf(grant, approvalId);
      if (row.state !== 'stale')
        throw new CaseOpsError('ERR_APPROVAL_STATE', `Approval ${row.approvalId} is ${row.state}, not stale.`, AT);
      assertConcerned(grant, row);
      const state = await stateOf(options.driver, refOf(row));
      const next = await proposeEffect(options, state, { stepId: row.stepId, signal });
      return rowOf(grant, next ?? approvalId);
    },
  };
}

const AT = { at: 'control' } as const;

function decideCommand(
  { clock, policy, training }: ApprovalDeskOptions,
  by: { readonly grant: RootGrant; readonly row: ApprovalRow; readonly request: DecideRequest },
): Command {
  const { grant, row, request } = by;
  const { rule, evidence, viewDigest } = row.proposal;
  const digest = digestSchema.safeParse(request.digest);
  if (!digest.success)
    throw new CaseOpsError('ERR_USAGE', 'A decision names the digest of the action, sha256:… as it was shown.', AT);
  if (!grant.roles.includes(rule.role))
    throw new CaseOpsError(
      'ERR_APPROVER',
      `Approval ${row.approvalId} is decided in the role ${rule.role}; ${grant.sub} has ${grant.roles.join(', ') || 'none'}.`,
      AT,
    );
  const at = clock.now();
  return {
    kind: 'decideApproval',
    at,
    actor: grant.sub,
    approvalId: row.approvalId,
    policyDigest: policy.digest,
    decision: {
      by: grant.sub,
      role: rule.role,
      trainingRef: training?.(grant.sub, rule.role) ?? null,
      channel: request.channel,
      disposition: request.disposition,
      reason: request.reason === null ? null : request.reason.slice(0, REASON_LENGTH_MAX),
      evidenceInView: [...(request.evidenceInView ?? evidence.map(anchorAtVersion))].slice(0, 1_000),
      actionDigest: digest.data,
      viewDigest,
      decidedAt: at,
    },
  };
}

/** A key is for one decision: the reviewer who repeats it meets their own, and one who reuses it for another is told. */
async function bindKey(
  store: Store,
  by: { readonly grant: RootGrant; readonly row: ApprovalRow; readonly request: DecideRequest },
): Promise<void> {
  const { grant, row, request } = by;
  const { idempotencyKey: key, approvalId, digest, disposition, reason } = request;
  if (key === undefined) return;
  const requestDigest = digestOf({ approvalId, digest, disposition, reason });
  const scope = `decision ${grant.tenant} ${grant.sub}`;
  const { tenant } = grant;
  const bound = await store.write([{ table: 'idempotency', tenant, scope, key, requestDigest, runId: row.runId }]);
  if (bound.ok || (bound.conflict === 'record' && bound.requestDigest === requestDigest)) return;
  throw new CaseOpsError('ERR_IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used for another decision.', AT);
}

async function deliver({ driver }: ApprovalDeskOptions, row: ApprovalRow, command: Command): Promise<void> {
  const done = await driver.deliver(refOf(row), command);
  if (!done.ok) throw errorOf(done.error);
}

/** The requester, or who may decide. */
function assertConcerned(grant: RootGrant, { approvalId, proposal }: ApprovalRow): void {
  if (grant.sub === proposal.action.requestedBy || grant.roles.includes(proposal.rule.role)) return;
  throw new CaseOpsError('ERR_DENIED', `Approval ${approvalId} is renewed by who asked for it or by an approver.`, AT);
}

async function stateOf(driver: Driver<RunState>, ref: RunRef): Promise<RunState> {
  const state = await driver.state(ref);
  if (state === undefined) throw new CaseOpsError('ERR_NOT_FOUND', `There is no run ${ref.runId}.`, AT);
  return state;
}

function refOf({ tenant, runId }: ApprovalRow): RunRef {
  return { tenant, runId };
}

/** An id that is none matches nothing. */
function asRunId(runId: string): RunId {
  const parsed = runIdSchema.safeParse(runId);
  if (parsed.success) return parsed.data;
  throw new CaseOpsError('ERR_NOT_FOUND', `There is no run ${runId.slice(0, 80)}.`, AT);
}
