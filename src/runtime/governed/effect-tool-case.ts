/** The case behind one tool with an effect: a goal kind with one output, and a skill that only the writer can run. DESIGN §3.10. */
import type { SchemaDocument, SkillContract } from '#contracts/skill.ts';
import { digestOf } from '#kernel/digest.ts';
import type { GoalKind } from '#ports/goal-kind.ts';
import type { TeamAnnouncement, TeamTransport } from '#ports/team-transport.ts';
import { defineGoalKind } from '../define-goal-kind.ts';

export interface EffectToolFacts {
  /** Lower case with dashes. */
  readonly name: string;
  readonly description: string;
  readonly action: string;
  readonly resourceType: string;
  readonly purpose: string;
  readonly timeoutMs: number;
}

const TEAM = 'program';
const VERSION = '1.0.0';
const text = { type: 'string' };

export interface EffectToolCase {
  readonly kind: GoalKind;
  readonly announcement: TeamAnnouncement;
  readonly transport: TeamTransport;
}

/** The words by which a call asks its goal; `callId` names the arguments. */
export function goalText({ name }: Pick<EffectToolFacts, 'name'>, resourceId: string, callId: string): string {
  return `Apply ${name} to [${resourceId}] as ${callId}.`;
}

export function effectToolCase(facts: EffectToolFacts): EffectToolCase {
  const { name, purpose } = facts;
  const skill = effectSkill(facts);
  const announcement: TeamAnnouncement = {
    card: {
      team: TEAM,
      cardName: `Program with ${name}`,
      cardVersion: VERSION,
      protocolVersion: '1.0',
      verifiedBy: 'in-process',
      cardDigest: digestOf({ name, skill: skill.version }),
      interfaces: [{ url: 'https://program.caseops.internal/', binding: 'INPROCESS' }],
      audience: 'https://program.caseops.internal/',
      workload: 'spiffe://caseops.local/team/program',
    },
    skills: [skill],
    policyDigest: digestOf([]),
  };
  const question = { en: 'Which record is it about?' };
  const kind = defineGoalKind({
    kind: `effect-${name}`,
    purpose,
    subject: { type: facts.resourceType, entity: 'resource_id' },
    recognise: { en: [[`^Apply ${name} to \\[`]] },
    entities: [
      { kind: 'resource_id', pattern: '(?<=\\[)[A-Za-z0-9][A-Za-z0-9._:-]*(?=\\])', cardinality: 'one', question },
      { kind: 'call_id', pattern: 'call-[0-9a-f]{32}', cardinality: 'one', question },
    ],
    outputs: [{ kind: 'effect_result', required: true }],
    claims: [],
    budget: {
      stepCountMax: 1,
      modelTokenCountMax: 0,
      toolCallCountMax: 0,
      concurrencyMax: 1,
      deadlineMs: 600_000,
      replanCountMax: 0,
    },
  });
  return { kind, announcement, transport: noTeam(announcement) };
}

function effectSkill({ name, description, action, resourceType, purpose, timeoutMs }: EffectToolFacts): SkillContract {
  return {
    skillId: name,
    version: VERSION,
    team: TEAM,
    description: (description === '' ? name : description).slice(0, 500),
    input: document(`${name}:input`, { resource_id: text, call_id: text }),
    artifact: document(`${name}:artifact`, { result: {} }),
    requires: [
      { name: 'resource_id', kind: 'resource_id' },
      { name: 'call_id', kind: 'call_id' },
    ],
    produces: [{ kind: 'effect_result', pointer: '/result' }],
    acceptedResults: [],
    risk: 'effect',
    actions: [action],
    effectActions: [action],
    resources: [{ type: resourceType, input: 'resource_id' }],
    datatypes: ['internal'],
    purposes: [purpose],
    toolContracts: [],
    evidence: { anchorTypes: [EFFECT_ANCHOR], countMin: 1 },
    acceptanceCriteria: [],
    stateFields: [],
    approval: 'person',
    sideEffect: 'external',
    available: true,
    timeoutMs,
    minimumRuntimeMs: 0,
    latencySloMs: timeoutMs,
    retry: { attemptCountMax: 3, backoffMs: 200 },
    stepBudget: { modelTokenCountMax: 0, toolCallCountMax: 0, timeoutMs },
    taskSupport: 'forbidden',
    whichArtifact: 'only',
  };
}

/** The anchor type of what a tool's owner shows. */
export const EFFECT_ANCHOR = 'tool-effect';

function document(id: string, properties: Readonly<Record<string, unknown>>): SchemaDocument {
  const schema = {
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  } as SchemaDocument['schema'];
  return { schemaId: `urn:caseops:governed:${id}`, schemaVersion: VERSION, digest: digestOf(schema), schema };
}

/** Known, and never sent to: an effect step is the writer's. */
function noTeam(announcement: TeamAnnouncement): TeamTransport {
  return {
    team: TEAM,
    discover: () => Promise.resolve(announcement),
    async *send({ dispatchId }) {
      const message = `Dispatch ${dispatchId} asks a program for what only the writer may do.`;
      yield { kind: 'failed', error: { code: 'ERR_DENIED', kind: 'denied', message, at: 'runtime', retryable: false } };
    },
    cancel: () => Promise.resolve('unknown'),
  };
}
