/** MCP servers in this process behind the very same guard: a lease, a proof and consumption as over HTTP, without a socket. */
import type { FetchLike } from '@modelcontextprotocol/client';
import { createGuardedMcp, type GuardedMcpOptions } from './guarded-fetch.ts';

export interface InProcessMcp {
  /** For `createMcpToolHost`: answers the audiences of these servers; any other URL is a transport death. */
  readonly fetch: FetchLike;
  close(): Promise<void>;
}

/** Serves each definition under its audience. */
export function createInProcessMcp(servers: readonly GuardedMcpOptions[]): InProcessMcp {
  const guarded = new Map(servers.map((server) => [server.audience, createGuardedMcp(server)]));
  return {
    fetch: async (url, init) => {
      const server = guarded.get(String(url));
      if (!server) throw new TypeError('No server in this process has that audience.');
      return server.fetch(new Request(url, init));
    },
    close: async () => {
      await Promise.all([...guarded.values()].map((server) => server.close()));
    },
  };
}
