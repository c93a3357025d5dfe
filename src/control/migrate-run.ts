/**
 * Moves a run to the contracts that are offered now, in a person's name: cards are read afresh, under the requester's grant of now; the
 * kernel decides. What was approved under another contract is proposed again at once. Decision 0021.
 */
import { CaseOpsError } from '#contracts/error.ts';
import type { RootGrant } from '#contracts/lease.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { CapabilityDirectory } from './capability-directory.ts';
import { type EffectContext, proposeEffect } from './propose-effect.ts';
import { errorOf } from './refusal.ts';

export interface MigrateContext extends EffectContext {
  readonly directory: CapabilityDirectory;
  readonly grants: (subject: string, tenant: string) => RootGrant | undefined;
  /** Undefined: nothing can be applied here, and no policy is in force. */
  readonly effects?: unknown;
}

/** Throws what the kernel refuses with, and ERR_DENIED when the requester has no grant any more. */
export async function migrateRun(
  context: MigrateContext,
  of: { readonly state: RunState; readonly by: RootGrant; readonly reason: string },
  signal: AbortSignal,
): Promise<void> {
  const { state, by, reason } = of;
  const { driver, directory, clock, ids } = context;
  const requestedBy = state.goal?.requestedBy ?? by.sub;
  const grant = context.grants(requestedBy, state.ref.tenant);
  if (grant === undefined)
    throw new CaseOpsError('ERR_DENIED', `${requestedBy} has no grant for tenant ${state.ref.tenant} any more.`, {
      at: 'control',
    });
  for (const team of directory.teams) directory.forget(team);
  const migrated = await driver.deliver(state.ref, {
    kind: 'migrate',
    at: clock.now(),
    actor: by.sub,
    planId: ids.next('plan'),
    snapshot: await directory.snapshot(grant, signal),
    approvalPolicyDigest: context.effects === undefined ? undefined : context.policy.digest,
    reason,
  });
  if (!migrated.ok) throw errorOf(migrated.error);
  await proposeAgain(context, migrated.state, signal);
}

/** One that cannot be proposed now stays stale, and can be proposed again later. */
async function proposeAgain(context: MigrateContext, state: RunState, signal: AbortSignal): Promise<void> {
  for (const stepId of state.waitingEffects) {
    const approvalId = state.steps.get(stepId)?.approvalId;
    if (approvalId === undefined || state.approvals.get(approvalId)?.state !== 'stale') continue;
    try {
      await proposeEffect(context, state, { stepId, signal });
    } catch (error) {
      if (!(error instanceof CaseOpsError)) throw error;
    }
  }
}
