/**
 * One narrower lease per step and tool server, exchanged at the issuer on the first call. It names the server, the actions, data
 * classes and resources of the step's tools there, and every argument: bounds are a closed world. What writes gets a lease of its own
 * per call. Source: LEASE "Minting" and "Narrowing"; INV-10.
 */
import type { Bound, LeaseDetail } from '#contracts/lease.ts';
import type { ToolContract } from '#contracts/tool-contract.ts';
import { checkBounds } from '#kernel/narrowing.ts';
import type { HeldLease } from '#ports/issuer.ts';
import type { StepScope } from './step-scope.ts';

export interface PlannedCall {
  readonly contract: ToolContract;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** `claim:C-102`. */
  readonly resource: string;
}

export interface ToolLeases {
  /** A lease under which this call is lawful. Throws what the issuer refuses with. */
  leaseFor(call: PlannedCall): Promise<HeldLease>;
}

interface Exchanged {
  readonly detail: Omit<LeaseDetail, 'type'>;
  readonly lease: Promise<HeldLease>;
  usesLeftCount: number;
}

/** `tools` are the contracts that the step's skill names. */
export function createToolLeases(scope: StepScope, tools: readonly ToolContract[]): ToolLeases {
  const byServer = new Map<string, Exchanged>();
  const allotments = allotmentsOf(scope, tools);
  return {
    async leaseFor(call) {
      const { contract } = call;
      const known = byServer.get(contract.server);
      if (known !== undefined && !writes(contract) && covers(known, call)) {
        known.usesLeftCount -= 1;
        const lease = await known.lease;
        if (lease.expiresAt * 1_000 > scope.clock.nowMs()) return lease;
      }
      const leftCount = allotments.get(contract.server) ?? 0;
      const count = writes(contract) ? 1 : Math.max(1, leftCount);
      allotments.set(contract.server, leftCount - count);
      if (count === 1) return exchange(scope, { detail: detailOf(scope, [contract], call), use: 'single', contract });
      const peers = tools.filter((tool) => tool.server === contract.server && !writes(tool));
      const detail = detailOf(scope, peers, call);
      // Kept as a promise, so that calls made at the same time share one exchange.
      const lease = exchange(scope, { detail, use: `count:${count}`, contract });
      const entry = { detail, lease, usesLeftCount: count - 1 };
      byServer.set(contract.server, entry);
      lease.catch(() => {
        if (byServer.get(contract.server) === entry) byServer.delete(contract.server);
      });
      return lease;
    },
  };
}

/** Uses per server: the planned calls of the step, or an equal share of the uses of its lease where those are fewer. */
function allotmentsOf(scope: StepScope, tools: readonly ToolContract[]): Map<string, number> {
  const servers = new Set(tools.map(({ server }) => server));
  const { use } = scope.lease.claims;
  const stepCount = use.startsWith('count:') ? Number(use.slice('count:'.length)) : 1;
  const count = Math.min(scope.dispatch.budget.toolCallCountMax, Math.floor(stepCount / Math.max(1, servers.size)));
  return new Map([...servers].map((server) => [server, count]));
}

/** A tool that changes something, here or outside: its lease is used once. */
export function writes(contract: ToolContract): boolean {
  return contract.sideEffect !== 'none' || contract.risk === 'effect';
}

function exchange(
  scope: StepScope,
  wanted: {
    readonly detail: Omit<LeaseDetail, 'type'>;
    readonly use: 'single' | `count:${string}`;
    readonly contract: ToolContract;
  },
): Promise<HeldLease> {
  return scope.exchange.exchange(
    {
      parent: scope.lease.held,
      audience: scope.toolHost.audience(wanted.contract.server),
      detail: wanted.detail,
      taskId: scope.taskId,
      contextId: scope.contextId,
      use: wanted.use,
    },
    scope.signal,
  );
}

function detailOf(scope: StepScope, tools: readonly ToolContract[], call: PlannedCall): Omit<LeaseDetail, 'type'> {
  const { dispatch } = scope;
  const types = new Set(tools.map(({ resource }) => resource.type));
  return {
    locations: [scope.toolHost.audience(call.contract.server)],
    actions: unique(tools.flatMap(({ requiredActions }) => requiredActions)),
    resources: unique([
      call.resource,
      ...dispatch.resources.filter((resource) => types.has(resource.slice(0, resource.indexOf(':')))),
    ]),
    datatypes: unique(tools.map(({ classification }) => classification)),
    purpose: dispatch.purpose,
    bounds: boundsOf(scope.lease.claims.authorization_details[0]?.bounds ?? {}, call.arguments),
  };
}

/**
 * Every bound of the step's lease stays (leaving one out would be widening), and each argument of the call is pinned to its value.
 * A structured argument cannot be pinned; it keeps the bound that the step's lease has for it, if any.
 */
function boundsOf(
  parent: Readonly<Record<string, Bound>>,
  args: Readonly<Record<string, unknown>>,
): Record<string, Bound> {
  const bounds: Record<string, Bound> = { ...parent };
  for (const [argument, value] of Object.entries(args)) {
    if (isScalar(value)) bounds[argument] = { exact: value };
    else if (Array.isArray(value) && value.every(isScalar)) bounds[argument] = { subset: value };
  }
  return bounds;
}

function covers({ detail, usesLeftCount }: Exchanged, call: PlannedCall): boolean {
  return (
    usesLeftCount > 0 &&
    call.contract.requiredActions.every((action) => detail.actions.includes(action)) &&
    detail.resources.includes(call.resource) &&
    checkBounds(detail.bounds, call.arguments).length === 0
  );
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
