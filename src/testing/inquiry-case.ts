/**
 * A small case for the tests of control and evidence: four teams that can find out why a claim is held, draft a notice and, by contract
 * only, send it. Synthetic; the product's own case is in cases/claims.
 */
import type { CapabilitySnapshot } from '#contracts/capability-snapshot.ts';
import type { GoalContract } from '#contracts/goal.ts';
import type { RootGrant } from '#contracts/lease.ts';
import type { SchemaDocument, SkillContract } from '#contracts/skill.ts';
import { digestOf } from '#kernel/digest.ts';
import type { GoalKind } from '#ports/goal-kind.ts';
import type { TeamAnnouncement } from '#ports/team-transport.ts';
import { fixtureSkill } from './team-fixtures.ts';

export const SUPERVISOR = 'spiffe://caseops.test/supervisor';
export const INQUIRY_ACTIONS = ['members:read', 'claims:read', 'policies:read', 'notices:draft'];
const PURPOSES = ['claim-inquiry', 'claim-portfolio'];

const text = { type: 'string' };
const list = { type: 'array', items: text };

function document(schemaId: string, properties: Readonly<Record<string, unknown>>): SchemaDocument {
  const schema = {
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  } as SchemaDocument['schema'];
  return { schemaId, schemaVersion: '1.0.0', digest: digestOf(schema), schema };
}

interface SkillShape extends Partial<SkillContract> {
  readonly skillId: string;
  readonly team: string;
  readonly in: Readonly<Record<string, unknown>>;
  readonly out: Readonly<Record<string, unknown>>;
}

function skill({ in: input, out, ...rest }: SkillShape): SkillContract {
  const { skillId } = rest;
  return fixtureSkill({
    input: document(`urn:test:${skillId}:input`, input),
    artifact: document(`urn:test:${skillId}:artifact`, out),
    requires: Object.keys(input).map((name) => ({ name, kind: name })),
    produces: Object.keys(out).map((name) => ({ kind: name, pointer: `/${name}` })),
    purposes: PURPOSES,
    datatypes: ['internal'],
    toolContracts: [{ server: `${rest.team}-records`, tool: 'find', version: '1.0.0', digest: digestOf(skillId) }],
    retry: { attemptCountMax: 2, backoffMs: 50 },
    timeoutMs: 2_000,
    stepBudget: { modelTokenCountMax: 0, toolCallCountMax: 2, timeoutMs: 2_000 },
    ...rest,
  });
}

export const INQUIRY_SKILLS: readonly SkillContract[] = [
  skill({
    skillId: 'resolve-member',
    team: 'member',
    in: { claim_id: text },
    out: { member_id: text },
    actions: ['members:read'],
    resources: [{ type: 'claim', input: 'claim_id' }],
    evidence: { anchorTypes: ['member'], countMin: 1 },
  }),
  skill({
    skillId: 'claim-status',
    team: 'claims',
    in: { claim_id: text, member_id: text },
    out: { cause: text, missing_documents: list },
    actions: ['claims:read'],
    resources: [{ type: 'claim', input: 'claim_id' }],
    evidence: { anchorTypes: ['claim'], countMin: 1 },
  }),
  skill({
    skillId: 'policy-guidance',
    team: 'knowledge',
    in: { cause: text },
    out: { next_action: text },
    actions: ['policies:read'],
    resources: [{ type: 'policy-topic', input: 'cause' }],
    evidence: { anchorTypes: ['policy-rule'], countMin: 1 },
  }),
  skill({
    skillId: 'draft-notice',
    team: 'notification',
    in: { claim_id: text, missing_documents: list, next_action: text },
    out: { notice_draft: text },
    risk: 'draft',
    actions: ['notices:draft'],
    resources: [{ type: 'claim', input: 'claim_id' }],
    evidence: { anchorTypes: ['notice-draft'], countMin: 1 },
  }),
  skill({
    skillId: 'send-notice',
    team: 'notification',
    in: { notice_draft: text },
    out: { notice_sent: text },
    risk: 'effect',
    actions: ['notify:send'],
    effectActions: ['notify:send'],
    resources: [{ type: 'notice-draft', input: 'notice_draft' }],
    evidence: { anchorTypes: ['sent-notice'], countMin: 1 },
    approval: 'person',
    sideEffect: 'external',
  }),
];

export function announcementOf(team: string): TeamAnnouncement {
  return {
    card: {
      team,
      cardName: `Team ${team}`,
      cardVersion: '1.0.0',
      protocolVersion: '1.0',
      verifiedBy: `key-of-${team}`,
      cardDigest: digestOf(`card of ${team}`),
      interfaces: [{ url: `https://${team}.test/a2a`, binding: 'HTTP+JSON' }],
      audience: `https://${team}.test/a2a`,
      workload: `spiffe://caseops.test/team/${team}`,
      toolAudiences: { [`${team}-records`]: `https://${team}.test/mcp` },
    },
    skills: INQUIRY_SKILLS.filter((candidate) => candidate.team === team),
    policyDigest: digestOf(`policy of ${team}`),
  };
}

export const INQUIRY_TEAMS = ['claims', 'knowledge', 'member', 'notification'];

export const INQUIRY_GRANT: RootGrant = {
  sub: 'requester@t9',
  tenant: 't9',
  purposes: PURPOSES,
  actions: [...INQUIRY_ACTIONS, 'notify:send'],
  may_act: { sub: SUPERVISOR },
  roles: ['requester'],
};

const CLAIM_ID = {
  kind: 'claim_id',
  pattern: '(?<![A-Za-z0-9])C-\\d{1,6}(?![0-9])',
  question: { en: 'Which claim is meant?', ja: 'どの請求ですか。' },
} as const;

