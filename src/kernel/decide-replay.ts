/** A replay: the key has an effect already, of another run, with the same content. Its record is the answer; nothing is applied. INV-12. */
import type { CommandOf } from '#contracts/command.ts';
import { actionContentDigest } from './action-digest.ts';
import { goesOn } from './decide-approval.ts';
import { type Decision, refused } from './decision.ts';
import { conclude, failStep, lift, openDraft } from './draft.ts';
import { settleApplied } from './effect-result.ts';
import { isEffectStep, openApproval } from './effect-state.ts';
import { failure } from './failure.ts';
import { plannedRun } from './planned-run.ts';
import type { RunState } from './run-state.ts';

/**
 * Settles an effect step with the first record under its key. Refuses a record of another tenant, of other content, or whose outcome is
 * open: that belongs to the run which began it.
 */
export function decideReplayEffect(state: RunState, command: CommandOf<'replayEffect'>): Decision {
  const { stepId, planVersion, first, confirmed, at, actor } = command;
  const run = plannedRun(state);
  const step = state.steps.get(stepId);
  const effectStep = run !== undefined && step !== undefined && isEffectStep(step) && goesOn(state);
  if (!effectStep || planVersion !== run.accepted.plan.version || step.effectId !== undefined)
    return refused('ERR_STATE', `Run ${state.ref.runId} is ${state.phase}; step ${stepId} takes no replay.`);
  const approval = openApproval(state, step);
  if (step.phase !== 'ready' && approval === undefined)
    return refused('ERR_STATE', `Step ${stepId} is ${step.phase}; it takes no replay.`);
  if (first.tenant !== state.ref.tenant)
    return refused('ERR_DENIED', `Effect ${first.effectId} is not of tenant ${state.ref.tenant}.`);
  if (approval !== undefined && actionContentDigest(approval.proposal.action) !== first.contentDigest)
    return refused('ERR_IDEMPOTENCY_KEY_REUSED', `Key ${first.idempotencyKey} was used for another action.`);
  if (!SETTLED.has(first.state))
    return refused('ERR_EFFECT_LOCKED', `Effect ${first.effectId} under the same key is ${first.state}.`);
  const draft = openDraft(state, run, at);
  const evidence = confirmed === undefined ? {} : { evidence: confirmed.evidence };
  draft.events.push({
    kind: 'effect.replayed',
    body: {
      stepId,
      planVersion,
      effectId: first.effectId,
      ownerRunId: first.runId,
      state: first.state,
      receipt: first.receipt,
      ...evidence,
    },
  });
  if (approval !== undefined)
    draft.events.push({
      kind: 'approval.withdrawn',
      body: { approvalId: approval.approvalId, by: 'kernel', reason: `Its effect is there: ${first.effectId}.` },
    });
  lift(draft, actor);
  if (confirmed === undefined) {
    const message = `Effect ${first.effectId} under key ${first.idempotencyKey} is ${first.state}; a key is used once.`;
    failStep(draft, step, failure('ERR_EFFECT_REFUSED', message));
  } else settleApplied(draft, step, { ...confirmed, intendedAt: at });
  return conclude(draft);
}

const SETTLED: ReadonlySet<string> = new Set(['completed', 'partially_completed', 'failed', 'compensated']);
