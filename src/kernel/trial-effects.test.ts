/** Synthetic proposals, decisions and receipts for the tests of approvals and effects. */
import type { ApprovalDecision } from '#contracts/approval.ts';
import type { ConfirmedEffect } from '#contracts/command.ts';
import type { EffectAction } from '#contracts/effect-action.ts';
import type { EventKind } from '#contracts/event.ts';
import type { ApprovalId, EffectId, StepId } from '#contracts/ids.ts';
import type { PlanStep } from '#contracts/plan.ts';
import type { Proposal } from '#contracts/proposal.ts';
import type { SkillContract } from '#contracts/skill.ts';
import { actionDigest } from './action-digest.ts';
import { renderActionView, viewDigest } from './action-view.ts';
import { digestOf } from './digest.ts';
import { atMs, type Body, REF, type Setup, skillOf, stepOf } from './trial-contracts.test.ts';
import { plannedTrial, type TrialRun } from './trial-run.test.ts';

export const POLICY = digestOf('approval policy');
export const HOUR_MS = 3_600_000;

/** Sends what the step's input names. */
export function sendSkill(over: Partial<SkillContract> = {}): SkillContract {
  return skillOf({
    skillId: 'send-notice',
    risk: 'effect',
    actions: ['notify:send'],
    effectActions: ['notify:send'],
    resources: [{ type: 'notice', input: 'notice' }],
    requires: [{ name: 'notice', kind: 'notice' }],
    approval: 'person',
    sideEffect: 'external',
    retry: { attemptCountMax: 2, backoffMs: 10 },
    ...over,
  });
}

/** An effect step: `e1?` is optional. */
export function effectStep(name: string, over: Partial<PlanStep> = {}): PlanStep {
  return stepOf(name, [], {
    skillId: 'send-notice',
    inputs: { notice: { from: 'goal', pointer: `/entities/${name.replace('?', '')}` } },
    actions: ['notify:send'],
    approval: 'person',
    budget: { modelTokenCountMax: 0, toolCallCountMax: 0, timeoutMs: 2_000 },
    ...over,
  });
}

/** A run of effect steps (and whatever else), each on a notice of its own name. */
export function effectTrial(
  steps: readonly PlanStep[] = [effectStep('e1')],
  over: Partial<Setup> & { readonly skill?: Partial<SkillContract> } = {},
): TrialRun {
  const { skill, ...setup } = over;
  const entities = { claim_id: 'C-102', e1: 'N-1', e2: 'N-2', e3: 'N-3' };
  return plannedTrial({
    steps,
    skills: [skillOf(), sendSkill(skill)],
    ...setup,
    goal: { entities, ...setup.goal },
  });
}

export function actionOf(stepId: StepId, over: Partial<EffectAction> = {}): EffectAction {
  return {
    contractVersion: '1.0.0',
    action: 'notify:send',
    target: 'outbox',
    tenant: REF.tenant,
    resource: `notice:N-${stepId.slice(1)}`,
    expectedVersion: 'v1',
    parameters: { channel: 'mail' },
    idempotencyKey: `send:${stepId}`,
    runId: REF.runId,
    stepId,
    requestedBy: 'requester@t9',
    ...over,
  };
}

export interface Proposed {
  readonly action?: Partial<EffectAction>;
  readonly rule?: Partial<Proposal['rule']>;
  readonly approvalId?: ApprovalId;
  readonly expiresMs?: number;
}

export function proposalOf(stepId: StepId, made: Proposed & Partial<Omit<Proposal, 'action' | 'rule'>> = {}): Proposal {
  const { action: other, rule, expiresMs = HOUR_MS, ...over } = made;
  const action = actionOf(stepId, other);
  const before = { channel: 'post' };
  const view = renderActionView(action, before) ?? { title: 'none', rows: [] };
  return {
    contractVersion: '1.0.0',
    approvalId: `apv_${stepId}`,
    action,
    actionDigest: actionDigest(action),
    presentational: {},
    before,
    view,
    viewDigest: viewDigest(view),
    rule: { mode: 'person', role: 'approver', quorumCount: 1, policyName: 'table', policyDigest: POLICY, ...rule },
    evidence: [],
    expiresAt: atMs(expiresMs),
    ...over,
  };
}

