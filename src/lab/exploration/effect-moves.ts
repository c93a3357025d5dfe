/** What may happen to a step with an effect: approvals decided in every way, and every word of the resource's owner. */
import type { ApprovalDecision } from '#contracts/approval.ts';
import type { ConfirmedEffect } from '#contracts/command.ts';
import type { EffectAction } from '#contracts/effect-action.ts';
import type { EffectRow } from '#contracts/effect-row.ts';
import type { Proposal } from '#contracts/proposal.ts';
import { actionContentDigest, actionDigest } from '#kernel/action-digest.ts';
import { renderActionView, viewDigest } from '#kernel/action-view.ts';
import { digestOf } from '#kernel/digest.ts';
import type { ApprovalCase, EffectCase } from '#kernel/effect-state.ts';
import type { RunState, StepState } from '#kernel/run-state.ts';
import { millisOf } from '#kernel/time.ts';
import { APPROVER, noticeOf, POLICY, REF, REQUESTER, type Scope, START_MS, timeAt, UNIT_MS } from './explored-plan.ts';
import type { Move } from './move.ts';
import { move } from './read-moves.ts';

const PLAN_VERSION = 1;
/** A first one, and one after it went stale. */
const PROPOSAL_COUNT_MAX = 2;
/** In units: sooner than the run's deadline. */
const APPROVAL_EXPIRY = 1;
const WRITER = 'writer';
const OTHER_POLICY = digestOf('another approval policy');

export interface EffectWorld {
  readonly at: string;
  readonly scope: Scope;
}

export function effectMoves(state: RunState, step: StepState, by: EffectWorld): readonly Move[] {
  const { stepId } = step.definition;
  const approvals = [...state.approvals.values()].filter((approval) => approval.stepId === stepId);
  const effects = [...state.effects.values()].filter((effect) => effect.stepId === stepId);
  const close = by.scope === 'close';
  const moves: Move[] = [...proposeMoves(step, approvals.length + 1, by)];
  for (const approval of approvals) {
    moves.push(...decideMoves(approval, by.at), ...intendMoves(approval, effects, by));
    if (close) moves.push(...wrongDecisions(approval, by.at));
  }
  for (const effect of effects)
    moves.push(...outcomeMoves(effect, by.at), ...(close ? rareOutcomes(effect, by.at) : []));
  if (close) moves.push(...replayMoves(step, approvals, by.at));
  return moves;
}

function proposeMoves(step: StepState, number: number, { at, scope }: EffectWorld): readonly Move[] {
  const { stepId } = step.definition;
  if (number > PROPOSAL_COUNT_MAX || step.phase === 'settled' || step.phase === 'skipped') return [];
  const body = { kind: 'requestApproval', at, actor: REQUESTER, stepId, planVersion: PLAN_VERSION } as const;
  const approvalId = `apv_${stepId}-${number}` as const;
  const propose = move('todo', `propose ${approvalId}`, { ...body, proposal: proposalOf({ stepId, approvalId, at }) });
  if (scope === 'wide') return [propose];
  const foreign = proposalOf({ stepId, approvalId, at, tenant: 't8' });
  return [propose, move('wrong', `propose ${approvalId} for another tenant`, { ...body, proposal: foreign })];
}

function decideMoves(approval: ApprovalCase, at: string): readonly Move[] {
  const { approvalId } = approval;
  const decide = { kind: 'decideApproval', at, actor: APPROVER, approvalId, policyDigest: POLICY } as const;
  return [
    move('person', `approve ${approvalId}`, { ...decide, decision: decisionOf(approval, {}) }),
    move('person', `reject ${approvalId}`, {
      ...decide,
      decision: decisionOf(approval, { disposition: 'rejected', reason: 'Not this one.' }),
    }),
    move('arrival', `${approvalId} is for a version that has moved`, {
      kind: 'staleApproval',
      at,
      actor: WRITER,
      approvalId,
      field: 'resource_version',
      expected: 'v1',
      got: 'v2',
    }),
  ];
}

function wrongDecisions(approval: ApprovalCase, at: string): readonly Move[] {
  const { approvalId } = approval;
  const decide = { kind: 'decideApproval', at, actor: APPROVER, approvalId, policyDigest: POLICY } as const;
  const approved = decisionOf(approval, {});
  return [
    move('person', `approve ${approvalId} under a policy that has moved`, {
      ...decide,
      decision: approved,
      policyDigest: OTHER_POLICY,
    }),
    move('wrong', `the requester approves ${approvalId}`, { ...decide, decision: { ...approved, by: REQUESTER } }),
    move('wrong', `approve ${approvalId} for another action`, {
      ...decide,
      decision: { ...approved, actionDigest: digestOf('another action') },
    }),
    move('person', `withdraw ${approvalId}`, {
      kind: 'withdrawApproval',
      at,
      actor: REQUESTER,
      approvalId,
      reason: 'Not needed.',
    }),
  ];
}

