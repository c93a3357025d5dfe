/** Tool servers of a simulated team: the real guard, the real handlers, the use of the lease in the team's store; the network between. */
import { consumedRefusal } from '#authority/guard.ts';
import { CaseOpsError, toErrorRecord } from '#contracts/error.ts';
import type { ToolContract } from '#contracts/tool-contract.ts';
import { canonicalText } from '#kernel/canonical.ts';
import { digestOf } from '#kernel/digest.ts';
import type { Guard, Refusal } from '#ports/guard.ts';
import type { HeldLease } from '#ports/issuer.ts';
import type { Store } from '#ports/store.ts';
import type { McpServerDefinition } from '#ports/team-definition.ts';
import type { ToolHost } from '#ports/tool-host.ts';
import { admit } from '#protocols/mcp/admission.ts';
import type { FakeOutcome } from '../fake-tool-host.ts';
import type { ToolFault } from './fault.ts';
import type { ProcessLife } from './process-life.ts';
import type { World } from './world.ts';

export interface ToolParts {
  readonly team: string;
  readonly life: ProcessLife;
  /** As this process has it. */
  readonly store: Store;
  readonly servers: readonly McpServerDefinition[];
  readonly audienceOf: (server: string) => string;
  readonly guardOf: (server: string) => Guard | undefined;
}

interface Called {
  readonly contract: ToolContract;
  readonly args: Readonly<Record<string, unknown>>;
  readonly lease: HeldLease;
  readonly signal: AbortSignal;
}

export function simulatedTools(world: World, parts: ToolParts): ToolHost {
  const { time } = world;
  return {
    audience: parts.audienceOf,
    call: async (contract, args, lease, signal) => {
      const startedAt = time.now();
      const outcome = await parts.life.seen(answered(world, parts, { contract, args, lease, signal }));
      const facts = {
        protocolRevision: contract.protocolVersion,
        serverVersion: '1.0.0',
        startedAt,
        endedAt: time.now(),
      };
      return { ...outcome, ...facts };
    },
    verify: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** A connection that breaks leaves an unknown outcome; a caller that stops waiting knows that it did. */
async function answered(world: World, parts: ToolParts, called: Called): Promise<FakeOutcome> {
  const link = `mcp:${parts.team}`;
  try {
    const twice = await world.network.carry(link, called.signal);
    if (twice) void world.network.later().then(() => serve(world, parts, called).catch(() => undefined));
    const outcome = await serve(world, parts, called);
    await world.network.carry(link, called.signal);
    return outcome;
  } catch {
    if (called.signal.aborted) return { outcome: 'cancelled', reason: 'deadline' };
    return { outcome: 'unknown_outcome', message: 'The connection ended.' };
  }
}

async function serve(world: World, parts: ToolParts, called: Called): Promise<FakeOutcome> {
  const { contract, args, lease, signal } = called;
  const { team, life, servers, guardOf, audienceOf } = parts;
  const server = servers.find(({ name }) => name === contract.server);
  const guard = guardOf(contract.server);
  if (server === undefined || guard === undefined || life.dead) throw world.network.unreachable(`mcp:${team}`);
  const fault = world.book.tool(team)?.how;
  const broken = fault === undefined ? undefined : FAULTS[fault];
  if (broken !== undefined) return broken;
  const message = { method: 'tools/call', params: { name: contract.tool, arguments: args } };
  const body = new TextEncoder().encode(canonicalText(message) ?? '');
  const audience = audienceOf(contract.server);
  const checked = guard.authenticate({
    authorization: `DPoP ${lease.token}`,
    proof: lease.prove('tools/call', audience, body),
    method: 'tools/call',
    target: audience,
    body,
  });
  if (checked.outcome !== 'permit') return refused(checked);
  const admitted = admit({ jsonrpc: '2.0', id: 1, ...message } as never, checked.value, { guard, server });
  if (admitted.kind === 'refused') return refused(admitted.refusal);
  const used = await parts.store.write([guard.consumption(checked.value)]);
  if (!used.ok) return refused(consumedRefusal('mcp'));
  const claims = checked.value.lease;
  world.witness.toolCalled({ team, life, claims, tool: contract.tool, arguments: args });
  const tool = server.tools.find((one) => one.contract.tool === contract.tool);
  try {
    const found = await tool?.invoke(args, {
      tenant: claims.tenant,
      subject: claims.sub,
      purpose: claims.authorization_details[0]?.purpose ?? '',
      leaseId: claims.jti,
      signal,
    });
    const records = (found ?? []).map((record) => (fault === 'foreign' ? { ...record, tenant: 'elsewhere' } : record));
    const output: unknown = { records };
    return { outcome: 'ok', output, resultDigest: digestOf(output) };
  } catch (error) {
    const { code, message: said } = toErrorRecord(error, { code: 'ERR_TOOL_FAILED', at: 'mcp' });
    return { outcome: 'tool_error', code, message: said };
  }
}

const FAULTS: Readonly<Record<ToolFault, FakeOutcome | undefined>> = {
  failed: { outcome: 'tool_error', code: 'ERR_TOOL_FAILED', message: 'The simulated tool failed.' },
  malformed: {
    outcome: 'contract_violation',
    code: 'ERR_TOOL_OUTPUT_SCHEMA',
    message: 'The answer has another shape.',
  },
  throttled: { outcome: 'throttled', retryAfterMs: 100 },
  refused: { outcome: 'refused', code: 'policy', boundary: 'mcp', message: 'The simulated server refused.' },
  foreign: undefined,
};

function refused({ code, boundary, message }: Refusal): FakeOutcome {
  return { outcome: 'refused', code, boundary, message };
}

/** The fetch of a team to the token endpoint of whichever supervisor is alive. */
export function simulatedTokenFetch(
  world: World,
  by: { readonly team: string; readonly life: ProcessLife },
): (url: string, init: RequestInit) => Promise<Response> {
  const link = `issuer:${by.team}`;
  const exchange = async (url: string, init: RequestInit): Promise<Response> => {
    const signal = init.signal ?? new AbortController().signal;
    await world.network.carry(link, signal);
    const [issuing] = world.supervisors.values();
    if (issuing === undefined) throw world.network.unreachable(link);
    const { life, issuer } = issuing;
    const form = typeof init.body === 'string' ? init.body : '';
    const body = new TextEncoder().encode(form);
    const headers = init.headers as Readonly<Record<string, string>>;
    const answer = await Promise.race([
      issuer.handleTokenRequest({ method: 'POST', url, headers, body }),
      life.died.then(() => Promise.reject(world.network.unreachable(link))),
    ]);
    world.witness.exchanged({ form, status: answer.status, body: answer.body });
    await world.network.carry(link, signal);
    // What a client reads of a response; a whole one reads its body through streams of the platform.
    return { status: answer.status, text: () => Promise.resolve(answer.body) } as unknown as Response;
  };
  return (url, init) => {
    if (by.life.dead)
      return Promise.reject(new CaseOpsError('ERR_CANCELLED', 'The process is dead.', { at: 'network' }));
    return by.life.seen(exchange(url, init));
  };
}
