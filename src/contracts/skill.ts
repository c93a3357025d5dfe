/** The skill contract: one versioned object; the planner sees a projection, validator and guard the whole. Source: CONTRACTS. */
import { z } from 'zod';
import { stepBudget } from './budget.ts';
import { action, digest, name, pointer, semver } from './ids.ts';
import { stepStatus } from './step-result.ts';

export const risk = z.enum(['read_only', 'draft', 'effect']);
export type Risk = z.infer<typeof risk>;

/** A JSON Schema 2020-12 document with its id and version. */
export const schemaDocument = z.strictObject({
  schemaId: z.string().min(1).max(256),
  schemaVersion: semver,
  digest,
  schema: z.record(z.string(), z.json()),
});
export type SchemaDocument = z.infer<typeof schemaDocument>;

export const skillContract = z.strictObject({
  skillId: name,
  version: semver,
  team: name,
  description: z.string().min(1).max(500),
  input: schemaDocument,
  artifact: schemaDocument,
  /** Named inputs: property `name` of the input, filled from an entity or upstream output of kind `kind`. */
  requires: z.array(z.strictObject({ name, kind: name })).max(32),
  /** Output kinds and where each is in the artifact's data. */
  produces: z.array(z.strictObject({ kind: name, pointer })).max(32),
  /** Statuses of each dependency under which this skill may still start, besides `completed`. */
  acceptedResults: z.array(stepStatus).max(4),
  risk,
  actions: z.array(action).min(1).max(16),
  effectActions: z.array(action).max(16),
  /** Which input names the resource: `{ type: 'claim', input: 'claim_id' }` → `claim:C-102`. */
  resources: z.array(z.strictObject({ type: name, input: name })).max(8),
  datatypes: z.array(name).max(16),
  purposes: z.array(name).min(1).max(32),
  /** The tools a worker of this skill may call; empty means its lease may not be narrowed further (dlg.max 0). */
  toolContracts: z.array(z.strictObject({ server: name, tool: name, version: semver, digest })).max(16),
  evidence: z.strictObject({ anchorTypes: z.array(name).max(16), countMin: z.int().min(0).max(64) }),
  acceptanceCriteria: z.array(z.string().max(500)).max(16),
  stateFields: z.array(z.string().max(128)).max(32),
  approval: z.enum(['none', 'policy', 'person', 'quorum']),
  sideEffect: z.enum(['none', 'external']),
  /** False: the contract is published but nobody can run it yet; no plan may use it. */
  available: z.boolean(),
  timeoutMs: z.int().min(1).max(3_600_000),
  minimumRuntimeMs: z.int().min(0).max(3_600_000),
  latencySloMs: z.int().min(1).max(3_600_000),
  retry: z.strictObject({ attemptCountMax: z.int().min(1).max(10), backoffMs: z.int().min(0).max(60_000) }),
  stepBudget,
  taskSupport: z.literal('forbidden'),
  whichArtifact: z.enum(['only', 'last', 'first']),
});
export type SkillContract = z.infer<typeof skillContract>;
