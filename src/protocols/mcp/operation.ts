/**
 * What an MCP message wants to do, in the guard's words: action, resources, purpose, data class, arguments. Pure; decides nothing.
 * A tool that is not served here and a tool that the lease does not name look alike. Source: SEAMS §1, CONTRACTS "Lease details".
 */
import type { LeaseClaims } from '#contracts/lease.ts';
import type { GuardOperation, Refusal } from '#ports/guard.ts';
import type { McpServerDefinition, ToolEndpoint } from '#ports/team-definition.ts';
import { callParams, DISCOVER_ACTION, MCP_METHODS, type McpMessage } from './wire.ts';

export type McpOperation =
  /** All operations must be permitted, then the lease is consumed and the tool invoked. */
  | { readonly kind: 'call'; readonly tool: ToolEndpoint; readonly operations: readonly GuardOperation[] }
  /** The whole list under a control lease. */
  | { readonly kind: 'discover'; readonly operations: readonly GuardOperation[] }
  /** Under a work lease a list is narrowed to the tools whose own operations are permitted. */
  | {
      readonly kind: 'narrowed-list';
      readonly candidates: readonly { readonly tool: ToolEndpoint; readonly operations: readonly GuardOperation[] }[];
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'unknown-method' };

/** Reads the operation of a message under the lease that came with it. */
export function readOperation(message: McpMessage, lease: LeaseClaims, server: McpServerDefinition): McpOperation {
  switch (message.method) {
    case MCP_METHODS.discover:
      return { kind: 'discover', operations: [discovery()] };
    case MCP_METHODS.list:
      return lease.use === 'control'
        ? { kind: 'discover', operations: [discovery()] }
        : {
            kind: 'narrowed-list',
            candidates: server.tools.map((tool) => ({ tool, operations: listing(tool, lease) })),
          };
    case MCP_METHODS.call:
      return readCall(message, lease, server);
    default:
      return { kind: 'unknown-method' };
  }
}

function readCall(message: McpMessage, lease: LeaseClaims, server: McpServerDefinition): McpOperation {
  const params = callParams.safeParse(message.params);
  if (!params.success) return refused('shape', 'tools/call needs a tool name and an object of arguments.');
  const { name, arguments: args } = params.data;
  const tool = server.tools.find(({ contract }) => contract.tool === name);
  if (!tool) return refused('action', `The lease ${lease.jti} does not permit the tool that was called.`);
  const { type, argument } = tool.contract.resource;
  const resources = resourcesOf(type, Object.hasOwn(args, argument) ? args[argument] : undefined);
  if (!resources)
    return refused('resource', `${name} needs its resource in the argument ${argument}: text, or 1 to 64 texts.`);
  return { kind: 'call', tool, operations: operationsOf(tool, lease, { resources, arguments: args }) };
}

/** A listing names no resource of its own: the tool may be seen if a call on what the lease names could be permitted. */
function listing(tool: ToolEndpoint, lease: LeaseClaims): readonly GuardOperation[] {
  const named = lease.authorization_details[0]?.resources ?? [];
  const resources = named.filter((resource) => resource.startsWith(`${tool.contract.resource.type}:`));
  return operationsOf(tool, lease, { resources, arguments: undefined });
}

function operationsOf(
  { contract }: ToolEndpoint,
  lease: LeaseClaims,
  rest: Pick<GuardOperation, 'resources' | 'arguments'>,
): readonly GuardOperation[] {
  const leased = lease.authorization_details[0]?.purpose;
  // A purpose that the tool does not serve is handed on as the tool's own, so that the guard's comparison refuses it.
  const purpose = contract.purposes.find((served) => served === leased) ?? contract.purposes[0];
  return contract.requiredActions.map((action) => ({
    ...UNSAID,
    ...rest,
    action,
    purpose,
    datatypes: [contract.classification],
    lease: 'work',
  }));
}

function discovery(): GuardOperation {
  return {
    ...UNSAID,
    action: DISCOVER_ACTION,
    resources: [],
    purpose: undefined,
    datatypes: [],
    arguments: undefined,
    lease: 'control',
  };
}

/** An MCP request says none of these; they are the lease's. */
const UNSAID = {
  tenant: undefined,
  subject: undefined,
  run: undefined,
  step: undefined,
  attempt: undefined,
  planDigest: undefined,
  taskId: undefined,
  contextId: undefined,
} as const;

const RESOURCE_COUNT_MAX = 64;

function resourcesOf(type: string, value: unknown): readonly string[] | undefined {
  const ids: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (ids.length === 0 || ids.length > RESOURCE_COUNT_MAX) return undefined;
  const texts = ids.filter((id) => typeof id === 'string');
  return texts.length === ids.length ? texts.map((id) => `${type}:${id}`) : undefined;
}

function refused(code: string, message: string): McpOperation {
  return { kind: 'refused', refusal: { outcome: 'deny', code, boundary: 'mcp', message, guard: code } };
}
