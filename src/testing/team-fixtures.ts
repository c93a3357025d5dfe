/** One small team with one skill, and what travels to and from it. For tests of protocols and execution. */
import { ARTIFACT_VERSION, type Artifact } from '#contracts/artifact.ts';
import { DISPATCH_VERSION, type Dispatch } from '#contracts/dispatch.ts';
import type { Digest } from '#contracts/ids.ts';
import type { SchemaDocument, SkillContract } from '#contracts/skill.ts';
import { digestOf } from '#kernel/digest.ts';
import type { TeamDefinition } from '#ports/team-definition.ts';

export const PLAN_DIGEST: Digest = digestOf('plan');

function schemaDocument(schemaId: string, schema: SchemaDocument['schema']): SchemaDocument {
  return { schemaId, schemaVersion: '1.0.0', digest: digestOf(schema), schema };
}

/** Reads a claim by id; every field valid against its contract. */
export function fixtureSkill(over: Partial<SkillContract> = {}): SkillContract {
  return {
    skillId: 'claim-status',
    version: '1.0.0',
    team: 'claims',
    description: 'Tells the status of a claim.',
    input: schemaDocument('urn:test:claim-status:input', { type: 'object' }),
    artifact: schemaDocument('urn:test:claim-status:artifact', { type: 'object' }),
    requires: [{ name: 'claim_id', kind: 'claim' }],
    produces: [{ kind: 'claim-status', pointer: '/status' }],
    acceptedResults: [],
    risk: 'read_only',
    actions: ['claims:read'],
    effectActions: [],
    resources: [{ type: 'claim', input: 'claim_id' }],
    datatypes: ['claim-data'],
    purposes: ['claim-inquiry'],
    toolContracts: [],
    evidence: { anchorTypes: ['claim'], countMin: 0 },
    acceptanceCriteria: [],
    stateFields: [],
    approval: 'none',
    sideEffect: 'none',
    available: true,
    timeoutMs: 5_000,
    minimumRuntimeMs: 0,
    latencySloMs: 1_000,
    retry: { attemptCountMax: 2, backoffMs: 10 },
    stepBudget: { modelTokenCountMax: 0, toolCallCountMax: 2, timeoutMs: 5_000 },
    taskSupport: 'forbidden',
    whichArtifact: 'only',
    ...over,
  };
}

/** Without workers and tools: enough to be announced and asked. */
export function fixtureTeam(over: Partial<TeamDefinition> = {}): TeamDefinition {
  return {
    name: 'claims',
    version: '1.2.0',
    description: 'Reads claims.',
    skills: [fixtureSkill()],
    workers: [],
    mcpServers: [],
    policy: [],
    policyDigest: digestOf([]),
    ...over,
  };
}

/** A dispatch of step s2 to the fixture team. */
export function fixtureDispatch(over: Partial<Dispatch> = {}): Dispatch {
  const input = over.input ?? { claim_id: 'C-102' };
  return {
    contractVersion: DISPATCH_VERSION,
    dispatchId: 'dsp_1',
    tenant: 't9',
    subject: 'requester@t9',
    runId: 'run_1',
    goalId: 'goal_1',
    planId: 'plan_1',
    planVersion: 1,
    planDigest: PLAN_DIGEST,
    stepId: 's2',
    attempt: 1,
    team: 'claims',
    skillId: 'claim-status',
    skillVersion: '1.0.0',
    purpose: 'claim-inquiry',
    actions: ['claims:read'],
    forbiddenActions: ['notify:send'],
    resources: ['claim:C-102'],
    budget: { modelTokenCountMax: 0, toolCallCountMax: 2, timeoutMs: 5_000 },
    deadlineAt: '2026-08-01T00:00:30.000Z',
    language: 'en',
    inputDigest: digestOf(input),
    ...over,
    input,
  };
}

/** The artifact that answers a dispatch, with its digest. */
export function fixtureArtifact(
  dispatch: Dispatch,
  binding: { readonly taskId: string; readonly contextId: string; readonly leaseId: string },
  over: Partial<Artifact> = {},
): Artifact {
  const { dispatchId, stepId, planVersion, attempt, skillId, skillVersion } = dispatch;
  const made: Omit<Artifact, 'contentDigest'> = {
    contractVersion: ARTIFACT_VERSION,
    artifactId: `art_${dispatchId.slice(4)}`,
    binding: { dispatchId, stepId, planVersion, attempt, ...binding },
    producer: { team: dispatch.team, workload: `spiffe://caseops.test/team/${dispatch.team}`, worker: 'reader' },
    skillId,
    skillVersion,
    schemaId: 'urn:test:claim-status:artifact',
    schemaVersion: '1.0.0',
    status: 'completed',
    data: { status: 'pending_documents', claim_id: dispatch.input['claim_id'] ?? null },
    evidence: [],
    records: {},
    toolCalls: [],
    missing: [],
    errors: [],
    producedAt: '2026-08-01T00:00:01.000Z',
    ...over,
  };
  return { ...made, contentDigest: digestOf(made) };
}
