/**
 * The links from what was read back of an effect to what authorised it: ledger row with key and expected version, step, lease of the one
 * writer, approval. INV-04, INV-13. Source: DESIGN §3.10.
 */
import type { StepId } from '#contracts/ids.ts';
import type { WhyLink } from '#contracts/run-view.ts';
import { actionContentDigest, actionDigest } from '#kernel/action-digest.ts';
import type { StepState } from '#kernel/run-state.ts';
import type { EffectProof } from './effect-proof.ts';
import type { RunRecord } from './run-record.ts';
import { broken, link } from './why-link.ts';

export function effectLinks(
  record: RunRecord,
  of: { readonly stepId: StepId; readonly proof: EffectProof },
): readonly WhyLink[] {
  const { stepId, proof } = of;
  const step = record.state.steps.get(stepId);
  if (step === undefined) return [broken('step', stepId, { why: 'The run has no such step.' })];
  return [ledgerLink(proof), stepLink(record, step, proof), leaseLink(step, proof), approvalLink(step, proof)];
}

const DONE: readonly string[] = ['completed', 'partially_completed'];

function ledgerLink({ record: { receipt }, row }: EffectProof): WhyLink {
  const { effectId } = receipt;
  if (row === undefined) return broken('effect_ledger', effectId, { why: 'The effect ledger has no row for it.' });
  const detail = {
    idempotencyKey: row.idempotencyKey,
    expectedVersion: row.expectedVersion ?? 'none',
    resultVersion: receipt.resultVersion ?? undefined,
    actionDigest: row.actionDigest,
    receiptId: receipt.receiptId,
    reference: receipt.reference,
    runId: row.runId,
  };
  if (!DONE.includes(row.state))
    return broken('effect_ledger', effectId, { why: `The ledger says ${row.state}.`, detail });
  const same =
    row.actionDigest === receipt.actionDigest &&
    row.idempotencyKey === receipt.idempotencyKey &&
    row.resource === receipt.resource &&
    row.receipt?.receiptId === receipt.receiptId;
  if (!same) return broken('effect_ledger', effectId, { why: 'The receipt is not that of the ledger row.', detail });
  return link('effect_ledger', effectId, {
    note: `${row.action} on ${row.resource} at ${row.expectedVersion ?? 'no version'}, once, under ${row.idempotencyKey}`,
    verdict: 'Known',
    detail,
  });
}

/** The log itself confirms the effect, or takes it over from the run that was first. */
function stepLink(record: RunRecord, step: StepState, { record: { receipt } }: EffectProof): WhyLink {
  const { stepId, skillId, skillVersion } = step.definition;
  const { effectId } = receipt;
  const said = record.events.find(
    (event) =>
      (event.kind === 'effect.confirmed' && event.body.receipt.receiptId === receipt.receiptId) ||
      (event.kind === 'effect.replayed' && event.body.effectId === effectId),
  );
  const detail = { effectId, status: step.result?.status, resultHash: step.result?.resultHash };
  if (said === undefined) return broken('step', stepId, { why: 'The log has no confirmation of this effect.', detail });
  const how = said.kind === 'effect.replayed' ? 'the first record under its key' : 'applied by the writer';
  return link('step', stepId, { note: `${skillId} ${skillVersion}, ${how}`, verdict: 'Accepted', detail });
}

function leaseLink(step: StepState, { row, lease }: EffectProof): WhyLink {
  const ref = row?.leaseId ?? 'none';
  if (row === undefined || lease === undefined)
    return broken('lease', ref, { why: 'The lease registry has no row for this effect.' });
  const detail = {
    subject: lease.subject,
    actor: lease.actor,
    audience: lease.audience,
    actions: lease.actions.join(', '),
    resources: lease.resources.join(', '),
    purpose: lease.purpose,
    use: lease.use,
  };
  const wrong = [
    ...(lease.actions.every((action) => step.definition.actions.includes(action)) ? [] : ['actions']),
    ...(lease.resources.length === 1 && lease.resources[0] === row.resource ? [] : ['resource']),
    ...(lease.runId === row.runId && lease.stepId === row.stepId ? [] : ['step']),
    ...(lease.use === 'single' ? [] : ['use']),
  ];
  if (wrong.length > 0)
    return broken('lease', ref, { why: `It is not one for this effect alone: ${wrong.join(', ')}.`, detail });
  const note = `${lease.actions.join(', ')} on ${row.resource}, ${lease.expiresAt - lease.issuedAt} s, ${lease.use}`;
  return link('lease', ref, { note, verdict: 'Known', detail });
}

/** Of exactly this action, spent on it, by people who did not ask for it, as many as the rule says. */
function approvalLink(step: StepState, { row, approval }: EffectProof): WhyLink {
  const ref = row?.approvalId ?? step.definition.stepId;
  if (row === undefined || approval === undefined)
    return broken('approval', ref, { why: 'There is no record of the approval.' });
  const { action, rule, viewDigest } = approval.proposal;
  const granting = approval.decisions.filter(({ disposition }) => disposition !== 'rejected');
  const detail = {
    state: approval.state,
    decidedBy: granting.map(({ by, role, channel }) => `${by} as ${role} by ${channel}`).join(', '),
    decidedAt: granting.at(-1)?.decidedAt,
    actionDigest: approval.proposal.actionDigest,
    viewDigest,
    policyDigest: rule.policyDigest,
    requestedBy: action.requestedBy,
  };
  const bound =
    approval.proposal.actionDigest === row.actionDigest &&
    actionDigest(action) === row.actionDigest &&
    actionContentDigest(action) === row.contentDigest &&
    granting.every((decision) => decision.actionDigest === row.actionDigest);
  if (!bound) return broken('approval', ref, { why: 'It is not of the action that was applied.', detail });
  if (approval.state !== 'spent')
    return broken('approval', ref, { why: `It is ${approval.state}, not spent.`, detail });
  const others = new Set(granting.map(({ by }) => by).filter((by) => by !== action.requestedBy));
  if (others.size < rule.quorumCount)
    return broken('approval', ref, { why: `${others.size} of ${rule.quorumCount} approvers decided.`, detail });
  return link('approval', ref, { note: `approved by ${[...others].join(', ')}, spent once`, verdict: 'Bound', detail });
}
