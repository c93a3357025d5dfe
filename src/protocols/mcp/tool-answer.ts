/**
 * What a tool's result is on the wire: `{ records }` under the contract's output schema, or `isError` under an error schema of our
 * own, because the SDK checks nothing about results that say `isError`. Source: PROTOCOLS "MCP".
 */
import { CaseOpsError, errorCode, toErrorRecord } from '#contracts/error.ts';
import type { ToolRecord } from '#ports/team-definition.ts';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** The error schema: a code of the union and a sentence; for a throttled call also when to come back. */
export const toolError = z.strictObject({
  code: errorCode,
  message: z.string().max(2_000),
  retryAfterMs: z.int().min(0).max(86_400_000).optional(),
});
type ToolError = z.infer<typeof toolError>;

/** A successful result. The text repeats the structure for clients that read text only. */
export function recordsAnswer(records: readonly ToolRecord<unknown>[]): CallToolResult {
  const output = { records };
  return { content: [{ type: 'text', text: JSON.stringify(output) }], structuredContent: output };
}

/** A failed result. The text of an exception that is not a CaseOpsError never leaves the process. */
export function errorAnswer(thrown: unknown, tool: string): CallToolResult {
  const { code, message } = toErrorRecord(thrown, { code: 'ERR_TOOL_FAILED', at: `tool ${tool}` });
  const retryAfterMs =
    thrown instanceof CaseOpsError ? z.int().min(0).safeParse(thrown.detail['retryAfterMs']) : undefined;
  const error: ToolError = {
    code,
    message: message.slice(0, 2_000),
    ...(retryAfterMs?.success === true && { retryAfterMs: Math.min(retryAfterMs.data, 86_400_000) }),
  };
  return { content: [{ type: 'text', text: JSON.stringify(error) }], structuredContent: error, isError: true };
}
