/** Tool servers in memory: the same handlers, no protocol. For tests of workers and of what calls them. */
import { toErrorRecord } from '#contracts/error.ts';
import type { LeaseClaims } from '#contracts/lease.ts';
import type { ToolContract } from '#contracts/tool-contract.ts';
import { digestOf } from '#kernel/digest.ts';
import { checkCall } from '#kernel/narrowing.ts';
import type { Clock } from '#ports/clock.ts';
import type { HeldLease } from '#ports/issuer.ts';
import type { McpServerDefinition, ToolCaller } from '#ports/team-definition.ts';
import type { ToolHost, ToolOutcome } from '#ports/tool-host.ts';

interface FakeToolCall {
  readonly contract: ToolContract;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly lease: HeldLease;
  readonly signal: AbortSignal;
}

export interface FakeToolHost extends ToolHost {
  /** Every call that reached the host, in order. */
  readonly calls: readonly FakeToolCall[];
}

export interface FakeToolHostOptions {
  readonly servers: readonly McpServerDefinition[];
  readonly clock: Clock;
  /** The claims behind a lease, as `createFakeAuthority` knows them; a call outside them is refused. Absent: no lease is looked at. */
  readonly claimsOf?: ((lease: HeldLease) => LeaseClaims | undefined) | undefined;
  /** For whom, where no lease is looked at. */
  readonly tenant?: string;
  /** Answers in place of the handler: an outcome without its facts, or undefined to let the handler answer. `index` counts from 0. */
  readonly fault?: (call: FakeToolCall, index: number) => FakeOutcome | Promise<FakeOutcome> | undefined;
}

type WithoutFacts<T> = T extends unknown
  ? Omit<T, 'protocolRevision' | 'serverVersion' | 'startedAt' | 'endedAt'>
  : never;
/** An outcome without its facts. */
export type FakeOutcome = WithoutFacts<ToolOutcome>;

export function createFakeToolHost(options: FakeToolHostOptions): FakeToolHost {
  const calls: FakeToolCall[] = [];
  return {
    audience: (server) => `mcp:${server}`,
    call: async (contract, args, lease, signal) => {
      const call = { contract, arguments: args, lease, signal };
      const startedAt = options.clock.now();
      const index = calls.push(call) - 1;
      const outcome = (await options.fault?.(call, index)) ?? (await answer(options, call));
      return {
        ...outcome,
        protocolRevision: contract.protocolVersion,
        serverVersion: '1.0.0',
        startedAt,
        endedAt: options.clock.now(),
      };
    },
    verify: async () => undefined,
    calls,
    [Symbol.asyncDispose]: async () => undefined,
  };
}

async function answer(options: FakeToolHostOptions, call: FakeToolCall): Promise<FakeOutcome> {
  const { contract } = call;
  const refused = options.claimsOf === undefined ? undefined : refusal(options.claimsOf(call.lease), call);
  if (refused !== undefined) return { outcome: 'refused', code: refused, boundary: 'mcp', message: 'Refused.' };
  const endpoint = options.servers
    .find(({ name }) => name === contract.server)
    ?.tools.find((tool) => tool.contract.tool === contract.tool);
  if (endpoint === undefined)
    return { outcome: 'unknown_outcome', message: `No server serves ${contract.server}/${contract.tool}.` };
  try {
    const records = await endpoint.invoke(call.arguments, callerOf(options, call));
    const output: unknown = JSON.parse(JSON.stringify({ records }));
    return { outcome: 'ok', output, resultDigest: digestOf(output) };
  } catch (error) {
    const { code, message } = toErrorRecord(error, { code: 'ERR_TOOL_FAILED', at: 'mcp' });
    return { outcome: 'tool_error', code, message };
  }
}

function callerOf(options: FakeToolHostOptions, { contract, lease, signal }: FakeToolCall): ToolCaller {
  const claims = options.claimsOf?.(lease);
  const tenant = claims?.tenant ?? options.tenant ?? 't9';
  return {
    tenant,
    subject: claims?.sub ?? `requester@${tenant}`,
    purpose: claims?.authorization_details[0]?.purpose ?? contract.purposes[0] ?? '',
    leaseId: lease.leaseId,
    signal,
  };
}

/** The first thing that the lease does not allow. */
function refusal(claims: LeaseClaims | undefined, { contract, arguments: args }: FakeToolCall): string | undefined {
  const detail = claims?.authorization_details[0];
  if (claims === undefined || detail === undefined) return 'unknown_lease';
  if (claims.aud !== `mcp:${contract.server}`) return 'audience';
  const call = {
    resources: [`${contract.resource.type}:${String(args[contract.resource.argument])}`],
    purpose: undefined,
    datatypes: [contract.classification],
    arguments: args,
  };
  const found = contract.requiredActions.flatMap((action) => checkCall(detail, { action, ...call }));
  return found[0]?.dimension;
}
