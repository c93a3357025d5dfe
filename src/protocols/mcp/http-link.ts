/** A server over Streamable HTTP: one client, any number of calls at once, each under its own lease. Source: SEAMS §1. */
import { type Client, type FetchLike, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { CALL_HEADER, createLeasedFetch } from './leased-fetch.ts';
import { connectClient } from './mcp-client.ts';
import type { LeasedCall, ServerLink } from './server-link.ts';
import { CallFailure } from './outcome-map.ts';
import { MCP_REVISION } from './wire.ts';

export interface HttpLinkOptions {
  readonly url: string;
  readonly fetch: FetchLike;
  readonly answerBytesMax: number;
}

/** The SDK's own timer is set beyond reach: the contract's timeout is kept by the port clock. */
const SDK_TIMEOUT_MS = 2_147_483_647;

/** Opens nothing until the first call. */
export function createHttpLink(options: HttpLinkOptions): ServerLink {
  const calls = new Map<string, LeasedCall>();
  let count = 0;
  let connecting: Promise<Client> | undefined;
  const client = (): Promise<Client> => {
    const leased = createLeasedFetch({ ...options, calls, target: options.url });
    return (connecting ??= connectClient(new StreamableHTTPClientTransport(new URL(options.url), { fetch: leased })));
  };
  const under = async <T>(call: LeasedCall, ask: (headers: Record<string, string>) => Promise<T>): Promise<T> => {
    const handle = `c${(count += 1)}`;
    calls.set(handle, call);
    try {
      return await ask({ [CALL_HEADER]: handle });
    } finally {
      calls.delete(handle);
    }
  };
  return {
    audience: options.url,
    call: async (leased, { name, arguments: args, definition, signal }) => {
      const open = await client();
      return under(leased, (headers) =>
        open.callTool(
          { name, arguments: args },
          { toolDefinition: definition, headers, signal, timeout: SDK_TIMEOUT_MS },
        ),
      );
    },
    list: async (leased, signal) => {
      const open = await client();
      return under(leased, async (headers) => {
        const common = { headers, signal, timeout: SDK_TIMEOUT_MS };
        const { supportedVersions } = await open.discover(common);
        if (!supportedVersions.includes(MCP_REVISION)) throw new CallFailure(OTHER_REVISION);
        const { tools } = await open.listTools(undefined, { ...common, cacheMode: 'bypass' });
        return tools;
      });
    },
    close: async () => {
      await (await connecting)?.close();
    },
  };
}

const OTHER_REVISION = {
  outcome: 'contract_violation',
  code: 'ERR_TOOL_CONTRACT_DRIFT',
  message: `The server does not serve MCP ${MCP_REVISION}.`,
} as const;
