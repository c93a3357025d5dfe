/**
 * The tool host over MCP: one client per server, a lease per call, the pinned contract as the tool's definition and as the measure of
 * its output, and outcomes kept apart. Source: SEAMS §1, PROTOCOLS "MCP".
 */
import { CaseOpsError } from '#contracts/error.ts';
import type { ToolContract } from '#contracts/tool-contract.ts';
import { digestOf } from '#kernel/digest.ts';
import { checkSchema } from '#kernel/schema-check.ts';
import type { Clock } from '#ports/clock.ts';
import type { HeldLease } from '#ports/issuer.ts';
import type { ToolFacts, ToolHost, ToolOutcome } from '#ports/tool-host.ts';
import {
  type CallToolResult,
  type FetchLike,
  StreamableHTTPClientTransport,
  type Tool,
} from '@modelcontextprotocol/client';
import { callSignal } from './abort-reason.ts';
import { findDrift } from './drift.ts';
import { createLeasedFetch } from './leased-fetch.ts';
import { createLink, type ServerLink } from './link.ts';
import { serverVersionOf } from './mcp-client.ts';
import { failureOf, type ToolFailure } from './outcome-map.ts';
import { listedTool } from './sdk-server.ts';
import { createServerSlots, DEFAULT_SERVER_LIMITS, type ServerLimits, type ServerSlots } from './server-slots.ts';
import { toolError } from './tool-answer.ts';
import { MCP_REVISION } from './wire.ts';

export interface McpToolHostOptions {
  /** Server name → URL. The URL is the audience of the server's leases. */
  readonly servers: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** Replaces the network, such as by an in-process server behind the same guard. */
  readonly fetch?: FetchLike;
  /** A larger answer is a contract violation. Default 4 MiB. */
  readonly answerBytesMax?: number;
  /** Calls at each server; what does not fit is answered as throttled. */
  readonly limits?: Partial<ServerLimits>;
}

const ANSWER_BYTES_MAX = 4_194_304;
/** The part of a call's time in which it may wait for its slot. */
const WAIT_SHARE = 0.5;

/** A tool host over Streamable HTTP. Unknown server names throw ERR_CONFIG. */
export function createMcpToolHost(options: McpToolHostOptions): ToolHost {
  const { clock, fetch: network = fetch, answerBytesMax = ANSWER_BYTES_MAX } = options;
  const links = Object.entries(options.servers).map(([name, url]): readonly [string, ServerLink] => [
    name,
    createLink(url, (calls) => {
      const leased = createLeasedFetch({ calls, target: url, fetch: network, answerBytesMax });
      return new StreamableHTTPClientTransport(new URL(url), { fetch: leased });
    }),
  ]);
  return hostOver(new Map(links), clock, options.limits);
}

/** A tool host over links of any transport; what a call means is the same on all of them. */
export function hostOver(
  links: ReadonlyMap<string, ServerLink>,
  clock: Clock,
  limits: Partial<ServerLimits> = {},
): ToolHost {
  const slots = createServerSlots({ ...DEFAULT_SERVER_LIMITS, ...limits }, clock);
  const host: Host = { links, clock, slots, definitions: new Map(), versions: new Map(), quarantined: new Map() };
  return {
    audience: (server) => linkOf(host, server).audience,
    call: (contract, args, lease, signal) => callTool(host, { contract, args, lease, signal }),
    verify: (contracts, lease, signal) => verifyContracts(host, { contracts, lease, signal }),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...links.values()].map((link) => link.close()));
    },
  };
}

interface Host {
  readonly links: ReadonlyMap<string, ServerLink>;
  readonly clock: Clock;
  readonly slots: ServerSlots;
  /** By contract digest: the same object each time, so that its validator is compiled once. */
  readonly definitions: Map<string, Tool>;
  /** Last seen version by server. */
  readonly versions: Map<string, string>;
  /** Tools found to differ from their contract, by server and tool: not called again until they verify. */
  readonly quarantined: Map<string, string>;
}