function intendMoves(
  { approvalId, proposal }: ApprovalCase,
  effects: readonly EffectCase[],
  { at, scope }: EffectWorld,
): readonly Move[] {
  const { stepId } = proposal.action;
  const effectId = `eff_${stepId}-${effects.length + 1}` as const;
  const intend = {
    kind: 'intendEffect',
    at,
    actor: WRITER,
    approvalId,
    effectId,
    leaseId: `lse_${stepId}-e`,
    actionDigest: proposal.actionDigest,
    liveVersion: 'v1',
    policyDigest: POLICY,
  } as const;
  const begin = move('todo', `intend ${effectId} under ${approvalId}`, intend);
  if (scope === 'wide') return [begin];
  return [
    begin,
    move('wrong', `intend ${effectId} under ${approvalId} on version v2`, { ...intend, liveVersion: 'v2' }),
    move('wrong', `intend ${effectId} under ${approvalId} with another action`, {
      ...intend,
      actionDigest: digestOf('another action'),
    }),
  ];
}

/** Refused where the effect is not where such a word belongs; all are said all the same. */
function outcomeMoves(effect: EffectCase, at: string): readonly Move[] {
  const { effectId, attempt } = effect;
  const on = { at, actor: WRITER, effectId, attempt } as const;
  const reconcile = { ...on, kind: 'reconcileEffect', note: 'Looked up.', confirmed: undefined } as const;
  const byOwner = { ...reconcile, source: 'owner' } as const;
  const byPerson = { ...reconcile, source: 'person' } as const;
  const confirmed = confirmedOf(effect, []);
  return [
    move('arrival', `${effectId} is read back`, { ...on, kind: 'confirmEffect', confirmed }),
    move('arrival', `the owner refuses ${effectId}`, { ...on, kind: 'failEffect', error: REFUSED }),
    move('arrival', `what became of ${effectId} is unknown`, { ...on, kind: 'loseEffect', note: 'No answer.' }),
    move('arrival', `the owner says that ${effectId} is applied`, { ...byOwner, finding: 'applied', confirmed }),
    move('arrival', `the owner says that ${effectId} is absent`, { ...byOwner, finding: 'absent' }),
    move('person', `a person says that ${effectId} is applied`, { ...byPerson, finding: 'applied' }),
    move('person', `a person says that ${effectId} is absent`, { ...byPerson, finding: 'absent' }),
    move('todo', `try ${effectId} again`, {
      ...on,
      kind: 'retryEffect',
      attempt: attempt + 1,
      leaseId: `lse_${effect.stepId}-r`,
      liveVersion: 'v1',
      policyDigest: POLICY,
    }),
  ];
}

function rareOutcomes(effect: EffectCase, at: string): readonly Move[] {
  const { effectId, attempt } = effect;
  const on = { at, actor: WRITER, effectId, attempt } as const;
  const differing = confirmedOf(effect, [{ pointer: '/channel', expected: 'mail', got: 'post' }]);
  return [
    move('arrival', `the owner answers ${effectId}`, { ...on, kind: 'noteSent', outcome: 'applied', note: 'Applied.' }),
    move('arrival', `${effectId} is read back with a difference`, {
      ...on,
      kind: 'confirmEffect',
      confirmed: differing,
    }),
    move('person', `${effectId} is undone`, { ...on, kind: 'compensateEffect', note: 'Undone.' }),
  ];
}

const REFUSED = {
  code: 'ERR_EFFECT_REFUSED',
  kind: 'denied',
  message: 'The owner refused.',
  at: 'owner',
  retryable: false,
} as const;

/** The key has an effect of an earlier run. */
function replayMoves(step: StepState, approvals: readonly ApprovalCase[], at: string): readonly Move[] {
  const { stepId } = step.definition;
  if (step.phase === 'settled' || step.phase === 'skipped') return [];
  const action = approvals.at(-1)?.proposal.action ?? actionOf({ stepId });
  const first = rowOf(action);
  const confirmed = confirmedOf({ ...first, action: { ...action, runId: first.runId } }, []);
  const replay = { kind: 'replayEffect', at, actor: WRITER, stepId, planVersion: PLAN_VERSION } as const;
  return [
    move('arrival', `${stepId} was done by an earlier run`, { ...replay, first, confirmed }),
    move('arrival', `${stepId} was refused to an earlier run`, {
      ...replay,
      first: { ...first, state: 'failed' },
      confirmed: undefined,
    }),
  ];
}

