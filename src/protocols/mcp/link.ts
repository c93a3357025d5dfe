/** A way to one server over one transport: one client, any number of calls at once, each under its own lease. Source: SEAMS §1. */
import type { HeldLease } from '#ports/issuer.ts';
import type { CallToolResult, Client, Tool, Transport } from '@modelcontextprotocol/client';
import { connectClient } from './mcp-client.ts';
import { CallFailure } from './outcome-map.ts';
import { MCP_REVISION } from './wire.ts';

/** Names the call whose lease a message carries. A header of the SDK's call options; it never leaves the process. */
export const CALL_HEADER = 'x-caseops-call';

/** One call in flight. */
export interface LeasedCall {
  readonly lease: HeldLease;
  /** True once the request may have reached the server. */
  sent: boolean;
}

interface LinkCall {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  readonly definition: Tool;
  readonly signal: AbortSignal;
}

/** Rejects with what `failureOf` judges. */
export interface ServerLink {
  /** Audience of the server's leases: its URL, or its name on message transports. */
  readonly audience: string;
  call(leased: LeasedCall, call: LinkCall): Promise<CallToolResult>;
  /** Discovers the server and lists its tools, past any cache, under a control lease. */
  list(leased: LeasedCall, signal: AbortSignal): Promise<readonly Tool[]>;
  close(): Promise<void>;
}

/** The SDK's own timer is set beyond reach: the contract's timeout is kept by the port clock. */
const SDK_TIMEOUT_MS = 2_147_483_647;

/**
 * Opens its transport at the first call, and again after it has closed. The transport is given the calls in flight by handle and must
 * swap each message's handle for that call's lease.
 */
export function createLink(audience: string, open: (calls: ReadonlyMap<string, LeasedCall>) => Transport): ServerLink {
  const calls = new Map<string, LeasedCall>();
  let count = 0;
  let connecting: Promise<Client> | undefined;
  const forget = (): void => {
    connecting = undefined;
  };
  const connect = async (): Promise<Client> => {
    try {
      return Object.assign(await connectClient(open(calls)), { onclose: forget });
    } catch (error) {
      forget();
      throw error;
    }
  };
  const under = async <T>(
    call: LeasedCall,
    ask: (client: Client, headers: Record<string, string>) => Promise<T>,
  ): Promise<T> => {
    const handle = `c${(count += 1)}`;
    calls.set(handle, call);
    try {
      connecting ??= connect();
      return await ask(await connecting, { [CALL_HEADER]: handle });
    } finally {
      calls.delete(handle);
    }
  };
  return {
    audience,
    call: (leased, { name, arguments: args, definition, signal }) =>
      under(leased, (client, headers) =>
        client.callTool(
          { name, arguments: args, ...traceOf(leased) },
          { toolDefinition: definition, headers, signal, timeout: SDK_TIMEOUT_MS },
        ),
      ),
    list: (leased, signal) =>
      under(leased, async (client, headers) => {
        const common = { headers, signal, timeout: SDK_TIMEOUT_MS };
        const { supportedVersions } = await client.discover(common);
        if (!supportedVersions.includes(MCP_REVISION)) throw new CallFailure(OTHER_REVISION);
        const { tools } = await client.listTools(undefined, { ...common, cacheMode: 'bypass' });
        return tools;
      }),
    close: async () => {
      await (await connecting?.catch(() => undefined))?.close();
    },
  };
}

/** On every transport the trace travels in the request's metadata; over HTTP in a header as well. */
function traceOf({ lease: { traceparent } }: LeasedCall): { readonly _meta?: { readonly traceparent: string } } {
  return traceparent === undefined ? {} : { _meta: { traceparent } };
}

const OTHER_REVISION = {
  outcome: 'contract_violation',
  code: 'ERR_TOOL_CONTRACT_DRIFT',
  message: `The server does not serve MCP ${MCP_REVISION}.`,
} as const;