interface Call {
  readonly contract: ToolContract;
  readonly args: Readonly<Record<string, unknown>>;
  readonly lease: HeldLease;
  readonly signal: AbortSignal;
}

async function callTool(host: Host, call: Call): Promise<ToolOutcome> {
  const startedAt = host.clock.now();
  const outcome = refusedHere(host, call) ?? (await sentCall(host, call));
  const facts: ToolFacts = {
    protocolRevision: MCP_REVISION,
    serverVersion: host.versions.get(call.contract.server) ?? 'unknown',
    startedAt,
    endedAt: host.clock.now(),
  };
  return { ...facts, ...outcome };
}

type Judged = ToolFailure | Pick<Extract<ToolOutcome, { outcome: 'ok' }>, 'outcome' | 'output' | 'resultDigest'>;

/** What must not even be sent: a lease to a server that it is not for, a call of a tool that has drifted. */
function refusedHere(host: Host, { contract, lease }: Call): ToolFailure | undefined {
  const { audience } = linkOf(host, contract.server);
  if (lease.audience !== audience)
    return {
      outcome: 'refused',
      code: 'audience',
      boundary: 'mcp',
      message: `Lease ${lease.leaseId} is for ${lease.audience}, not for ${contract.server} at ${audience}.`,
    };
  const drift = host.quarantined.get(toolKey(contract));
  return drift === undefined
    ? undefined
    : { outcome: 'contract_violation', code: 'ERR_TOOL_CONTRACT_DRIFT', message: drift };
}

async function sentCall(host: Host, { contract, args, lease, signal: outer }: Call): Promise<Judged> {
  const { clock } = host;
  using stopping = callSignal(outer);
  const disarm = clock.at(clock.nowMs() + contract.timeoutMs, () => stopping.stop('deadline'));
  const leased = { lease, sent: false };
  let taken = false;
  try {
    taken = await host.slots.take(contract.server, {
      msMax: contract.timeoutMs * WAIT_SHARE,
      signal: stopping.signal,
    });
    // Nothing was sent: the lease can be used when it is tried again, about one call later.
    if (!taken) return { outcome: 'throttled', retryAfterMs: contract.latencySloMs };
    const result = await linkOf(host, contract.server).call(leased, {
      name: contract.tool,
      arguments: { ...args },
      definition: definitionOf(host, contract),
      signal: stopping.signal,
    });
    host.versions.set(contract.server, serverVersionOf(result) ?? 'unknown');
    return judgeResult(contract, result);
  } catch (error) {
    return settled(failureOf(error), contract, leased.sent);
  } finally {
    disarm();
    if (taken) host.slots.give(contract.server);
  }
}

/** What was never sent is not unknown; what was sent and stopped may have acted, which for a read does not matter. */
function settled(failure: ToolFailure, contract: ToolContract, sent: boolean): ToolFailure {
  if (failure.outcome === 'unknown_outcome' && !sent)
    return { outcome: 'tool_error', code: 'ERR_SERVER_UNREACHABLE', message: 'The request could not be sent.' };
  if (failure.outcome === 'cancelled' && sent && contract.sideEffect !== 'none')
    return { outcome: 'unknown_outcome', message: `The call was stopped (${failure.reason}) after it had been sent.` };
  return failure;
}

function judgeResult(contract: ToolContract, result: CallToolResult): Judged {
  if (result.isError === true) return judgeError(contract, result.structuredContent);
  const output: unknown = result.structuredContent;
  const [issue] = checkSchema(contract.output, output);
  if (issue)
    return {
      outcome: 'contract_violation',
      code: 'ERR_TOOL_OUTPUT_SCHEMA',
      message: `The output of ${contract.tool} breaks ${contract.output.schemaId} at "${issue.pointer}": ${issue.message}`,
    };
  return { outcome: 'ok', output, resultDigest: digestOf(output) };
}