function actionOf(of: { readonly stepId: string; readonly tenant?: string }): EffectAction {
  const { stepId, tenant = REF.tenant } = of;
  return {
    contractVersion: '1.0.0',
    action: 'notify:send',
    target: 'outbox',
    tenant,
    resource: `notice:${noticeOf(stepId)}`,
    expectedVersion: 'v1',
    parameters: { channel: 'mail' },
    idempotencyKey: `send:${stepId}`,
    runId: REF.runId,
    stepId,
    requestedBy: REQUESTER,
  };
}

const proposals = new Map<string, Omit<Proposal, 'expiresAt'>>();

/** Made once: its digests do not change. */
function proposalOf(of: {
  readonly stepId: string;
  readonly approvalId: Proposal['approvalId'];
  readonly at: string;
  readonly tenant?: string;
}): Proposal {
  const { stepId, approvalId, at, tenant = REF.tenant } = of;
  const key = `${tenant} ${stepId} ${approvalId}`;
  const known = proposals.get(key) ?? openProposal(approvalId, actionOf({ stepId, tenant }));
  proposals.set(key, known);
  return { ...known, expiresAt: timeAt(millisOf(at) + APPROVAL_EXPIRY * UNIT_MS) };
}

function openProposal(approvalId: Proposal['approvalId'], action: EffectAction): Omit<Proposal, 'expiresAt'> {
  const before = { channel: 'post' };
  const view = renderActionView(action, before) ?? { title: 'none', rows: [] };
  return {
    contractVersion: '1.0.0',
    approvalId,
    action,
    actionDigest: actionDigest(action),
    presentational: {},
    before,
    view,
    viewDigest: viewDigest(view),
    rule: { mode: 'person', role: 'approver', quorumCount: 1, policyName: 'table', policyDigest: POLICY },
    evidence: [],
  };
}

function decisionOf({ proposal }: ApprovalCase, over: Partial<ApprovalDecision>): ApprovalDecision {
  return {
    by: APPROVER,
    role: 'approver',
    trainingRef: null,
    channel: 'cli',
    disposition: 'approved',
    reason: null,
    evidenceInView: [],
    actionDigest: proposal.actionDigest,
    viewDigest: proposal.viewDigest,
    decidedAt: timeAt(START_MS),
    ...over,
  };
}

const RECORD = { reference: 'msg-1' };
const RECORD_DIGEST = digestOf(RECORD);

function confirmedOf(
  effect: Pick<EffectCase, 'effectId' | 'action' | 'actionDigest' | 'stepId'>,
  findings: ConfirmedEffect['findings'],
): ConfirmedEffect {
  const { action, actionDigest: of, effectId, stepId } = effect;
  const readAt = timeAt(START_MS);
  return {
    receipt: {
      contractVersion: '1.0.0',
      receiptId: `rcp_${stepId}`,
      effectId,
      tenant: action.tenant,
      target: action.target,
      resource: action.resource,
      idempotencyKey: action.idempotencyKey,
      actionDigest: of,
      reference: RECORD.reference,
      resultVersion: 'v2',
      appliedAt: readAt,
      observedAt: readAt,
      recordDigest: RECORD_DIGEST,
    },
    findings,
    evidence: {
      evidenceId: `ev_${stepId}`,
      source: 'outbox',
      anchor: `sent-notice:${stepId}`,
      version: 'v2',
      observedAt: readAt,
      digest: RECORD_DIGEST,
      trust: 'authoritative',
      readers: [],
    },
    data: { value: RECORD.reference },
    artifactRef: RECORD_DIGEST,
  };
}

const rows = new Map<string, EffectRow>();

function rowOf(action: EffectAction): EffectRow {
  const known = rows.get(action.stepId);
  if (known !== undefined) return known;
  const row: EffectRow = {
    effectId: `eff_${action.stepId}-earlier`,
    tenant: action.tenant,
    runId: 'run_earlier',
    stepId: action.stepId,
    action: action.action,
    target: action.target,
    resource: action.resource,
    idempotencyKey: action.idempotencyKey,
    actionDigest: actionDigest(action),
    contentDigest: actionContentDigest(action),
    expectedVersion: action.expectedVersion,
    approvalId: 'apv_earlier',
    leaseId: 'lse_earlier',
    attempt: 1,
    state: 'completed',
    receipt: null,
    artifactRef: null,
    history: [],
    updatedAt: timeAt(START_MS),
  };
  rows.set(action.stepId, row);
  return row;
}
