/**
 * Admits one MCP message of an authenticated caller: the same decision on every transport. Reads the operation, asks the guard, and says
 * which tools the request may see or call; consuming the lease is the transport's next step. Source: LEASE "Checking".
 */
import type { LeaseClaims } from '#contracts/lease.ts';
import type { Authenticated, Guard, GuardOperation, Refusal } from '#ports/guard.ts';
import type { McpServerDefinition } from '#ports/team-definition.ts';
import { McpGrant } from './grant.ts';
import { type McpOperation, readOperation } from './operation.ts';
import type { McpMessage } from './wire.ts';

export type Admission =
  /** The lease must be consumed before the tool is entered. */
  | { readonly kind: 'call'; readonly grant: McpGrant }
  | { readonly kind: 'list'; readonly grant: McpGrant }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'unknown-method' };

export interface AdmissionRoom {
  readonly guard: Guard;
  readonly server: McpServerDefinition;
}

/** Pure but for the guard's own state. */
export function admit(message: McpMessage, authenticated: Authenticated, room: AdmissionRoom): Admission {
  const { lease } = authenticated;
  const operation = readOperation(message, lease, room.server);
  switch (operation.kind) {
    case 'unknown-method':
    case 'refused':
      return operation;
    case 'discover': {
      const refusal = firstRefusal(room.guard, authenticated, operation.operations);
      return refusal ? { kind: 'refused', refusal } : listing(lease, room.server.tools);
    }
    case 'narrowed-list':
      return narrowed(operation, authenticated, room.guard);
    case 'call': {
      const refusal = firstRefusal(room.guard, authenticated, operation.operations);
      return refusal ? { kind: 'refused', refusal } : { kind: 'call', grant: new McpGrant(lease, [operation.tool]) };
    }
  }
}

/** The refusal of a lease that an earlier request used up. */
export function leaseConsumed(leaseId: string): Refusal {
  return {
    outcome: 'deny',
    code: 'lease_consumed',
    boundary: 'mcp',
    message: `The lease ${leaseId} has been used for another request.`,
    guard: 'consume',
  };
}

/** The guard is asked per tool, so that a list never shows what a call would be refused. */
function narrowed(
  { candidates }: Extract<McpOperation, { kind: 'narrowed-list' }>,
  authenticated: Authenticated,
  guard: Guard,
): Admission {
  const judged = candidates.map(({ tool, operations }) => ({
    tool,
    refusal: firstRefusal(guard, authenticated, operations),
  }));
  const tools = judged.flatMap(({ tool, refusal }) => (refusal ? [] : [tool]));
  const refusal = judged[0]?.refusal;
  return tools.length === 0 && refusal ? { kind: 'refused', refusal } : listing(authenticated.lease, tools);
}

function listing(lease: LeaseClaims, tools: McpServerDefinition['tools']): Admission {
  return { kind: 'list', grant: new McpGrant(lease, tools) };
}

function firstRefusal(
  guard: Guard,
  authenticated: Authenticated,
  operations: readonly GuardOperation[],
): Refusal | undefined {
  for (const operation of operations) {
    const checked = guard.authorize(authenticated, operation);
    if (checked.outcome !== 'permit') return checked;
  }
  return undefined;
}
