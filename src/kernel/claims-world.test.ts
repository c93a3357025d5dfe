/** A small world for the kernel's tests: one goal, a frozen snapshot of three teams, and a lawful plan over it. Synthetic. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { capabilitySnapshot, type CapabilityCard, type CapabilitySnapshot } from '#contracts/capability-snapshot.ts';
import type { ClaimTemplate } from '#contracts/claim.ts';
import { goalContract, type GoalContract } from '#contracts/goal.ts';
import { plan as planSchema, type Plan, type PlanStep } from '#contracts/plan.ts';
import { skillContract, type SchemaDocument, type SkillContract } from '#contracts/skill.ts';
import { digestOf } from './digest.ts';
import { goalDigest } from './goal-digest.ts';

export const AT = '2026-07-22T15:00:00.000Z';

/** A copy in which one thing is changed and nothing else. */
export function changed<T>(value: T, change: (copy: T) => void): T {
  const copy = structuredClone(value);
  change(copy);
  return copy;
}

export function document(schemaId: string, schema: SchemaDocument['schema']): SchemaDocument {
  return { schemaId, schemaVersion: '1.0.0', digest: digestOf(schema), schema };
}

function textObject(names: readonly string[]): SchemaDocument['schema'] {
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
  return { type: 'object', properties, required: [...names], additionalProperties: false };
}

export function skill(over: Partial<SkillContract> & Pick<SkillContract, 'skillId' | 'team'>): SkillContract {
  return skillContract.parse({
    version: '1.0.0',
    description: `The skill ${over.skillId}.`,
    input: document(`${over.skillId}.input`, textObject((over.requires ?? []).map(({ name }) => name))),
    artifact: document(`${over.skillId}.artifact`, textObject((over.produces ?? []).map(({ kind }) => kind))),
    requires: [],
    produces: [],
    acceptedResults: [],
    risk: 'read_only',
    actions: ['claims:read'],
    effectActions: [],
    resources: [],
    datatypes: [],
    purposes: ['claim_investigation'],
    toolContracts: [{ server: 'claims-db', tool: 'get-claim', version: '1.0.0', digest: digestOf('get-claim') }],
    evidence: { anchorTypes: ['claim'], countMin: 1 },
    acceptanceCriteria: [],
    stateFields: [],
    approval: 'none',
    sideEffect: 'none',
    available: true,
    timeoutMs: 2_000,
    minimumRuntimeMs: 100,
    latencySloMs: 500,
    retry: { attemptCountMax: 2, backoffMs: 10 },
    stepBudget: { modelTokenCountMax: 0, toolCallCountMax: 2, timeoutMs: 2_000 },
    taskSupport: 'forbidden',
    whichArtifact: 'only',
    ...over,
  });
}

export function card(team: string, over: Partial<CapabilityCard> = {}): CapabilityCard {
  return {
    team,
    cardName: team,
    cardVersion: '1.0.0',
    protocolVersion: '1.0',
    verifiedBy: 'k'.repeat(43),
    cardDigest: digestOf(team),
    interfaces: [{ url: `http://127.0.0.1:9000/${team}`, binding: 'HTTP+JSON' }],
    audience: `http://127.0.0.1:9000/${team}`,
    toolAudiences: {},
    workload: `spiffe://caseops.test/team/${team}`,
    ...over,
  };
}

export const SKILLS: readonly SkillContract[] = [
  skill({
    team: 'claims',
    skillId: 'claim-status',
    requires: [{ name: 'claim_id', kind: 'claim_id' }],
    produces: [
      { kind: 'cause', pointer: '/cause' },
      { kind: 'missing_documents', pointer: '/missing_documents' },
    ],
    evidence: { anchorTypes: ['claim', 'claim-documents'], countMin: 1 },
    resources: [{ type: 'claim', input: 'claim_id' }],
  }),
  skill({
    team: 'knowledge',
    skillId: 'policy-guidance',
    actions: ['policy:read'],
    requires: [{ name: 'cause', kind: 'cause' }],
    produces: [{ kind: 'next_action', pointer: '/next_action' }],
    evidence: { anchorTypes: ['policy-rule'], countMin: 1 },
  }),
  skill({
    team: 'notification',
    skillId: 'draft-notice',
    actions: ['notify:draft'],
    risk: 'draft',
    requires: [{ name: 'next_action', kind: 'next_action' }],
    produces: [{ kind: 'notification_draft', pointer: '/notification_draft' }],
    evidence: { anchorTypes: ['notice-draft'], countMin: 1 },
  }),
  skill({
    team: 'notification',
    skillId: 'send-notice',
    actions: ['notify:draft'],
    effectActions: ['notify:send'],
    risk: 'effect',
    sideEffect: 'external',
    approval: 'person',
    available: false,
    requires: [{ name: 'draft', kind: 'notification_draft' }],
    produces: [{ kind: 'sent_notice', pointer: '/sent_notice' }],
  }),
];

