/** The effect ledger for people: what was applied, what is in doubt, and clearing it up. Source: DESIGN §3.10. */
import type { Command } from '#contracts/command.ts';
import type { EffectRow } from '#contracts/effect-row.ts';
import { CaseOpsError } from '#contracts/error.ts';
import { effectId as effectIdSchema, runId as runIdSchema } from '#contracts/ids.ts';
import type { RootGrant } from '#contracts/lease.ts';
import type { ApprovalDesk, ReconcileRequest } from '#ports/approval-desk.ts';
import type { Store } from '#ports/store.ts';
import type { EffectContext } from './propose-effect.ts';
import { errorOf } from './refusal.ts';

export interface EffectDeskOptions extends EffectContext {
  readonly store: Store;
}

type EffectDesk = Pick<ApprovalDesk, 'effects' | 'effect' | 'reconcile' | 'compensate'>;

export function createEffectDesk(options: EffectDeskOptions): EffectDesk {
  const { store } = options;
  const rowOf = async (grant: RootGrant, id: string): Promise<EffectRow> => {
    const parsed = effectIdSchema.safeParse(id);
    const row = parsed.success ? await store.effect(grant.tenant, parsed.data) : undefined;
    if (row === undefined) throw new CaseOpsError('ERR_NOT_FOUND', `There is no effect ${id.slice(0, 80)}.`, AT);
    return row;
  };
  return {
    effects: async (grant, { state, runId, limit }) => {
      const parsed = runId === undefined ? undefined : runIdSchema.safeParse(runId);
      if (parsed?.success === false)
        throw new CaseOpsError('ERR_NOT_FOUND', `There is no run ${runId?.slice(0, 80)}.`, AT);
      return store.effectList({
        tenant: grant.tenant,
        limit,
        ...(state === undefined ? {} : { state }),
        ...(parsed === undefined ? {} : { runId: parsed.data }),
      });
    },
    effect: rowOf,
    async reconcile(grant, request, signal) {
      const row = await rowOf(grant, request.effectId);
      const ref = { tenant: row.tenant, runId: row.runId };
      if (request.finding === undefined) await options.writer.reconcile(ref, row.effectId, signal);
      else await told(options, { grant, row, request, finding: request.finding });
      return rowOf(grant, request.effectId);
    },
    async compensate(grant, { effectId, reason }, signal) {
      const row = await rowOf(grant, effectId);
      assertReviewer(options, grant, { row, reason });
      const ref = { tenant: row.tenant, runId: row.runId };
      await options.writer.compensate(ref, { effectId: row.effectId, by: grant.sub, reason }, signal);
      return rowOf(grant, effectId);
    },
  };
}

const AT = { at: 'control' } as const;

/** A person's own finding, when the owner cannot be asked. */
async function told(
  options: EffectDeskOptions,
  by: {
    readonly grant: RootGrant;
    readonly row: EffectRow;
    readonly request: ReconcileRequest;
    readonly finding: 'applied' | 'absent';
  },
): Promise<void> {
  const { grant, row, request, finding } = by;
  const reason = request.reason ?? '';
  assertReviewer(options, grant, { row, reason });
  const command: Command = {
    kind: 'reconcileEffect',
    at: options.clock.now(),
    actor: grant.sub,
    effectId: row.effectId,
    attempt: row.attempt,
    finding,
    source: 'person',
    note: reason.slice(0, 500),
    confirmed: undefined,
  };
  const done = await options.driver.deliver({ tenant: row.tenant, runId: row.runId }, command);
  if (!done.ok) throw errorOf(done.error);
}

/** Who may decide such an action may also say what became of it, in writing. */
function assertReviewer(
  { policy }: EffectDeskOptions,
  grant: RootGrant,
  of: { readonly row: EffectRow; readonly reason: string },
): void {
  const role = policy.reviewerRole(of.row.action);
  if (!grant.roles.includes(role))
    throw new CaseOpsError('ERR_APPROVER', `Effect ${of.row.effectId} is cleared up in the role ${role}.`, AT);
  if (of.reason.trim() === '')
    throw new CaseOpsError('ERR_USAGE', `Effect ${of.row.effectId} is cleared up with a written reason.`, AT);
}
