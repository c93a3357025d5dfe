/**
 * What happens to tools that a program outside brings along and puts under lease, budget and evidence, as event bodies. Such a run has
 * no goal and no plan: its origin says whose authority it holds, and each call is permitted or refused before the tool runs.
 * Source: DESIGN §3.5, docs/decisions/0010; INV-06, INV-14.
 */
import { z } from 'zod';
import { errorRecord } from './error.ts';
import { evidence, toolCall } from './evidence.ts';
import { action, callId, digest, leaseId, name, pointer, stepId, timestamp } from './ids.ts';
import { toolContract } from './tool-contract.ts';

/** The authority under which a program's calls are made, frozen when the run opens. */
export const governedOrigin = z.strictObject({
  level: z.literal('governed'),
  requestedBy: z.string().min(1).max(256),
  /** The workload that may act for the person. */
  workload: z.string().min(1).max(256),
  purpose: name,
  actions: z.array(action).max(256),
  prohibitedActions: z.array(action).max(256),
  toolCallCountMax: z.int().min(0).max(1_000_000_000),
  policyDigest: digest,
});
export type GovernedOrigin = z.infer<typeof governedOrigin>;

export const toolFramework = z.enum(['langchain', 'ai-sdk', 'mastra']);
export type ToolFramework = z.infer<typeof toolFramework>;

/** Where the parts of a record are in what the tool returns. Null: not said by the record; the rule beside it holds. */
export const recordMapping = z.strictObject({
  recordsPointer: pointer,
  dataPointer: pointer,
  idPointer: pointer,
  versionPointer: pointer,
  /** Null: `soleTenant` holds. */
  tenantPointer: pointer.nullable(),
  /** The one tenant whose records the system behind the tool has. */
  soleTenant: z.string().max(63).nullable(),
  /** Null: the time at which the result arrived. */
  observedAtPointer: pointer.nullable(),
});
export type RecordMapping = z.infer<typeof recordMapping>;

const at = { callId, stepId, tool: name };

export const CALL_EVENT_BODIES = {
  'tool.adopted': z.strictObject({ framework: toolFramework, contract: toolContract, mapping: recordMapping }),
  /** Before the tool runs. Debits the budget by one call, which is never given back. */
  'call.permitted': z.strictObject({
    ...at,
    contractDigest: digest,
    leaseId,
    actions: z.array(action).min(1).max(16),
    resource: z.string().max(256),
    argumentsDigest: digest,
    deadlineAt: timestamp,
  }),
  /** The tool did not run. */
  'call.refused': z.strictObject({ ...at, argumentsDigest: digest.nullable(), error: errorRecord }),
  'call.settled': z.strictObject({
    stepId,
    call: toolCall,
    evidence: z.array(evidence).max(1_000),
    /** Why nothing was returned to the program; null when the result was. */
    error: errorRecord.nullable(),
  }),
} as const satisfies Record<string, z.ZodType>;

export type AdoptedTool = z.infer<(typeof CALL_EVENT_BODIES)['tool.adopted']>;
export type PermittedCall = z.infer<(typeof CALL_EVENT_BODIES)['call.permitted']>;
export type RefusedCall = z.infer<(typeof CALL_EVENT_BODIES)['call.refused']>;
export type SettledCall = z.infer<(typeof CALL_EVENT_BODIES)['call.settled']>;
