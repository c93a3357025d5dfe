/**
 * What a model proposes inside a worker, one at a time, and what was decided about it. The proposal is untrusted; the record holds digests
 * and the verdict, never arguments or data. Source: DESIGN §3.5 "agentic worker"; INV-16.
 */
import { z } from 'zod';
import { digest, name, pointer } from './ids.ts';

/** Of the text that a model returns; deeper or longer is refused unread. */
export const PROPOSAL_BYTES_MAX = 65_536;
export const PROPOSAL_DEPTH_MAX = 16;

/** A value that was observed: where it is in the record of a piece of evidence. The only way into a finish's data. */
export const observedValue = z.strictObject({ evidenceId: z.string().max(80), pointer });
export type ObservedValue = z.infer<typeof observedValue>;

/** A field of the artifact's data: one observed value, or a list of them. */
export const boundField = z.union([observedValue, z.array(observedValue).max(256)]);
export type BoundField = z.infer<typeof boundField>;

/** `tool` is written `server/tool`. Fields of a finish are read one by one, so that a spelled value is told from a malformed one. */
export const toolProposal = z.union([
  z.strictObject({
    call: z.strictObject({ tool: z.string().max(256), arguments: z.record(z.string().max(128), z.json()) }),
  }),
  z.strictObject({ finish: z.strictObject({ data: z.record(z.string().max(128), z.json()) }) }),
  /** Searched, and nothing was there. */
  z.strictObject({ finish: z.strictObject({ nothing: z.literal(true) }) }),
]);
export type ToolProposal = z.infer<typeof toolProposal>;

/** Why a proposal was permitted or not. Whoever reads a log counts these. */
export const proposalReason = z.enum([
  'lawful',
  /** The model gave nothing in time, or failed. */
  'timeout',
  'model_failed',
  /** No strict JSON, or none of the shapes above. */
  'unreadable',
  'malformed',
  'unknown_tool',
  /** Not by the tool's input schema; outside the lease's bounds; against dispatch, prohibition or purpose. */
  'arguments',
  'bounds',
  'not_permitted',
  'repeated',
  'token_limit',
  'call_limit',
  /** A finish: a value that is spelled and not observed, evidence nobody observed, a place with nothing, data the schema refuses. */
  'invented',
  'unknown_evidence',
  'nowhere',
  'data',
  /** It says that nothing was found, and nothing was searched, or something was found. */
  'not_nothing',
]);
export type ProposalReason = z.infer<typeof proposalReason>;

export const proposalRecord = z.strictObject({
  /** Counted per attempt, from 1, also across a restart. */
  index: z.int().min(1),
  proposed: z.enum(['call', 'finish', 'unread']),
  /** Only of a tool that the skill has: another name is the model's text. */
  tool: z.templateLiteral([name, '/', name]).optional(),
  /** Over the arguments, RFC 8785: with the tool, the call's fingerprint. */
  argumentsDigest: digest.optional(),
  /** Over the text as the model returned it; absent when it returned none. */
  proposalDigest: digest.optional(),
  verdict: z.enum(['permitted', 'refused']),
  reason: proposalReason,
  modelVersion: z.string().max(128),
  /** What it cost, as the model port counted it. */
  modelTokenCount: z.int().min(0).max(1_000_000_000),
});
export type ProposalRecord = z.infer<typeof proposalRecord>;
