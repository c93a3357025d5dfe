/**
 * The words of the MCP wire that this room uses: revision, methods, header names, metadata keys. One table, pinned by a test.
 * Source: MCP 2026-07-28 (Streamable HTTP, request envelope), PROTOCOLS "MCP".
 */
import { z } from 'zod';

/** The only revision spoken inside. Older ones belong to the edge. */
export const MCP_REVISION = '2026-07-28';

/** Methods served; every other method is answered as unknown. Tasks, prompts, resources and subscriptions are not declared. */
export const MCP_METHODS = { call: 'tools/call', list: 'tools/list', discover: 'server/discover' } as const;

/** The action of the control lease under which a server may be discovered and its tools listed. */
export const DISCOVER_ACTION = 'tool:discover';

/** Where a listed tool says which pinned contract it serves; a server that says another digest has drifted. */
export const CONTRACT_META_KEY = 'urn:caseops:ext:tool-contract:v1';

/** JSON-RPC error codes that this room writes itself. `headerMismatch` is MCP's (SEP-2243). */
export const RPC_ERRORS = {
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  headerMismatch: -32_020,
  /** A refusal by the guard on a transport that has no HTTP status. */
  refused: -32_001,
} as const;

/** A request or notification as far as the guard must read it; the SDK checks the rest against the revision's own schema. */
export const mcpMessage = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string().max(256), z.int()]).optional(),
  method: z.string().min(1).max(128),
  params: z.record(z.string(), z.unknown()).optional(),
});
export type McpMessage = z.infer<typeof mcpMessage>;

/** Parameters of tools/call as far as the guard must read them. */
export const callParams = z.looseObject({
  name: z.string().min(1).max(256),
  arguments: z.record(z.string(), z.unknown()).default({}),
});