export const SNAPSHOT: CapabilitySnapshot = {
  snapshotId: 'cap_1',
  tenant: 't9',
  takenAt: '2026-07-22T14:59:59.000Z',
  expiresAt: '2026-07-22T15:05:00.000Z',
  cards: ['claims', 'knowledge', 'notification'].map((team) => card(team)),
  skills: [...SKILLS],
  teamPolicyDigests: {},
  policy: {
    digest: digestOf('policy'),
    tenants: ['t9'],
    purposes: ['claim_investigation'],
    userActions: ['claims:read', 'policy:read', 'notify:draft'],
    workloadActions: ['claims:read', 'policy:read', 'notify:draft'],
  },
  unavailable: [],
};

const TEMPLATES: readonly ClaimTemplate[] = [
  {
    key: 'status',
    kind: 'fact',
    output: 'cause',
    sentence: {
      en: 'Claim {claim} has the status {status}, last changed {updated}.',
      ja: '請求 {claim} は {status}（{updated}）。',
    },
    slots: {
      claim: { anchorType: 'claim', pointer: '/claim_id', format: 'identifier' },
      status: { anchorType: 'claim', pointer: '/status', format: 'code' },
      updated: { anchorType: 'claim', pointer: '/updated_at', format: 'date' },
    },
    impact: { en: 'The status is not known.' },
  },
  {
    key: 'next',
    kind: 'fact',
    output: 'next_action',
    sentence: { en: 'Next, by rule {rule}: {next}' },
    slots: {
      rule: { anchorType: 'policy-rule', pointer: '/rule_id', format: 'identifier' },
      next: { anchorType: 'policy-rule', pointer: '/next_step', format: 'quote' },
    },
    impact: { en: 'What happens next is not known.' },
  },
  { key: 'not-sent', kind: 'absence', absentAction: 'notify:send', sentence: { en: 'Nothing was sent.' }, slots: {} },
];

export const GOAL: GoalContract = {
  contractVersion: '1.0.0',
  goalId: 'goal_1',
  revision: 1,
  tenant: 't9',
  requestedBy: 'requester@t9',
  sessionId: 'ses_1',
  kind: 'claim_investigation',
  kindVersion: '1.0.0',
  purpose: 'claim_investigation',
  subject: { type: 'claim', ids: ['C-102'] },
  entities: { claim_id: 'C-102' },
  requestedOutputs: [
    { kind: 'cause', required: true },
    { kind: 'next_action', required: false },
    { kind: 'notification_draft', required: false },
  ],
  prohibitedActions: ['claims:update', 'notify:send'],
  constraints: [],
  evidencePolicy: { factsNeedEvidence: true, observationAgeMsMax: 60_000 },
  claims: [...TEMPLATES],
  budget: {
    stepCountMax: 6,
    modelTokenCountMax: 12_000,
    toolCallCountMax: 8,
    concurrencyMax: 4,
    deadlineMs: 9_000,
    replanCountMax: 2,
  },
  statement: { text: 'Find out why C-102 has not been completed.', language: 'en' },
};

export function step(over: Partial<PlanStep> & Pick<PlanStep, 'stepId' | 'team' | 'skillId'>): PlanStep {
  return {
    skillVersion: '1.0.0',
    dependsOn: [],
    inputs: {},
    required: false,
    actions: ['claims:read'],
    budget: { modelTokenCountMax: 0, toolCallCountMax: 2, timeoutMs: 2_000 },
    approval: 'none',
    ...over,
  };
}

export const PLAN: Plan = {
  contractVersion: '1.0.0',
  planId: 'plan_1',
  version: 1,
  goalId: 'goal_1',
  goalDigest: goalDigest(GOAL),
  snapshotId: 'cap_1',
  steps: [
    step({
      stepId: 's1',
      team: 'claims',
      skillId: 'claim-status',
      required: true,
      inputs: { claim_id: { from: 'goal', pointer: '/entities/claim_id' } },
    }),
    step({
      stepId: 's2',
      team: 'knowledge',
      skillId: 'policy-guidance',
      actions: ['policy:read'],
      dependsOn: [{ stepId: 's1', strength: 'strong' }],
      inputs: { cause: { from: 'step', stepId: 's1', pointer: '/cause' } },
    }),
    step({
      stepId: 's3',
      team: 'notification',
      skillId: 'draft-notice',
      actions: ['notify:draft'],
      dependsOn: [{ stepId: 's2', strength: 'strong' }],
      inputs: { next_action: { from: 'step', stepId: 's2', pointer: '/next_action' } },
    }),
  ],
  join: {
    requiredSteps: ['s1'],
    optionalSteps: ['s2', 's3'],
    completionRule: 'all_terminal',
    successRule: 'all_required_completed',
    onOptionalFailure: 'degraded',
    onRequiredNoData: 'no_data',
    onRequiredFailure: 'failed',
    onLateResult: 'record_only',
    onConflict: 'block',
    conflictDecider: 'person',
  },
  budget: { ...GOAL.budget },
  claims: [
    { key: 'status', stepIds: ['s1'] },
    { key: 'next', stepIds: ['s2'] },
    { key: 'not-sent', stepIds: [] },
  ],
};

test('the world of these tests conforms to its contracts', () => {
  assert.deepEqual(goalContract.parse(GOAL), GOAL);
  assert.deepEqual(capabilitySnapshot.parse(SNAPSHOT), SNAPSHOT);
  assert.deepEqual(planSchema.parse(PLAN), PLAN);
});
