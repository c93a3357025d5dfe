/**
 * Evidence: one observation of one record version. Deduplicated on source + anchor + version.
 * Written together as `claim:C-102@v17`. Source: CONTRACTS "Evidence".
 */
import { z } from 'zod';
import { callId, digest, evidenceId, name, timestamp } from './ids.ts';

export const evidence = z.strictObject({
  evidenceId,
  /** The system that owns the record, such as `claims-db`. */
  source: name,
  /** The record without its version: `claim:C-102`. */
  anchor: z.string().regex(/^[a-z][a-z0-9-]*:[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/),
  /** The record's version as its owner writes it: `v17`. */
  version: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/),
  observedAt: timestamp,
  validFrom: timestamp.optional(),
  validTo: timestamp.optional(),
  /** Over the observed record, RFC 8785. */
  digest,
  trust: z.enum(['authoritative', 'reported', 'untrusted']),
  /** Who may read it: data classes of the reader, e.g. `internal`. */
  readers: z.array(name).max(16),
  confidence: z.number().min(0).max(1).optional(),
  /** The tool call that observed it. */
  callId: callId.optional(),
});
export type Evidence = z.infer<typeof evidence>;

/** One MCP tool call, by reference: what was called under which lease, and digests of what went in and came out. */
export const toolCall = z.strictObject({
  callId,
  server: name,
  tool: name,
  contractVersion: z.string().max(32),
  contractDigest: digest,
  protocolRevision: z.string().max(32),
  serverVersion: z.string().max(64),
  leaseId: z.string().max(80),
  worker: name,
  argumentsDigest: digest,
  resultDigest: digest.optional(),
  /** `refused`: a guard said no before the tool ran. */
  outcome: z.enum(['ok', 'tool_error', 'contract_violation', 'throttled', 'cancelled', 'refused', 'unknown_outcome']),
  startedAt: timestamp,
  endedAt: timestamp,
});
export type ToolCall = z.infer<typeof toolCall>;

/** `claim:C-102@v17`. */
export function anchorAtVersion(item: Pick<Evidence, 'anchor' | 'version'>): string {
  return `${item.anchor}@${item.version}`;
}

/** The identity under which evidence is deduplicated: source + anchor + version. */
export function evidenceKey(item: Pick<Evidence, 'source' | 'anchor' | 'version'>): string {
  return `${item.source} ${item.anchor}@${item.version}`;
}
