/** A tool contract: the pinned description of one MCP tool; anything else the server says is drift. Source: PROTOCOLS "MCP". */
import { z } from 'zod';
import { action, digest, name, pointer, semver } from './ids.ts';
import { schemaDocument } from './skill.ts';

export const toolContract = z.strictObject({
  server: name,
  tool: name,
  version: semver,
  protocolVersion: z.string().max(32),
  description: z.string().max(500),
  input: schemaDocument,
  output: schemaDocument,
  sideEffect: z.enum(['none', 'external']),
  risk: z.enum(['read_only', 'draft', 'effect']),
  requiredActions: z.array(action).min(1).max(16),
  purposes: z.array(name).min(1).max(32),
  /** Which argument names the resource: `{ type: 'claim', argument: 'claim_id' }`. */
  resource: z.strictObject({ type: name, argument: z.string().regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/) }),
  classification: name,
  timeoutMs: z.int().min(1).max(3_600_000),
  latencySloMs: z.int().min(1).max(3_600_000),
  idempotency: z.enum(['read', 'key', 'none']),
  taskSupport: z.literal('forbidden'),
  /** How evidence is made from an output. Version, tenant and time are checked here, each with its own code, not by the output schema. */
  evidence: z.strictObject({
    source: name,
    anchorType: name,
    /** Pointer to the array of records in the output; an empty array is no_data. */
    recordsPointer: pointer,
    /** In a record: what is observed (slots point into this), its id, version and observation time. */
    dataPointer: pointer,
    idPointer: pointer,
    versionPointer: pointer,
    observedAtPointer: pointer,
    /** Pointer to the record's tenant; compared with the lease's tenant. */
    tenantPointer: pointer,
    trust: z.enum(['authoritative', 'reported', 'untrusted']),
  }),
  /** Over everything but this field. */
  digest,
});
export type ToolContract = z.infer<typeof toolContract>;
