/**
 * The SDK's server for one defined MCP server: lists and calls tools for a grant that the guard has already given. It decides nothing
 * about authority and refuses to work without a grant. Tools only: no tasks, prompts, resources or subscriptions are declared.
 */
import type { ToolContract } from '#contracts/tool-contract.ts';
import type { McpServerDefinition, ToolCaller } from '#ports/team-definition.ts';
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import type { McpGrant } from './grant.ts';
import { errorAnswer, recordsAnswer } from './tool-answer.ts';
import { CONTRACT_META_KEY } from './wire.ts';

/** One instance per request (HTTP) or connection (message transports). `grantOf` finds the grant of the request being served. */
export function createSdkServer(
  definition: McpServerDefinition,
  grantOf: (context: ServerContext) => McpGrant | undefined,
): Server {
  const server = new Server({ name: definition.name, version: definition.version }, { capabilities: { tools: {} } });
  const granted = (context: ServerContext): McpGrant => {
    const grant = grantOf(context);
    if (!grant)
      throw new ProtocolError(ProtocolErrorCode.InternalError, 'No grant of the guard came with this request.');
    return grant;
  };
  server.setRequestHandler('tools/list', (_request, context) => ({
    tools: granted(context).tools.map(({ contract }) => listedTool(contract)),
  }));
  server.setRequestHandler('tools/call', async (request, context): Promise<CallToolResult> => {
    const grant = granted(context);
    const tool = grant.tools.find(({ contract }) => contract.tool === request.params.name);
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The tool is not the one that was granted.');
    try {
      return recordsAnswer(await tool.invoke(request.params.arguments ?? {}, callerOf(grant, context.mcpReq.signal)));
    } catch (error) {
      return errorAnswer(error, tool.contract.tool);
    }
  });
  return server;
}

/** A pinned contract as MCP lists a tool. Also what the client passes as the tool's definition, so that both views agree. */
export function listedTool(contract: ToolContract): Tool {
  return {
    name: contract.tool,
    description: contract.description,
    inputSchema: { ...contract.input.schema, type: 'object' },
    outputSchema: { ...contract.output.schema, type: 'object' },
    annotations: {
      readOnlyHint: contract.sideEffect === 'none',
      destructiveHint: contract.sideEffect !== 'none',
      idempotentHint: contract.idempotency !== 'none',
      openWorldHint: false,
    },
    _meta: { [CONTRACT_META_KEY]: { version: contract.version, digest: contract.digest } },
  };
}

function callerOf({ lease, traceparent }: McpGrant, signal: AbortSignal): ToolCaller {
  return {
    tenant: lease.tenant,
    subject: lease.sub,
    purpose: lease.authorization_details[0]?.purpose ?? '',
    leaseId: lease.jti,
    traceparent,
    signal,
  };
}