export const INQUIRY_KIND: GoalKind = {
  kind: 'claim-inquiry',
  version: '1.0.0',
  purpose: 'claim-inquiry',
  subject: { type: 'claim', entity: 'claim_id' },
  recognise: { en: [['\\bwhy\\b|\\bmissing\\b']], ja: [['理由|不足']] },
  entities: [{ ...CLAIM_ID, cardinality: 'one' }],
  outputs: [
    { kind: 'cause', required: true },
    { kind: 'missing_documents', required: true },
    { kind: 'next_action', required: false },
    { kind: 'notice_draft', required: false, when: { en: ['\\bdraft'], ja: ['下書き'] } },
  ],
  prohibitions: [
    {
      action: 'notify:send',
      phrases: { en: ['\\b(send|notify|contact)'], ja: ['送', '通知', '連絡'] },
    },
  ],
  alwaysProhibitedActions: ['notify:send'],
  constraints: ['evidence-required'],
  claims: [
    {
      key: 'status',
      kind: 'fact',
      output: 'cause',
      sentence: { en: 'Claim {claim} has the status {status}.', ja: '請求 {claim} の状態は {status} です。' },
      slots: {
        claim: { anchorType: 'claim', pointer: '/claim_id', format: 'identifier' },
        status: { anchorType: 'claim', pointer: '/status', format: 'code' },
      },
    },
    {
      key: 'missing',
      kind: 'fact',
      output: 'missing_documents',
      sentence: { en: 'Missing: {documents}.', ja: '不足：{documents}。' },
      slots: { documents: { anchorType: 'claim', pointer: '/missing', format: 'list' } },
    },
    {
      key: 'next',
      kind: 'fact',
      output: 'next_action',
      sentence: { en: 'Next: {next}', ja: '次：{next}' },
      slots: { next: { anchorType: 'policy-rule', pointer: '/next', format: 'quote' } },
      impact: { en: 'What happens next is not known.', ja: '次の手順が分かりません。' },
    },
    {
      key: 'draft',
      kind: 'fact',
      output: 'notice_draft',
      sentence: { en: 'Drafted: {body}', ja: '下書き：{body}' },
      slots: { body: { anchorType: 'notice-draft', pointer: '/body', format: 'quote' } },
      impact: { en: 'No notice has been drafted.', ja: '下書きはありません。' },
    },
    {
      key: 'not-sent',
      kind: 'absence',
      absentAction: 'notify:send',
      sentence: { en: 'Nothing was sent.', ja: '何も送信されていません。' },
      slots: {},
      impact: { en: 'It is not shown that nothing was sent.', ja: '送信されていないことを示せません。' },
    },
  ],
  budget: {
    stepCountMax: 6,
    modelTokenCountMax: 1_000,
    toolCallCountMax: 12,
    concurrencyMax: 4,
    deadlineMs: 9_000,
    replanCountMax: 2,
  },
  observationAgeMsMax: 0,
};

export const PORTFOLIO_KIND: GoalKind = {
  ...INQUIRY_KIND,
  kind: 'claim-portfolio',
  purpose: 'claim-portfolio',
  recognise: { en: [['\\bstatus\\b', 'C-\\d+']], ja: [['状態', 'C-\\d+']] },
  entities: [{ ...CLAIM_ID, cardinality: 'several' }],
  outputs: [
    { kind: 'cause', required: true, forEach: 'claim_id' },
    { kind: 'missing_documents', required: true, forEach: 'claim_id' },
  ],
  claims: INQUIRY_KIND.claims.filter(({ key }) => key === 'status' || key === 'missing' || key === 'not-sent'),
  budget: { ...INQUIRY_KIND.budget, stepCountMax: 12, toolCallCountMax: 24 },
};

/** A goal as intake would freeze it; `over` changes one thing. */
export function inquiryGoal(over: Partial<GoalContract> = {}): GoalContract {
  const { outputs, kind, version, purpose, constraints, claims, budget } = INQUIRY_KIND;
  return {
    contractVersion: '1.0.0',
    goalId: 'goal_1',
    revision: 1,
    tenant: 't9',
    requestedBy: 'requester@t9',
    sessionId: 'ses_1',
    kind,
    kindVersion: version,
    purpose,
    subject: { type: 'claim', ids: ['C-102'] },
    entities: { claim_id: 'C-102' },
    requestedOutputs: outputs.map((output) => ({ kind: output.kind, required: output.required })),
    prohibitedActions: ['notify:send'],
    constraints: [...constraints],
    evidencePolicy: { factsNeedEvidence: true, observationAgeMsMax: 0 },
    claims: [...claims],
    budget,
    statement: { text: 'Why is C-102 held? Draft a notice, do not send it.', language: 'en' },
    ...over,
  };
}

export function inquirySnapshot(over: Partial<CapabilitySnapshot> = {}): CapabilitySnapshot {
  const announced = INQUIRY_TEAMS.map(announcementOf);
  return {
    snapshotId: 'cap_1',
    tenant: 't9',
    takenAt: '2026-07-22T14:00:00.000Z',
    expiresAt: '2026-07-22T14:05:00.000Z',
    cards: announced.map(({ card }) => card),
    skills: announced.flatMap(({ skills }) => skills),
    teamPolicyDigests: Object.fromEntries(announced.map(({ card, policyDigest }) => [card.team, policyDigest])),
    policy: {
      digest: digestOf('central policy'),
      tenants: ['t9'],
      purposes: PURPOSES,
      userActions: INQUIRY_GRANT.actions,
      workloadActions: INQUIRY_ACTIONS,
    },
    unavailable: [],
    ...over,
  };
}
