/** MCP servers of a team without a protocol: the same handlers, or what a test says instead, under the same check of the lease. */
import type { LeaseClaims } from '#contracts/lease.ts';
import type { Clock } from '#ports/clock.ts';
import type { HeldLease } from '#ports/issuer.ts';
import type { McpServerDefinition, ToolCaller } from '#ports/team-definition.ts';
import type { ToolHost } from '#ports/tool-host.ts';
import { seededClock } from './seeded-clock.ts';
import { createFakeToolHost, type FakeOutcome } from './fake-tool-host.ts';

/** A call as a tool saw it. */
export interface SeenCall {
  readonly server: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Of the lease that it was made under. */
  readonly leaseId: string;
}

export interface FakeTools {
  /** Tool → its records, however malformed, in place of its handler's. */
  readonly records?: Readonly<
    Record<string, (args: Readonly<Record<string, unknown>>, caller: ToolCaller) => readonly unknown[]>
  >;
  /** Tool → what it answers instead of records: an outage, throttling, a refusal. Undefined: it answers as usual. */
  readonly faults?: Readonly<Record<string, (call: SeenCall, index: number) => FakeOutcome | undefined>>;
}

export interface FakeToolHost extends ToolHost {
  /** Every call that reached the host, in order. */
  readonly calls: readonly SeenCall[];
}

export interface FakeToolHostOptions extends FakeTools {
  /** Default: stands still at the epoch. */
  readonly clock?: Clock;
  /** The claims behind a lease; a call outside them is refused as a server would refuse it. Absent: leases are not looked at. */
  readonly claimsOf?: (lease: HeldLease) => LeaseClaims | undefined;
  /** For whom, where leases are not looked at; default `t9`. */
  readonly tenant?: string;
}

/** A tool host over the given servers. Ends nothing: it holds no resource. */
export function fakeToolHost(servers: readonly McpServerDefinition[], options: FakeToolHostOptions = {}): FakeToolHost {
  const calls: SeenCall[] = [];
  const host = createFakeToolHost({
    servers: servers.map((server) => ({ ...server, tools: server.tools.map((tool) => replaced(tool, options)) })),
    clock: options.clock ?? seededClock(0),
    claimsOf: options.claimsOf,
    ...(options.tenant === undefined ? {} : { tenant: options.tenant }),
    fault: (call) => {
      const { server, tool } = call.contract;
      const seen = { server, tool, arguments: call.arguments, leaseId: call.lease.leaseId };
      const index = calls.filter((earlier) => earlier.server === server && earlier.tool === tool).length;
      calls.push(seen);
      return Object.hasOwn(options.faults ?? {}, tool) ? options.faults?.[tool]?.(seen, index) : undefined;
    },
  });
  return {
    audience: (server) => host.audience(server),
    call: (contract, args, lease, signal) => host.call(contract, args, lease, signal),
    verify: (contracts, lease, signal) => host.verify(contracts, lease, signal),
    calls,
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

type Endpoint = McpServerDefinition['tools'][number];

function replaced(tool: Endpoint, { records }: FakeTools): Endpoint {
  const instead = Object.hasOwn(records ?? {}, tool.contract.tool) ? records?.[tool.contract.tool] : undefined;
  if (instead === undefined) return tool;
  return {
    contract: tool.contract,
    // Also malformed records travel: refusing them is the business of what calls the tool.
    invoke: async (args, caller) => instead(args as Readonly<Record<string, unknown>>, caller) as never,
  };
}