function judgeError(contract: ToolContract, said: unknown): ToolFailure {
  const error = toolError.safeParse(said).data;
  if (!error)
    return {
      outcome: 'tool_error',
      code: 'ERR_TOOL_FAILED',
      message: `${contract.tool} failed and did not say why in the error schema.`,
    };
  const { code, message, retryAfterMs } = error;
  return code === 'ERR_TOOL_THROTTLED'
    ? { outcome: 'throttled', retryAfterMs: retryAfterMs ?? 1_000 }
    : { outcome: 'tool_error', code, message };
}

interface Verification {
  readonly contracts: readonly ToolContract[];
  readonly lease: HeldLease;
  readonly signal: AbortSignal;
}

/** Each server that the contracts name must be the lease's audience: one control lease opens one server. */
async function verifyContracts(host: Host, { contracts, lease, signal }: Verification): Promise<void> {
  for (const server of new Set(contracts.map((contract) => contract.server))) {
    const link = linkOf(host, server);
    if (lease.audience !== link.audience)
      throw new CaseOpsError('ERR_USAGE', `Lease ${lease.leaseId} is for ${lease.audience}, not for ${server}.`, {
        at: 'mcp',
      });
    using stopping = callSignal(signal);
    const own = contracts.filter((contract) => contract.server === server);
    const listed = await link.list({ lease, sent: false }, stopping.signal).catch((error: unknown) => {
      throw notVerified(server, failureOf(error));
    });
    settle(host, own, listed);
  }
}

function settle(host: Host, contracts: readonly ToolContract[], listed: readonly Tool[]): void {
  const drifts = findDrift(contracts, listed);
  for (const contract of contracts) {
    const own = drifts.filter(({ tool }) => tool === contract.tool);
    if (own.length === 0) host.quarantined.delete(toolKey(contract));
    else host.quarantined.set(toolKey(contract), sentenceOf(contract, own));
  }
  const [first] = contracts.filter((contract) => host.quarantined.has(toolKey(contract)));
  if (!first) return;
  throw new CaseOpsError('ERR_TOOL_CONTRACT_DRIFT', host.quarantined.get(toolKey(first)) ?? '', {
    at: 'mcp',
    detail: { server: first.server, drifts: drifts.map((drift) => ({ ...drift })) },
  });
}

function sentenceOf(contract: ToolContract, drifts: ReturnType<typeof findDrift>): string {
  const parts = drifts.map(({ what, expected, got }) => `${what}: expected ${expected}, got ${got}`);
  return `${contract.server} does not serve ${contract.tool} as pinned (${parts.join('; ')}).`;
}

function notVerified(server: string, failure: ToolFailure): CaseOpsError {
  const said = 'message' in failure ? failure.message : failure.outcome;
  const message = `The contracts of ${server} could not be verified: ${said}`;
  switch (failure.outcome) {
    case 'refused':
      return new CaseOpsError('ERR_LEASE', message, { at: failure.boundary, detail: { code: failure.code } });
    case 'cancelled':
      return new CaseOpsError('ERR_CANCELLED', message, { at: 'mcp', detail: { reason: failure.reason } });
    case 'contract_violation':
      return new CaseOpsError('ERR_TOOL_CONTRACT_DRIFT', message, { at: 'mcp', detail: { code: failure.code } });
    case 'tool_error':
    case 'throttled':
    case 'unknown_outcome':
      return new CaseOpsError('ERR_SERVER_UNREACHABLE', message, { at: 'mcp' });
  }
}

function definitionOf(host: Host, contract: ToolContract): Tool {
  const known = host.definitions.get(contract.digest);
  if (known) return known;
  const made = listedTool(contract);
  host.definitions.set(contract.digest, made);
  return made;
}

function linkOf(host: Host, server: string): ServerLink {
  const link = host.links.get(server);
  if (link) return link;
  throw new CaseOpsError('ERR_CONFIG', `No MCP server is configured under the name ${server}.`, { at: 'mcp' });
}

function toolKey({ server, tool }: ToolContract): string {
  return `${server}/${tool}`;
}