export function decisionOf(
  trial: TrialRun,
  approvalId: ApprovalId,
  over: Partial<ApprovalDecision> = {},
): ApprovalDecision {
  const proposal = trial.state.approvals.get(approvalId)?.proposal;
  return {
    by: 'approver@t9',
    role: 'approver',
    trainingRef: null,
    channel: 'cli',
    disposition: 'approved',
    reason: null,
    evidenceInView: [],
    actionDigest: proposal?.actionDigest ?? digestOf('none'),
    viewDigest: proposal?.viewDigest ?? digestOf('none'),
    decidedAt: atMs(trial.nowMs),
    ...over,
  };
}

export function requestBody(stepId: StepId, made: Parameters<typeof proposalOf>[1] = {}): Body<'requestApproval'> {
  return { stepId, planVersion: 1, proposal: proposalOf(stepId, made) };
}

export function propose(
  trial: TrialRun,
  stepId: StepId,
  made: Parameters<typeof proposalOf>[1] = {},
): readonly EventKind[] {
  return trial.ok('requestApproval', requestBody(stepId, made));
}

export function decideBody(
  trial: TrialRun,
  approvalId: ApprovalId,
  over: Partial<ApprovalDecision> = {},
): Body<'decideApproval'> {
  return { approvalId, decision: decisionOf(trial, approvalId, over), policyDigest: POLICY };
}

export function approve(trial: TrialRun, stepId: StepId, over: Partial<ApprovalDecision> = {}): readonly EventKind[] {
  return trial.ok('decideApproval', decideBody(trial, `apv_${stepId}`, over));
}

export function intendBody(
  trial: TrialRun,
  stepId: StepId,
  over: Partial<Body<'intendEffect'>> = {},
): Body<'intendEffect'> {
  const proposal = trial.state.approvals.get(`apv_${stepId}`)?.proposal;
  return {
    approvalId: `apv_${stepId}`,
    effectId: `eff_${stepId}`,
    leaseId: `lse_${stepId}`,
    actionDigest: proposal?.actionDigest ?? digestOf('none'),
    liveVersion: 'v1',
    policyDigest: POLICY,
    ...over,
  };
}

/** Proposed, approved and intended. */
export function begin(trial: TrialRun, stepId: StepId): void {
  propose(trial, stepId);
  approve(trial, stepId);
  trial.ok('intendEffect', intendBody(trial, stepId));
}

export function on(stepId: StepId, attempt = 1): { readonly effectId: EffectId; readonly attempt: number } {
  return { effectId: `eff_${stepId}`, attempt };
}

export function confirmedOf(stepId: StepId, over: Partial<ConfirmedEffect> = {}): ConfirmedEffect {
  const action = actionOf(stepId);
  const record = { reference: `msg-${stepId}` };
  return {
    receipt: {
      contractVersion: '1.0.0',
      receiptId: `rcp_${stepId}`,
      effectId: `eff_${stepId}`,
      tenant: action.tenant,
      target: action.target,
      resource: action.resource,
      idempotencyKey: action.idempotencyKey,
      actionDigest: actionDigest(action),
      reference: `msg-${stepId}`,
      resultVersion: 'v2',
      appliedAt: atMs(0),
      observedAt: atMs(0),
      recordDigest: digestOf(record),
    },
    findings: [],
    evidence: {
      evidenceId: `ev_${stepId}`,
      source: 'outbox',
      anchor: `sent-notice:msg-${stepId}`,
      version: 'v2',
      observedAt: atMs(0),
      digest: digestOf(record),
      trust: 'authoritative',
      readers: [],
    },
    data: { value: `msg-${stepId}` },
    artifactRef: digestOf(`record of ${stepId}`),
    ...over,
  };
}
