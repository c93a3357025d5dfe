/** The invariants of approvals and effects, as assertions over a state and the event that comes next. INV-04, INV-12, INV-13. */
import type { EventKind, RunEvent } from '#contracts/event.ts';
import { actionDigest } from './action-digest.ts';
import type { RunState } from './run-state.ts';
import { millisOf } from './time.ts';

type EventOf<K extends EventKind> = Extract<RunEvent, { readonly kind: K }>;

/** INV-04: each effect leads to authorisation, approval record, expected version and idempotency key. */
export function effectAuthorised(state: RunState, event: RunEvent): readonly string[] {
  if (event.kind === 'effect.intended') return unauthorised(state, event);
  return event.kind === 'effect.retried' ? retriedWithout(state, event) : [];
}

/** INV-12: at most one effect per key, and nothing is sent again but what the owner said was not applied. */
export function oneEffectPerKey(state: RunState, event: RunEvent): readonly string[] {
  if (event.kind === 'effect.intended') {
    const { effectId, action } = event.body;
    return [...state.effects.values()]
      .filter((other) => other.effectId === effectId || other.action.idempotencyKey === action.idempotencyKey)
      .map((other) => `Effect ${effectId} has the key of ${other.effectId}.`);
  }
  if (event.kind === 'effect.retried') {
    const found = state.effects.get(event.body.effectId)?.state ?? 'none';
    return found === 'not_started' ? [] : [`Effect ${event.body.effectId} is ${found} and is tried again.`];
  }
  if (event.kind !== 'effect.sent') return [];
  const { effectId, attempt } = event.body;
  const effect = state.effects.get(effectId);
  const under = effect?.state === 'in_progress' && effect.attempt === attempt && !effect.sent;
  return under ? [] : [`Attempt ${attempt} of effect ${effectId} was sent and was not under way.`];
}

/** INV-13: an approval is spent at most once, while it is granted and has not expired. */
export function approvalSpentOnce(state: RunState, event: RunEvent): readonly string[] {
  if (event.kind !== 'approval.spent') return [];
  const { approvalId } = event.body;
  const approval = state.approvals.get(approvalId);
  if (approval === undefined) return [`Approval ${approvalId} is spent and was never asked for.`];
  if (approval.state !== 'approved') return [`Approval ${approvalId} is spent while it is ${approval.state}.`];
  const { expiresAt } = approval.proposal;
  return millisOf(expiresAt) > millisOf(event.at) ? [] : [`Approval ${approvalId} is spent after ${expiresAt}.`];
}

function unauthorised(state: RunState, { body, at }: EventOf<'effect.intended'>): readonly string[] {
  const { effectId, approvalId, action, actionDigest: said, liveVersion } = body;
  const approval = state.approvals.get(approvalId);
  if (approval === undefined) return [`Effect ${effectId} names approval ${approvalId}, which there is not.`];
  const { proposal, spentOn, decisions } = approval;
  const found: string[] = [];
  if (spentOn !== effectId)
    found.push(`Approval ${approvalId} was spent on ${spentOn ?? 'nothing'}, not on ${effectId}.`);
  if (decisions.length < proposal.rule.quorumCount)
    found.push(`Approval ${approvalId} has ${decisions.length} decisions, not ${proposal.rule.quorumCount}.`);
  if (proposal.actionDigest !== said || actionDigest(action) !== said)
    found.push(`Effect ${effectId} is not the action that approval ${approvalId} is for.`);
  if (liveVersion !== action.expectedVersion)
    found.push(`Effect ${effectId} expects version ${action.expectedVersion}; the resource was at ${liveVersion}.`);
  if (millisOf(proposal.expiresAt) <= millisOf(at)) found.push(`Approval ${approvalId} had expired before ${at}.`);
  return found;
}

function retriedWithout(state: RunState, { body, at }: EventOf<'effect.retried'>): readonly string[] {
  const { effectId, liveVersion } = body;
  const effect = state.effects.get(effectId);
  const approval = effect === undefined ? undefined : state.approvals.get(effect.approvalId);
  if (effect === undefined || approval === undefined) return [`Effect ${effectId} is tried again without an approval.`];
  if (liveVersion !== effect.action.expectedVersion)
    return [`Effect ${effectId} is tried again on version ${liveVersion}, not ${effect.action.expectedVersion}.`];
  const { expiresAt } = approval.proposal;
  return millisOf(expiresAt) > millisOf(at) ? [] : [`Effect ${effectId} is tried again after ${expiresAt}.`];
}
